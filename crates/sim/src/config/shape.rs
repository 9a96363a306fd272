//! How deep a TOML file may be nested, and how many keys it may have. Parsers call themselves for
//! each level, or take the square of the parts of a key, so this is asked before they begin.

/// Levels of lists and tables within each other; no file of ours has five.
const DEPTH_MAX: usize = 32;
/// Parts of a dotted key; a key of ours has three.
const PARTS_MAX: usize = 32;

/// Keys and headings of tables; 200,000 keep parsers busy for half a minute.
const ENTRIES_MAX: usize = 20_000;

/// Refuses what is nested deeper, or longer, than any file means to be. What is no TOML is left to
/// the parser.
///
/// # Errors
/// The line, and what is too much there.
pub fn check_shape(text: &str) -> Result<(), (usize, String)> {
    let bytes = text.as_bytes();
    let (mut at, mut line) = (0, 1);
    let (mut depth, mut parts, mut entries) = (0_usize, 1_usize, 0_usize);
    while let Some(&byte) = bytes.get(at) {
        let used = match byte {
            b'"' | b'\'' => quoted_bytes(&bytes[at..]),
            b'#' => bytes[at..].iter().position(|&each| each == b'\n').unwrap_or(bytes.len() - at),
            _ => 1,
        };
        entries += usize::from(byte == b'=' || (byte == b'[' && depth == 0));
        match byte {
            b'[' | b'{' => (depth, parts) = (depth + 1, 1),
            b']' | b'}' => (depth, parts) = (depth.saturating_sub(1), 1),
            b'\n' | b'=' | b',' => parts = 1,
            b'.' => parts += 1,
            _ => {}
        }
        if depth > DEPTH_MAX {
            let why = format!("lists or tables within each other, more than {DEPTH_MAX} deep");
            return Err((line, why));
        }
        if parts > PARTS_MAX {
            return Err((line, format!("a key of more than {PARTS_MAX} parts")));
        }
        if entries > ENTRIES_MAX {
            return Err((line, format!("more than {ENTRIES_MAX} keys and tables")));
        }
        line += bytes[at..at + used].iter().filter(|&&each| each == b'\n').count();
        at += used;
    }
    Ok(())
}

/// The length of the string that the text begins with, quotes included; of one that does not end,
/// all of the line, or of the text where it may have several.
fn quoted_bytes(text: &[u8]) -> usize {
    let quote = text[0];
    let long = text.starts_with(&[quote; 3]);
    let mut at = if long { 3 } else { 1 };
    while let Some(&byte) = text.get(at) {
        if byte == b'\\' && quote == b'"' {
            at += 2;
        } else if long && text[at..].starts_with(&[quote; 3]) {
            return at + 3;
        } else if !long && byte == quote {
            return at + 1;
        } else if !long && byte == b'\n' {
            return at;
        } else {
            at += 1;
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_deep_is_refused_with_its_line() {
        for (name, text, line) in [
            ("lists", format!("a = 1\nb = {}", "[".repeat(50_000)), 2),
            ("tables", format!("b = {}", "{a=".repeat(50_000)), 1),
            ("parts", format!("\n\n{}a = 1", "a.".repeat(50_000)), 3),
            ("headings", "[a]\n".repeat(20_001), 20_001),
            ("quoted parts", format!("[{}a]", "\"a\".".repeat(50_000)), 1),
        ] {
            assert_eq!(check_shape(&text).expect_err(name).0, line, "{name}");
        }
    }

    #[test]
    fn what_only_looks_deep_is_let_through() {
        let deep = "[".repeat(100) + &".".repeat(100);
        for text in [
            format!("a = \"{deep}\" # {deep}\n"),
            format!("a = '{deep}'\nb = \"\"\"\n{deep}\n\\\"\"\"\" # {deep}"),
            format!("a = '''{deep}\n''' # {deep}"),
            "a = [1.5, 2.5]\n".repeat(100),
            "a = [[1], [2]]\n".repeat(100),
            "[a.b]\nc.d = { e = 1.5 }\n".repeat(100),
            // What does not end is the parser's to say.
            format!("a = \"\"\"{deep}"),
            "a = \"\\".to_owned(),
        ] {
            check_shape(&text).expect(&text);
        }
    }
}
