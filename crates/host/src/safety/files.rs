//! Whether a regular file may be written: asked in this order, of the open file.
//!
//! 1. the token: `FILE:` and its name, as the kernel has it;
//! 2. nobody locks it by `flock`; we do from then on;
//! 3. no loop device is made of it ([`super::stack`]);
//! 4. nobody has it open or mapped ([`super::openers`]), as far as this user may look, and nobody
//!    locks it otherwise (POSIX, OFD);
//! 5. the kernel grants a lease, which it does only if nobody has the file open: in whatever
//!    namespace, and of whatever kind (a loop device, a descriptor under way between processes);
//! 6. what is stored or sampled of it is zero or ours ([`super::contents`]), or the user gives it
//!    up, or it is kept.
//!
//! 3 to 5 are asked again while it is written ([`super::recheck`]). Data that the sample misses
//! are met before they are overwritten ([`crate::vetted`]).

use super::recheck::Moment;
use super::refusal::Refusal;
use super::stack::Attachments;
use super::{Admitted, contents, openers};
use crate::consent::{Consent, file_token};
use crate::error::HostError;
use crate::file::Writing;
use crate::open::{self, Opened};
use crate::pinned::Pinned;
use crate::sys::locks::{self, Alone};
use crate::vetted::{Looked, Vetted};
use std::fs::File;
use std::os::unix::fs::MetadataExt;
use std::sync::Arc;

/// Reading so much takes a second or less.
const LOOKED_AT_WHOLE_BYTES: u64 = 1 << 30;

/// Opens a file for writing if every check passes.
pub(crate) fn admit(pinned: &Pinned, consent: &Consent<'_>) -> Result<Admitted, HostError> {
    let path = &pinned.path;
    let refused = |why| HostError::Refused { path: path.clone(), why };
    if !pinned.has_its_name() {
        return Err(HostError::Replaced(path.clone()));
    }
    if consent.token != file_token(&pinned.real_path) {
        return Err(HostError::WrongToken { path: path.clone(), given: consent.token.to_owned() });
    }
    let opened = open::open_target(pinned, 0, true)?;
    open::check_size(path, &opened)?;
    let readers = if consent.preserve_content { Readers::Stay } else { Readers::Count };
    // The lock comes first: of two runs that begin together one is refused, and not both.
    if !openers::lock(&opened.file).map_err(|error| HostError::os(path, "lock it", error))? {
        return Err(refused(openers::locked(&opened.file)));
    }
    let note = check_users(&opened.file, readers, true).map_err(refused)?;
    let window = 0..opened.capacity_bytes();
    let loses = !consent.overwrite_existing && !consent.preserve_content;
    let mut vetted = loses.then(|| Vetted::new(window.clone(), opened.logical_block_bytes, false));
    // Where the user names a part, the rest is nobody's business.
    if let Some(vetted) = vetted.as_mut().filter(|_| consent.window.is_none()) {
        look(&opened, vetted).map_err(refused)?;
    }
    let writing = Writing {
        window,
        limit_bytes: consent.write_limit_bytes,
        preserves: consent.preserve_content,
        vetted,
        recheck: Arc::new(move |file: &File, moment| {
            check_users(file, readers, moment != Moment::Served).map(drop)
        }),
        claims: Vec::new(),
        use_note: note,
    };
    Ok(Admitted { opened, writing })
}

/// Looks at all that is stored of a file, or at samples of it if that is much.
fn look(opened: &Opened, vetted: &mut Vetted) -> Result<(), Refusal> {
    let unreadable = |error: std::io::Error| Refusal::Unreadable(error.to_string());
    let whole = 0..opened.capacity_bytes();
    let stored_bytes = opened.file.metadata().map_err(unreadable)?.blocks() * 512;
    if stored_bytes > LOOKED_AT_WHOLE_BYTES {
        return contents::check(opened, &whole);
    }
    let looked = vetted.look(&opened.file, std::slice::from_ref(&whole), &mut |_| true);
    match looked.map_err(unreadable)? {
        Looked::Foreign(offset_bytes) => Err(Refusal::HoldsData(offset_bytes)),
        Looked::Clean(_) | Looked::Stopped => Ok(()),
    }
}

/// What is done about others who only read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Readers {
    /// They use the file.
    Count,
    /// They may stay: they see what they saw before.
    Stay,
}

/// Refuses a file that somebody uses; gives what could not be asked, if that leaves a doubt. A
/// lease says nothing where this process has the file open twice, as a reader or for a server.
pub(crate) fn check_users(
    file: &File,
    readers: Readers,
    asks_lease: bool,
) -> Result<Option<String>, Refusal> {
    let unreadable = |error: std::io::Error| Refusal::Unreadable(error.to_string());
    let stat = file.metadata().map_err(unreadable)?;
    let attachments = Attachments::of_this_machine();
    let loops = attachments.on_file((stat.dev(), stat.ino()));
    if !loops.is_empty() {
        return Err(Refusal::Attached(loops));
    }
    openers::check(|| openers::of_file(file, readers == Readers::Stay))?;
    if locks::holder(file).map_err(unreadable)?.is_some() {
        return Err(openers::locked(file));
    }
    let is_read = || !openers::of_file(file, false).is_empty();
    let is_known = openers::is_open_twice(file) || (readers == Readers::Stay && is_read());
    let attempt = || match locks::alone(file) {
        Alone::No => None,
        answer => Some(answer),
    };
    let alone = if asks_lease && !is_known {
        openers::after_the_dead(attempt, is_read).unwrap_or(Alone::No)
    } else {
        Alone::Unknown
    };
    match (alone, attachments.unasked.first()) {
        (Alone::Yes, _) => Ok(None),
        (Alone::No, _) => Err(Refusal::NotAlone),
        (Alone::Unknown, Some(loop_device)) => Err(Refusal::Unasked(loop_device.clone())),
        (Alone::Unknown, None) if is_known => Ok(None),
        (Alone::Unknown, None) => Ok(Some(
            "the kernel does not say whether anybody else uses the file, and other users' \
             processes are seen by root only"
                .to_owned(),
        )),
    }
}
