//! How the kernel lays out an event, by version and byte order, and the one shape we bring it to.

/// An event in that shape: version 7, little-endian, without what follows it.
pub const EVENT_BYTES: usize = 48;

/// The upper three bytes of the first word of every event; the lowest is the version.
const MAGIC: u32 = 0x6561_7400;

/// The longest head of an event, of version 8.
pub const HEAD_BYTES_MAX: usize = 64;

/// A byte order and a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    big_endian: bool,
    version: u8,
}

/// What nearly every recording has, and the one shape.
const USUAL: Layout = Layout { big_endian: false, version: 7 };

/// Whether a file that begins so is one of blktrace's, of whatever version.
pub fn is_blktrace(head: &[u8]) -> bool {
    Layout::of(head).is_some()
}

impl Layout {
    /// What the first word of an event says; `None` if it is no event.
    #[inline]
    pub fn of(head: &[u8]) -> Option<Self> {
        let word = *head.first_chunk::<4>()?;
        if u32::from_le_bytes(word) == MAGIC | 7 {
            return Some(USUAL);
        }
        let layout = |big_endian, word: u32| {
            (word & !0xff == MAGIC).then_some(Self { big_endian, version: (word & 0xff) as u8 })
        };
        layout(false, u32::from_le_bytes(word)).or_else(|| layout(true, u32::from_be_bytes(word)))
    }

    pub const fn version(self) -> u8 {
        self.version
    }

    /// How long the fixed part of an event is; `None` if the version is not known.
    #[inline]
    pub const fn head_bytes(self) -> Option<usize> {
        match self.version {
            7 => Some(48),
            8 => Some(HEAD_BYTES_MAX),
            _ => None,
        }
    }

    #[inline]
    fn u16(self, head: &[u8], at: usize) -> u16 {
        let bytes = [head[at], head[at + 1]];
        if self.big_endian { u16::from_be_bytes(bytes) } else { u16::from_le_bytes(bytes) }
    }

    #[inline]
    fn u32(self, head: &[u8], at: usize) -> u32 {
        let bytes = [head[at], head[at + 1], head[at + 2], head[at + 3]];
        if self.big_endian { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) }
    }

    #[inline]
    fn u64(self, head: &[u8], at: usize) -> u64 {
        let mut bytes = [0; 8];
        bytes.copy_from_slice(&head[at..at + 8]);
        if self.big_endian { u64::from_be_bytes(bytes) } else { u64::from_le_bytes(bytes) }
    }

    /// When the event happened.
    #[inline]
    pub fn time(self, head: &[u8]) -> u64 {
        self.u64(head, 8)
    }

    /// How much follows the head.
    #[inline]
    pub fn tail_bytes(self, head: &[u8]) -> usize {
        usize::from(self.u16(head, if self.version == 8 { 50 } else { 46 }))
    }

    /// Writes an event in the one shape. Of version 8 the upper half of the action goes, which
    /// says only of zones more than the lower.
    #[inline]
    pub fn normalise(self, head: &[u8], out: &mut [u8; EVENT_BYTES]) {
        if self == USUAL {
            out.copy_from_slice(&head[..EVENT_BYTES]);
            return;
        }
        let action_at = match (self.version, self.big_endian) {
            (8, false) => 32,
            (8, true) => 36,
            _ => 28,
        };
        let (device_at, cpu_at, error_at) =
            if self.version == 8 { (40, 44, 48) } else { (36, 40, 44) };
        let mut put = |at: usize, bytes: &[u8]| out[at..at + bytes.len()].copy_from_slice(bytes);
        put(0, &(MAGIC | 7).to_le_bytes());
        put(4, &self.u32(head, 4).to_le_bytes());
        put(8, &self.time(head).to_le_bytes());
        put(16, &self.u64(head, 16).to_le_bytes());
        put(24, &self.u32(head, 24).to_le_bytes());
        put(28, &self.u32(head, action_at).to_le_bytes());
        put(32, &[0; 4]);
        put(36, &self.u32(head, device_at).to_le_bytes());
        put(40, &self.u32(head, cpu_at).to_le_bytes());
        put(44, &self.u16(head, error_at).to_le_bytes());
        put(46, &[0; 2]);
    }
}

/// An event out of its one shape.
#[derive(Clone, Copy, Debug)]
pub struct Raw {
    pub sequence: u32,
    pub time: u64,
    pub sector: u64,
    pub bytes: u32,
    pub action: u32,
    pub device: u32,
    pub cpu: u32,
    pub error: u16,
}

impl Raw {
    #[inline]
    pub fn of(event: &[u8; EVENT_BYTES]) -> Self {
        let layout = USUAL;
        Self {
            sequence: layout.u32(event, 4),
            time: layout.time(event),
            sector: layout.u64(event, 16),
            bytes: layout.u32(event, 24),
            action: layout.u32(event, 28),
            device: layout.u32(event, 36),
            cpu: layout.u32(event, 40),
            error: layout.u16(event, 44),
        }
    }
}
