//! Events made up for tests, in either byte order and both versions.

/// An event of device 0,0 in the words of a test.
#[derive(Clone, Copy)]
pub struct Made {
    pub time: u64,
    pub action: u32,
    pub sector: u64,
    pub sectors: u32,
    pub cpu: u32,
    pub sequence: u32,
}

pub const READ: u32 = 1 << 16;
pub const WRITE: u32 = 1 << 17;
pub const QUEUE: u32 = 1;
pub const ISSUE: u32 = 7;
pub const COMPLETE: u32 = 8;

impl Made {
    pub const fn new(time: u64, action: u32, sector: u64, sectors: u32) -> Self {
        Self { time, action, sector, sectors, cpu: 0, sequence: 0 }
    }

    /// As the kernel writes it, with `tail` behind it.
    pub fn bytes(self, big_endian: bool, version: u8, tail: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        let mut put = |value: u64, bytes: usize| {
            let all = value.to_be_bytes();
            let mut part = all[8 - bytes..].to_vec();
            if !big_endian {
                part.reverse();
            }
            out.extend(part);
        };
        let Self { time, action, sector, sectors, cpu, sequence } = self;
        put(0x6561_7400 | u64::from(version), 4);
        put(u64::from(sequence), 4);
        put(time, 8);
        put(sector, 8);
        put(u64::from(sectors) * 512, 4);
        if version == 8 {
            put(42, 4);
            put(u64::from(action), 8);
        } else {
            put(u64::from(action), 4);
            put(42, 4);
        }
        put(0, 4);
        put(u64::from(cpu), 4);
        put(0, 2);
        put(tail.len() as u64, 2);
        if version == 8 {
            out.extend([0; 12]);
        }
        out.extend(tail);
        out
    }
}

/// The three requests that every format is tried with.
pub fn events() -> [Made; 5] {
    [
        Made::new(1_000_000_000, WRITE | QUEUE, 16, 8),
        Made::new(1_000_000_000, WRITE | ISSUE, 16, 8),
        Made::new(1_000_001_000, WRITE | COMPLETE, 16, 8),
        Made::new(1_500_000_000, READ | QUEUE, 800, 16),
        Made::new(2_000_000_000, WRITE | QUEUE, 4000, 2),
    ]
}

/// They as a file.
pub fn sample() -> Vec<u8> {
    events().map(|event| event.bytes(false, 7, b"")).concat()
}
