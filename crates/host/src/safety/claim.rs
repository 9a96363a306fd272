//! Check 3: the kernel gives the device to us alone; "busy" is final.

use super::refusal::Refusal;
use crate::error::HostError;
use crate::open::{self, Opened, Purpose};
use std::io;
use std::path::Path;

/// Opens with `O_RDWR | O_DIRECT | O_EXCL`.
pub(super) fn open(path: &Path) -> Result<Opened, HostError> {
    open::open_target(path, Purpose::Alone).map_err(|error| match error {
        HostError::Os { source, .. } if source.kind() == io::ErrorKind::ResourceBusy => {
            HostError::Refused { path: path.to_owned(), why: Refusal::Claimed }
        }
        other => other,
    })
}
