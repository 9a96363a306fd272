//! Paths for people: what is not UTF-8 in them as bytes, and what a terminal would obey in digits.

use std::fmt;
use std::path::Path;

/// Writes a path, each byte that is not part of UTF-8 as `\xfe`, and what a terminal takes as an
/// order (escape sequences, line breaks, marks of direction) as `\x1b` or `\u202e`.
#[derive(Debug, Clone, Copy)]
pub struct Shown<'a>(pub &'a Path);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for chunk in self.0.as_os_str().as_encoded_bytes().utf8_chunks() {
            for char in chunk.valid().chars() {
                match u32::from(char) {
                    _ if !is_order(char) => write!(out, "{char}")?,
                    code @ ..0x80 => write!(out, "\\x{code:02x}")?,
                    code => write!(out, "\\u{code:04x}")?,
                }
            }
            for byte in chunk.invalid() {
                write!(out, "\\x{byte:02x}")?;
            }
        }
        Ok(())
    }
}

/// Whether a terminal obeys a character, or shows nothing of it.
fn is_order(char: char) -> bool {
    char.is_control()
        || matches!(char, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}')
        || matches!(char, '\u{2066}'..='\u{2069}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}')
}

/// Quotes a path for a shell, only where it needs it; what is no plain text as bash reads bytes.
#[must_use]
pub fn quoted(path: &Path) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+:,@%=".contains(c);
    let Some(word) = path.to_str().filter(|word| !word.contains(is_order)) else {
        return ansi_quoted(path);
    };
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

fn ansi_quoted(path: &Path) -> String {
    let mut word = String::new();
    let in_bytes =
        |bytes: &[u8]| -> String { bytes.iter().map(|byte| format!("\\x{byte:02x}")).collect() };
    for chunk in path.as_os_str().as_encoded_bytes().utf8_chunks() {
        for char in chunk.valid().chars() {
            match char {
                '\\' | '\'' => word.extend(['\\', char]),
                _ if is_order(char) => word += &in_bytes(char.encode_utf8(&mut [0; 4]).as_bytes()),
                _ => word.push(char),
            }
        }
        word += &in_bytes(chunk.invalid());
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
        assert_eq!(quoted(Path::new("a\x1b\u{9b}")), r"$'a\x1b\xc2\x9b'");
    }

    #[test]
    fn bytes_that_are_no_text_are_told_apart() {
        let shown = |name: &[u8]| Shown(Path::new(OsStr::from_bytes(name))).to_string();
        assert_eq!(shown(b"b\xfe.bin"), r"b\xfe.bin");
        assert_eq!(shown("\x1b[2J\u{9b}\n\u{202e}".as_bytes()), r"\x1b[2J\u009b\x0a\u202e");
        assert_ne!(shown(b"b\xfe.bin"), shown(b"b\xff.bin"));
        assert_eq!(shown("ä/π".as_bytes()), "ä/π");
    }
}
