//! What a drive keeps in its memory: tables `[write_buffer]` and `[read_cache]`.

use super::get::Getter;

/// When the write buffer is emptied, besides when somebody waits for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Drain {
    /// As soon as anything is in it.
    Eager,
    /// When it is fuller than a mark.
    HighWater,
    /// Only when there is no room.
    Full,
    /// When the host is quiet.
    Idle,
}

/// What leaves the write buffer first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DrainOrder {
    /// The fullest run of neighbours.
    SequentialRuns,
    /// What came first.
    Fifo,
    /// What was written to longest ago.
    Lru,
}

/// The write buffer.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "each field is the key of the same name")]
pub struct WriteBufferConfig {
    pub bytes: u64,
    pub unit_bytes: u64,
    pub drain: Drain,
    pub high_water_ratio: f64,
    pub idle_ns: u64,
    pub order: DrainOrder,
    pub concurrent_drains: u32,
    pub ns_per_byte: f64,
    pub power_loss_protected: bool,
    pub switchable: bool,
}

fn write_buffer(get: &Getter) -> WriteBufferConfig {
    WriteBufferConfig {
        bytes: get.long("write_buffer.bytes"),
        unit_bytes: get.long("write_buffer.unit_bytes"),
        drain: match get.word("write_buffer.drain") {
            "high-water" => Drain::HighWater,
            "full" => Drain::Full,
            "idle" => Drain::Idle,
            _ => Drain::Eager,
        },
        high_water_ratio: get.float("write_buffer.high_water_ratio"),
        idle_ns: get.long("write_buffer.idle_ns"),
        order: match get.word("write_buffer.order") {
            "fifo" => DrainOrder::Fifo,
            "lru" => DrainOrder::Lru,
            _ => DrainOrder::SequentialRuns,
        },
        concurrent_drains: get.int("write_buffer.concurrent_drains"),
        ns_per_byte: get.float("write_buffer.ns_per_byte"),
        power_loss_protected: get.flag("write_buffer.power_loss_protected"),
        switchable: get.flag("write_buffer.switchable"),
    }
}

/// The read cache.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "each field is the key of the same name")]
pub struct ReadCacheConfig {
    pub bytes: u64,
    pub unit_bytes: u64,
    pub read_ahead_bytes: u64,
    pub ns_per_byte: f64,
    pub switchable: bool,
}

fn read_cache(get: &Getter) -> ReadCacheConfig {
    ReadCacheConfig {
        bytes: get.long("read_cache.bytes"),
        unit_bytes: get.long("read_cache.unit_bytes"),
        read_ahead_bytes: get.long("read_cache.read_ahead_bytes"),
        ns_per_byte: get.float("read_cache.ns_per_byte"),
        switchable: get.flag("read_cache.switchable"),
    }
}

/// Both.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "each field is a table of the file")]
pub struct CacheConfig {
    pub write_buffer: WriteBufferConfig,
    pub read_cache: ReadCacheConfig,
}

pub(super) fn caches(get: &Getter) -> CacheConfig {
    CacheConfig { write_buffer: write_buffer(get), read_cache: read_cache(get) }
}
