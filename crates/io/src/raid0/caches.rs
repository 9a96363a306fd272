//! The caches of several drives, as if they were one.

use super::Member;
use crate::caches::{Cache, CacheControl, CacheInfo, Caches};
use crate::device::{ClockKind, DeviceError, DeviceInfo};

/// The caches of all members together: on if any is, switchable if all that exist are.
pub fn of_all(infos: &[DeviceInfo]) -> Caches {
    Caches { write: all_of(infos, Cache::Write), read: all_of(infos, Cache::Read) }
}

fn all_of(infos: &[DeviceInfo], cache: Cache) -> CacheInfo {
    let members = || infos.iter().map(|info| info.caches.get(cache));
    let any = |control| members().any(|member| member.control == control);
    let control = if any(CacheControl::Unknown) {
        CacheControl::Unknown
    } else if any(CacheControl::Fixed) {
        CacheControl::Fixed
    } else if any(CacheControl::Switchable) {
        CacheControl::Switchable
    } else {
        CacheControl::Absent
    };
    CacheInfo { control, on: members().any(|member| member.on) }
}

/// Switches a cache of all members that have one; those in virtual time then wait for the
/// last of them.
pub fn switch(
    members: &mut [Member],
    clock: ClockKind,
    cache: Cache,
    on: bool,
) -> Result<(), DeviceError> {
    for Member { device, .. } in members.iter_mut() {
        if device.info().caches.get(cache).control == CacheControl::Switchable {
            device.set_cache(cache, on)?;
        }
    }
    if clock == ClockKind::Virtual {
        let latest = members.iter().map(|member| member.device.now()).max().unwrap_or_default();
        for member in members {
            member.device.advance(latest, &mut Vec::new())?;
        }
    }
    Ok(())
}
