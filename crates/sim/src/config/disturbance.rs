//! What spoils a measurement: table `[disturbance]`.

use super::get::Getter;

/// What comes between a drive and its host.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "each field is the key of the same name")]
pub struct Disturbance {
    pub noise_sigma: f64,
    pub spike_ratio: f64,
    pub spike_ns: u64,
    pub drift_ratio: f64,
    pub drift_period_ns: u64,
    pub foreign_iops: u64,
    pub foreign_bytes: u64,
    pub foreign_write_ratio: f64,
    pub foreign_on_ns: u64,
    pub foreign_off_ns: u64,
    pub fault_offset_bytes: u64,
    pub fault_bytes: u64,
    pub gone_after_requests: u64,
    pub flush: Flushing,
}

/// What becomes of a flush.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flushing {
    /// The drive serves it.
    Honoured,
    /// It is answered at once and does nothing.
    Ignored,
    /// It fails: the drive does not know the command.
    Refused,
}

impl Disturbance {
    /// Whether nothing spoils anything.
    #[must_use]
    pub fn is_none(&self) -> bool {
        let rates = [self.noise_sigma, self.spike_ratio, self.drift_ratio];
        rates == [0.0; 3]
            && [self.foreign_iops, self.fault_bytes, self.gone_after_requests] == [0; 3]
            && self.flush == Flushing::Honoured
    }
}

pub(super) fn disturbance(get: &Getter) -> Disturbance {
    Disturbance {
        noise_sigma: get.float("disturbance.noise_sigma"),
        spike_ratio: get.float("disturbance.spike_ratio"),
        spike_ns: get.long("disturbance.spike_ns"),
        drift_ratio: get.float("disturbance.drift_ratio"),
        drift_period_ns: get.long("disturbance.drift_period_ns"),
        foreign_iops: get.long("disturbance.foreign_iops"),
        foreign_bytes: get.long("disturbance.foreign_bytes"),
        foreign_write_ratio: get.float("disturbance.foreign_write_ratio"),
        foreign_on_ns: get.long("disturbance.foreign_on_ns"),
        foreign_off_ns: get.long("disturbance.foreign_off_ns"),
        fault_offset_bytes: get.long("disturbance.fault_offset_bytes"),
        fault_bytes: get.long("disturbance.fault_bytes"),
        gone_after_requests: get.long("disturbance.gone_after_requests"),
        flush: match get.word("disturbance.flush") {
            "ignored" => Flushing::Ignored,
            "refused" => Flushing::Refused,
            _ => Flushing::Honoured,
        },
    }
}
