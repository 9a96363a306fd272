//! Paths for people: what is not UTF-8 in them as bytes.

use std::fmt;
use std::path::Path;

/// Writes a path, each byte that is not part of UTF-8 as `\xfe`.
#[derive(Debug, Clone, Copy)]
pub struct Shown<'a>(pub &'a Path);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for chunk in self.0.as_os_str().as_encoded_bytes().utf8_chunks() {
            out.write_str(chunk.valid())?;
            for byte in chunk.invalid() {
                write!(out, "\\x{byte:02x}")?;
            }
        }
        Ok(())
    }
}

/// Quotes a path for a shell, only where it needs it; bytes that are no text as bash reads them.
#[must_use]
pub fn quoted(path: &Path) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+:,@%=".contains(c);
    let Some(word) = path.to_str() else { return ansi_quoted(path) };
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

fn ansi_quoted(path: &Path) -> String {
    let mut word = String::new();
    for chunk in path.as_os_str().as_encoded_bytes().utf8_chunks() {
        word += &chunk.valid().replace('\\', r"\\").replace('\'', r"\'");
        for byte in chunk.invalid() {
            word += &format!("\\x{byte:02x}");
        }
    }
    format!("$'{word}'")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    #[test]
    fn commands_in_hints_are_safe_to_paste() {
        assert_eq!(quoted(Path::new("/tmp/a-b.img")), "/tmp/a-b.img");
        assert_eq!(quoted(Path::new("a b; rm 'x'")), r"'a b; rm '\''x'\'''");
        assert_eq!(quoted(Path::new(OsStr::from_bytes(b"it's \xfe\\"))), r"$'it\'s \xfe\\'");
    }

    #[test]
    fn bytes_that_are_no_text_are_told_apart() {
        let shown = |name: &[u8]| Shown(Path::new(OsStr::from_bytes(name))).to_string();
        assert_eq!(shown(b"b\xfe.bin"), r"b\xfe.bin");
        assert_ne!(shown(b"b\xfe.bin"), shown(b"b\xff.bin"));
        assert_eq!(shown("ä/π".as_bytes()), "ä/π");
    }
}
