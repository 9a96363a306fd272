//! Opens a trace, plain or compressed, as its first bytes say.
//!
//! Decompression is streamed and its window bounded, so a small hostile file can
//! cost time but not memory. A trace is read more than once, so only regular files do.

use super::blktrace::Cpus;
use super::error::TraceError;
use super::format::Framing;
use super::recording;
use crate::shown::Shown;
use flate2::bufread::MultiGzDecoder;
use serde::Serialize;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek};
use std::path::Path;

/// 128 MiB, the zstd format's own recommended limit for decoders.
const ZSTD_WINDOW_LOG_MAX: u32 = 27;

const READ_BUFFER_BYTES: usize = 1 << 16;

/// How the file is packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Compression {
    /// Plain text.
    None,
    /// gzip, one member or several.
    Gzip,
    /// zstd, one frame or several.
    Zstd,
}

/// First bytes that are recognised, with what they mean; `Err` names what is not supported.
const MAGICS: [(&[u8], Result<Compression, &str>); 7] = [
    (b"\x1f\x8b", Ok(Compression::Gzip)),
    (b"\x28\xb5\x2f\xfd", Ok(Compression::Zstd)),
    (b"\xfd7zXZ\x00", Err("xz")),
    (b"BZh", Err("bzip2")),
    (b"PK\x03\x04", Err("zip")),
    (b"7z\xbc\xaf\x27\x1c", Err("7-zip")),
    (b"\x04\x22\x4d\x18", Err("lz4")),
];

/// A trace that can be streamed from its start as often as needed.
pub(super) struct Source {
    /// What messages call it.
    pub label: String,
    file: File,
    /// How it is packed.
    pub compression: Compression,
    /// The other files of a recording of blktrace, which has one for each processor.
    siblings: Vec<Source>,
}

impl Source {
    /// Opens the trace at `path`; of a recording of blktrace, all its files, whichever of them
    /// or whatever they have in common is named.
    pub fn open(path: &Path) -> Result<Self, TraceError> {
        let files = recording::files(path);
        let Some(first) = files.iter().find(|file| *file == path).or_else(|| files.first()) else {
            return Self::open_one(path);
        };
        let mut source = Self::open_one(first)?;
        let others = files.iter().filter(|file| *file != first);
        source.siblings = others.map(|file| Self::open_one(file)).collect::<Result<_, _>>()?;
        Ok(source)
    }

    fn open_one(path: &Path) -> Result<Self, TraceError> {
        let label = Shown(path).to_string();
        let unreadable = |error: &io::Error| unreadable(&label, error);
        if path.as_os_str() == "-" {
            return Err(TraceError::NotAFile { path: "- (the standard input)".into() });
        }
        // Asked before opening: opening a pipe waits for its writer.
        let kind = std::fs::metadata(path).map_err(|error| unreadable(&error))?.file_type();
        if kind.is_dir() {
            return Err(TraceError::Unreadable { path: label, reason: "it is a directory".into() });
        }
        if !kind.is_file() {
            return Err(TraceError::NotAFile { path: label });
        }
        let mut file = File::open(path).map_err(|error| unreadable(&error))?;
        let mut head = Vec::new();
        (&mut file).take(8).read_to_end(&mut head).map_err(|error| unreadable(&error))?;
        let magic = MAGICS.iter().find(|(magic, _)| head.starts_with(magic));
        match magic.map_or(Ok(Compression::None), |(_, meaning)| *meaning) {
            Ok(compression) => Ok(Self { label, file, compression, siblings: Vec::new() }),
            Err(packer) => Err(TraceError::UnsupportedCompression { path: label, packer }),
        }
    }

    /// The text from its start. Only one such stream may be in use at a time: they
    /// share the file's position.
    pub fn stream(&self) -> Result<Box<dyn Read + Send>, TraceError> {
        self.unpack().map_err(|error| unreadable(&self.label, &error))
    }

    /// All files of the trace, this one first.
    pub fn files(&self) -> Vec<&Self> {
        std::iter::once(self).chain(&self.siblings).collect()
    }

