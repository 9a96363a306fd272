//! A block device made of a file, where the machine allows that.

use ssdscope_host::{EngineChoice, EngineKind, IdentityKind, identify, open_read};
use ssdscope_io::{Device, DeviceKind, Lba, Nanos, Outcome, Request, Sectors};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A loop device that is detached in the end, whatever happens.
struct Loop {
    device: PathBuf,
    file: PathBuf,
}

impl Loop {
    fn attach() -> Result<Self, String> {
        let file =
            Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("loop-{}.img", std::process::id()));
        fs::write(&file, vec![9; 1 << 20]).map_err(|error| error.to_string())?;
        let attached = Command::new("losetup")
            .args(["--find", "--show", "--read-only"])
            .arg(&file)
            .output()
            .map_err(|error| format!("losetup: {error}"))?;
        let device = PathBuf::from(String::from_utf8_lossy(&attached.stdout).trim());
        let attached_loop = Self { device, file };
        if attached.status.success() {
            Ok(attached_loop)
        } else {
            Err(String::from_utf8_lossy(&attached.stderr).trim().to_owned())
        }
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        if !self.device.as_os_str().is_empty() {
            let _ = Command::new("losetup").arg("--detach").arg(&self.device).status();
        }
        let _ = fs::remove_file(&self.file);
    }
}

#[test]
fn a_loop_device_is_read_and_described() {
    let attached = match Loop::attach() {
        Ok(attached) => attached,
        Err(reason) => {
            eprintln!("skipped: no loop device ({reason})");
            return;
        }
    };
    let identity = match identify(&attached.device) {
        Ok(identity) => identity,
        Err(error) => {
            eprintln!("skipped: the loop device cannot be opened ({error})");
            return;
        }
    };
    assert_eq!(identity.kind, IdentityKind::Block);
    assert_eq!(identity.device_type, Some("loop"));
    assert_eq!(identity.capacity_bytes, 1 << 20);
    let name = attached.file.file_name().expect("has a name").to_string_lossy();
    assert_eq!(identity.token, Some(format!("LOOP:{name}")));
    let refusal = identity.write_refusal.expect("it is attached for reading only");
    assert!(refusal.contains("read-only"), "{refusal}");
    assert_eq!(identity.write_needs, ["--allow-virtual"]);
    assert!(identity.queue.contains_key("logical_block_size"));

    for engine in [EngineChoice::Auto, EngineChoice::Only(EngineKind::Threads)] {
        let mut device = open_read(&attached.device, engine).expect("identified above");
        assert_eq!(device.info().kind, DeviceKind::Block);
        let unit = Sectors(device.info().logical_block_bytes / 512);
        device.submit(Nanos::ZERO, Request::read(1, Lba(0), unit)).expect("in range");
        let mut ends = Vec::new();
        device.advance(Nanos::MAX, &mut ends).expect("the file is there");
        assert_eq!(ends[0].outcome, Outcome::Done);
    }
}
