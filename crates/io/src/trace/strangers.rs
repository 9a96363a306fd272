//! Files that people take for traces and that are not read: known by sight, with what to do.

use super::error::TraceError;
use super::source::Source;
use std::io::Read as _;

/// How much of a file is looked at.
const HEAD_BYTES: u64 = 4096;

/// What tells a kind of file by its beginning.
enum Sign {
    /// How it begins.
    Starts(&'static [u8]),
    /// How it begins, byte-order mark and blanks apart, and what follows somewhere.
    Holds(&'static [u8], &'static [u8]),
    /// How its name ends; such files begin in no way of their own.
    Named(&'static str),
}

/// A kind of file, what it is, and what to do with it.
struct Stranger {
    sign: Sign,
    what: &'static str,
    advice: &'static str,
}

const EVENTS_OF_WINDOWS: &str = "on Windows, `xperf -i FILE -o trace.csv -a dumper` prints the \
    kernel's disk events; keep the lines DiskRead and DiskWrite and name their columns, as in \
    --columns op=DiskRead/read+DiskWrite/write:1,time=us:2,offset:6,size:7,latency=us:8,volume:9";

const STRANGERS: [Stranger; 11] = [
    Stranger {
        sign: Sign::Starts(b"PERFILE2"),
        what: "a recording of perf",
        advice: "print its block events with `perf script -i FILE > trace.txt`, and use that",
    },
    Stranger {
        sign: Sign::Starts(b"\x17\x08\x44tracing"),
        what: "a recording of trace-cmd",
        advice: "print its block events with `trace-cmd report FILE > trace.txt`, and use that",
    },
    Stranger {
        sign: Sign::Starts(b"ElfFile\0"),
        what: "an event log of Windows (EVTX), which has no single requests",
        advice: EVENTS_OF_WINDOWS,
    },
    Stranger {
        sign: Sign::Named(".etl"),
        what: "a recording of Windows (ETL)",
        advice: EVENTS_OF_WINDOWS,
    },
    Stranger {
        sign: Sign::Holds(b"BeginHeader", b"DiskRead"),
        what: "what xperf prints of a recording of Windows, whose columns differ by version",
        advice: "keep the lines DiskRead and DiskWrite and name their columns, counted in the \
                 header, as in --columns \
                 op=DiskRead/read+DiskWrite/write:1,time=us:2,offset:6,size:7,latency=us:8,volume:9",
    },
    Stranger {
        sign: Sign::Holds(b"<", b"StorPort"),
        what: "events of Windows' StorPort as XML",
        advice: EVENTS_OF_WINDOWS,
    },
    Stranger {
        sign: Sign::Holds(b"<", b"win/2004/08/events"),
        what: "events of Windows as XML",
        advice: EVENTS_OF_WINDOWS,
    },
    Stranger {
        sign: Sign::Holds(b"<", b"<TimeSpan"),
        what: "a result or profile of DiskSpd, which has no single requests",
        advice: "`run` measures such a workload: -b, -w and -o of DiskSpd are its --bs, \
                 --rwmixread (100 less -w) and --iodepth",
    },
    Stranger {
        sign: Sign::Holds(b"<", b"<Results>"),
        what: "a result of DiskSpd, which has no single requests",
        advice: "`run` measures such a workload: -b, -w and -o of DiskSpd are its --bs, \
                 --rwmixread (100 less -w) and --iodepth",
    },
    Stranger {
        sign: Sign::Holds(b"", b"TIME(ms) "),
        what: "what bpftrace's biosnoop.bt prints, which has neither places nor sizes",
        advice: "use biosnoop of bcc or libbpf-tools, blktrace, or `perf record -e 'block:*'`",
    },
    Stranger {
        sign: Sign::Starts(b"{"),
        what: "JSON, as results are and traces are not",
        advice: "`ssdscope import` takes results of fio; a table with named columns is a trace",
    },
];

impl Sign {
    fn fits(&self, head: &[u8], name: &str) -> bool {
        let text = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head).trim_ascii_start();
        match self {
            Self::Starts(mark) => head.starts_with(mark),
            Self::Holds(start, mark) => {
                text.starts_with(start) && memchr::memmem::find(text, mark).is_some()
            }
            Self::Named(end) => name.to_ascii_lowercase().ends_with(end),
        }
    }
}

/// Refuses a file that is known not to be a trace.
///
/// # Errors
/// With what it is, and what to do.
pub fn refuse(source: &Source) -> Result<(), TraceError> {
    let mut head = Vec::new();
    // Damage within so little is found, and told, by whoever reads the trace.
    let _ = source.stream()?.take(HEAD_BYTES).read_to_end(&mut head);
    // Windows writes text of two bytes a letter as well.
    if head.starts_with(b"\xff\xfe") {
        head.retain(|byte| *byte != 0);
        head.drain(..2);
    }
    let stranger = STRANGERS.iter().find(|stranger| stranger.sign.fits(&head, &source.label));
    stranger.map_or(Ok(()), |&Stranger { what, advice, .. }| {
        Err(TraceError::Stranger { path: source.label.clone(), what, advice })
    })
}

#[cfg(test)]
mod tests {
    use super::super::options::TraceOptions;
    use super::super::sniff::sniff;
    use super::super::testing::Scratch;

    #[test]
    fn each_is_refused_with_its_name_and_what_to_do() {
        let wide: Vec<u8> = "<?xml version='1.0'?><Results><System>"
            .encode_utf16()
            .flat_map(u16::to_le_bytes)
            .collect();
        for (bytes, what, advice) in [
            (&b"PERFILE2h\0\0\0"[..], "perf", "perf script"),
            (b"\x17\x08\x44tracing6\0", "trace-cmd", "trace-cmd report"),
            (b"ElfFile\0\0\0", "EVTX", "xperf"),
            (b"BeginHeader\n  DiskRead, TimeStamp, ThreadID\n", "xperf prints", "--columns"),
            (
                b"<?xml?>\n<Events><Provider Name=\"Microsoft-Windows-StorPort\"/>",
                "StorPort",
                "xperf",
            ),
            (b"<Results>\n<Profile><TimeSpans><TimeSpan>", "DiskSpd", "--iodepth"),
            (&[b"\xff\xfe", &wide[..]].concat(), "DiskSpd", "--bs"),
            (b"TIME(ms)     DISK    COMM             PID    LAT(ms)\n", "bpftrace", "bcc"),
            (b"{\"fio version\": \"fio-3.33\"}", "JSON", "fio"),
        ] {
            let scratch = Scratch::new(bytes);
            let error = sniff(&scratch.path, &TraceOptions::default()).expect_err(what).to_string();
            let (first, hint) = error.split_once("\n\nhint: ").expect("a hint");
            assert!(first.contains(what) && hint.contains(advice), "{error}");
        }
    }
}