    /// What a parser of this framing takes, from its start.
    pub fn framed(&self, framing: Framing) -> Result<Box<dyn Read + Send>, TraceError> {
        match framing {
            Framing::Lines | Framing::Records(_) => self.stream(),
            Framing::Events => Ok(Box::new(Cpus::open(&self.files())?)),
        }
    }

    fn unpack(&self) -> io::Result<Box<dyn Read + Send>> {
        let mut file = self.file.try_clone()?;
        file.rewind()?;
        if self.compression == Compression::None {
            return Ok(Box::new(file));
        }
        let packed = BufReader::with_capacity(READ_BUFFER_BYTES, file);
        if self.compression == Compression::Gzip {
            return Ok(Box::new(MultiGzDecoder::new(packed)));
        }
        let mut decoder = zstd::stream::read::Decoder::with_buffer(packed)?;
        decoder.window_log_max(ZSTD_WINDOW_LOG_MAX)?;
        Ok(Box::new(decoder))
    }
}

/// Whether a decompressor gave up because of our bound, not because of the data.
pub(super) fn is_window_too_large(error: &io::Error) -> bool {
    error.raw_os_error().is_none() && error.to_string().contains("too much memory")
}

/// Why the file `label` cannot be read, in plain words.
pub(super) fn unreadable(label: &str, error: &io::Error) -> TraceError {
    let reason = match error.kind() {
        io::ErrorKind::NotFound => "no such file".to_owned(),
        io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        _ if is_window_too_large(error) => {
            "its zstd window is larger than 128 MiB; repack it with --long=27 or less".to_owned()
        }
        _ => error.to_string(),
    };
    TraceError::Unreadable { path: label.to_owned(), reason }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Scratch, gzip};
    use super::*;
    use std::io::Write as _;

    fn text(scratch: &Scratch) -> String {
        let source = Source::open(&scratch.path).expect("opens");
        let mut text = String::new();
        // Twice, to show that a second stream starts anew.
        for _ in 0..2 {
            text.clear();
            source.stream().expect("streams").read_to_string(&mut text).expect("reads");
        }
        text
    }

    #[test]
    fn the_first_bytes_decide_not_the_name() {
        let members = [gzip(b"one\n"), gzip(b"two\n")].concat();
        let frames =
            [&b"one\n"[..], b"two\n"].map(|text| zstd::encode_all(text, 1).expect("packs"));
        for bytes in [b"one\ntwo\n".to_vec(), members, frames.concat()] {
            assert_eq!(text(&Scratch::new(&bytes)), "one\ntwo\n");
        }
        assert_eq!(text(&Scratch::new(b"")), "");
    }

    #[test]
    fn a_window_beyond_the_bound_is_refused_before_it_is_allocated() {
        let mut encoder = zstd::stream::Encoder::new(Vec::new(), 1).expect("memory");
        encoder.window_log(28).expect("a legal window");
        encoder.write_all(b"one\n").expect("memory");
        let scratch = Scratch::new(&encoder.finish().expect("memory"));
        let mut stream = Source::open(&scratch.path).expect("opens").stream().expect("streams");
        let error = stream.read_to_end(&mut Vec::new()).expect_err("too large");
        let message = unreadable("x.zst", &error).to_string();
        assert!(message.contains("window is larger than 128 MiB"), "{message}");
    }

    #[test]
    fn what_cannot_be_read_says_why() {
        let message = |path: &Path| Source::open(path).err().expect("refused").to_string();
        let scratch = Scratch::new(b"BZh91AY");
        assert!(message(&scratch.path).contains("bzip2"), "{}", message(&scratch.path));
        assert!(message(&scratch.path.with_extension("gone")).contains("no such file"));
        assert!(message(&std::env::temp_dir()).contains("directory"));
        assert!(message(Path::new("/dev/null")).contains("not a regular file"));
        assert!(message(Path::new("-")).contains("standard input"));
    }
}
