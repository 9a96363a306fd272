//! What is not opened, and what the user is told.

use ssdscope_host::{Consent, EngineChoice, HostError, identify, open_read, open_write};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::Command;

fn scratch(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()))
}

fn refusal(path: &Path) -> HostError {
    let identified = identify(path).expect_err("not a target").to_string();
    let error = match open_read(path, EngineChoice::Auto) {
        Ok(_) => panic!("{} was opened", path.display()),
        Err(error) => error,
    };
    assert_eq!(error.to_string(), identified, "both doors say the same");
    error
}

#[test]
fn what_is_neither_drive_nor_file_is_named() {
    let socket = scratch("socket");
    let _listener = UnixListener::bind(&socket).expect("a socket");
    for (path, what) in [
        (Path::new("/dev/null"), "a character device"),
        (Path::new("/tmp"), "a directory"),
        (&socket, "a socket"),
    ] {
        let error = refusal(path);
        assert!(error.to_string().contains(what), "{error}");
        assert!(error.is_usage() && error.hint().is_some());
    }
    fs::remove_file(&socket).expect("removable");

    let pipe = scratch("pipe");
    let made = Command::new("mkfifo").arg(&pipe).status().expect("coreutils");
    assert!(made.success());
    // Must not block, although nobody writes to the pipe.
    assert!(refusal(&pipe).to_string().contains("a named pipe"));
    fs::remove_file(&pipe).expect("removable");
}

#[test]
fn missing_files_and_dangling_links_are_not_found() {
    let path = scratch("missing");
    assert!(matches!(refusal(&path), HostError::NotFound(_)));
    std::os::unix::fs::symlink("nowhere", &path).expect("a link");
    assert!(matches!(refusal(&path), HostError::NotFound(_)));
    fs::remove_file(&path).expect("removable");
    assert!(matches!(refusal(Path::new("/dev/null/x")), HostError::NotFound(_)));
}

#[test]
fn an_empty_file_measures_nothing() {
    let path = scratch("empty file");
    for size in [0, 100] {
        fs::write(&path, vec![1; size]).expect("writable");
        let Err(error) = open_read(&path, EngineChoice::Auto) else { panic!("{size} bytes") };
        assert!(error.to_string().contains(&format!("holds {size} bytes")), "{error}");
        let hint = error.hint().expect("says how to make one");
        assert!(hint.contains(&format!("'{}'", path.display())), "not quoted: {hint}");
    }
    assert_eq!(identify(&path).expect("may still be described").capacity_bytes, 0);
    fs::remove_file(&path).expect("removable");
}

#[test]
fn no_permission_is_said_so() {
    let path = scratch("locked");
    fs::write(&path, [1; 4096]).expect("writable");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o000)).expect("ours");
    match open_read(&path, EngineChoice::Auto) {
        Err(error) => {
            assert!(matches!(error, HostError::Permission { .. }), "{error}");
            assert!(error.to_string().contains("permission denied for reading"));
        }
        Ok(_) => eprintln!("skipped: this user may read everything"),
    }
    fs::remove_file(&path).expect("removable");
}

/// A block device of this machine, whatever it is.
fn some_block_device() -> Option<PathBuf> {
    let mut names: Vec<_> = fs::read_dir("/sys/block").ok()?.flatten().collect();
    names.sort_by_key(std::fs::DirEntry::file_name);
    names.iter().map(|name| Path::new("/dev").join(name.file_name())).find(|path| path.exists())
}

#[test]
fn no_block_device_is_written_by_a_wrong_token() {
    let Some(path) = some_block_device() else {
        eprintln!("skipped: this machine has no block device");
        return;
    };
    let consent = Consent {
        overwrite_existing: true,
        allow_virtual: true,
        ..Consent::by_token("NOBODY:0000")
    };
    let refused = open_write(&path, &consent, EngineChoice::Auto);
    // Which check it is depends on the machine: mounted, a signature, not ours to open.
    let Err(error) = refused else { panic!("{} was opened for writing", path.display()) };
    assert!(matches!(error, HostError::Refused { .. } | HostError::Permission { .. }), "{error}");
}
