//! The files of a recording of blktrace, which writes one for each processor: `X.blktrace.0`, ….

use std::fs;
use std::path::{Path, PathBuf};

/// What stands between the name of a recording and the number of a processor.
const MARK: &str = ".blktrace.";

/// The recording's name and the processor that a file name holds, packed or not.
fn parts(name: &str) -> Option<(&str, u32)> {
    let plain = name.strip_suffix(".gz").or_else(|| name.strip_suffix(".zst")).unwrap_or(name);
    let (recording, number) = plain.rsplit_once(MARK)?;
    Some((recording, number.parse().ok()?))
}

/// All files of the recording that `path` belongs to, or whose name it is, by processor; none if
/// it is something else.
pub fn files(path: &Path) -> Vec<PathBuf> {
    let Some(name) = path.file_name().and_then(|name| name.to_str()) else { return Vec::new() };
    let recording = match parts(name) {
        Some((recording, _)) if path.exists() => recording,
        None if !path.exists() => name,
        _ => return Vec::new(),
    };
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let Ok(entries) = fs::read_dir(folder.unwrap_or(Path::new("."))) else { return Vec::new() };
    let mut found: Vec<(u32, PathBuf)> = entries
        .filter_map(|entry| {
            let name = entry.ok()?.file_name().into_string().ok()?;
            let (of, number) = parts(&name)?;
            (of == recording).then(|| (number, path.with_file_name(&name)))
        })
        .collect();
    found.sort_unstable();
    found.into_iter().map(|(_, file)| file).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_file_and_the_name_alone_lead_to_all_files() {
        let folder =
            std::env::temp_dir().join(format!("ssdscope-recording-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("writable");
        let names = ["x.blktrace.0", "x.blktrace.2.gz", "x.blktrace.10", "y.blktrace.0", "x.txt"];
        for name in names {
            fs::write(folder.join(name), b"").expect("writable");
        }
        let found = |name: &str| -> Vec<String> {
            let names = files(&folder.join(name)).into_iter();
            names.filter_map(|file| Some(file.file_name()?.to_str()?.to_owned())).collect()
        };
        let all = ["x.blktrace.0", "x.blktrace.2.gz", "x.blktrace.10"];
        assert_eq!(found("x.blktrace.2.gz"), all);
        assert_eq!(found("x"), all);
        for name in ["x.txt", "z", "x.blktrace.1"] {
            assert!(found(name).is_empty(), "{name}");
        }
        fs::remove_dir_all(&folder).expect("is ours");
    }
}
