//! Mutated sessions against the protocol's core: whatever a client sends, the core answers, waits
//! or closes; it never panics, never uses more than it was given, and writes little.

use super::handshake::Export;
use super::protocol::{PAYLOAD_BYTES_MAX, WireRequest, command, option, write_option};
use super::session::{Action, Session, Step};
use ssdscope_io::rng::Stream;

const SESSIONS: u64 = 100_000;
const SEED: u64 = 34;

fn export(stream: &mut Stream) -> Export {
    let block_bytes = if stream.below(2) == 0 { 512 } else { 4096 };
    Export {
        name: if stream.below(2) == 0 { String::new() } else { "disk".into() },
        description: "a drive".into(),
        capacity_bytes: 1 << 20,
        block_bytes,
        read_only: stream.below(4) == 0,
        discard: stream.below(2) == 0,
    }
}

/// A session as a good client might hold it, and where its requests begin.
pub(super) fn session(stream: &mut Stream) -> (Vec<u8>, usize) {
    let mut out = (stream.below(4) as u32).to_be_bytes().to_vec();
    for _ in 0..stream.below(3) {
        let known = [option::LIST, option::STRUCTURED_REPLY, option::INFO, 5, 10, option::ABORT];
        let option = known[stream.below(known.len() as u64) as usize];
        let data: &[u8] = if option == option::INFO { &[0, 0, 0, 0, 0, 1, 0, 3] } else { &[] };
        write_option(&mut out, option, data);
    }
    if stream.below(3) == 0 {
        write_option(&mut out, option::EXPORT_NAME, &[]);
    } else {
        write_option(&mut out, option::GO, &[0, 0, 0, 0, 0, 2, 0, 2, 0, 3]);
    }
    let requests = out.len();
    for cookie in 0..stream.below(12) {
        let command = stream.below(8) as u16;
        let unit = if stream.below(3) == 0 { 512 } else { 4096 };
        let len_bytes = stream.below(5) as u32 * unit;
        let offset_bytes = stream.below((1 << 20) / u64::from(unit) + 4) * u64::from(unit);
        let flags = if stream.below(4) > 0 { 0 } else { stream.below(32) as u16 };
        WireRequest { flags, command, cookie, offset_bytes, len_bytes }.write(&mut out);
        if command == command::WRITE {
            out.resize(out.len() + len_bytes as usize, 7);
        }
    }
    (out, requests)
}

/// Changes bytes behind `from`, where there are any.
pub(super) fn mutate(stream: &mut Stream, bytes: &mut Vec<u8>, from: usize) {
    for _ in 0..stream.below(6) {
        let from = from.min(bytes.len() - 1);
        let at = from + stream.below((bytes.len() - from) as u64) as usize;
        match stream.below(6) {
            0 => bytes[at] = stream.next_u64() as u8,
            1 => bytes[at] ^= 1 << stream.below(8),
            2 => bytes.truncate(at.max(1)),
            3 => bytes.insert(at, stream.next_u64() as u8),
            4 => drop(bytes.remove(at)),
            _ => bytes[at] = 0xff,
        }
        if bytes.is_empty() {
            bytes.push(0);
        }
    }
}

/// What a session may do at most, whatever comes: `Some` is what it did wrong.
fn follow(export: &Export, bytes: &[u8], stream: &mut Stream) -> Result<(u64, u64), String> {
    let mut out = Vec::new();
    let mut session = Session::new(&mut out);
    let (mut start, mut end) = (0, 0);
    let (mut commands, mut owed, mut closed) = (0, 0_u64, 0);
    loop {
        let (used, step) = session.step(export, &bytes[start..end], &mut out);
        if used > end - start {
            return Err(format!("used {used} bytes of {}", end - start));
        }
        start += used;
        match step {
            Step::More => {
                if used != 0 || end == bytes.len() {
                    break;
                }
                end = (end + 1 + stream.below(600) as usize).min(bytes.len());
            }
            Step::Answered | Step::Begun if used == 0 => return Err("no progress".into()),
            Step::Answered | Step::Begun => {}
            Step::Command(command) => {
                commands += 1;
                let last = command.offset_bytes + u64::from(command.len_bytes);
                let fits = last <= export.capacity_bytes && command.len_bytes <= PAYLOAD_BYTES_MAX;
                let allowed =
                    !export.read_only || matches!(command.action, Action::Read | Action::Flush);
                if owed != 0 || !fits || !allowed {
                    return Err(format!("let through {command:?} while {owed} bytes were owed"));
                }
                if command.action == Action::Write {
                    owed = u64::from(command.len_bytes);
                }
            }
            Step::Payload { range, offset_bytes, last } => {
                let len = range.len() as u64;
                if range != (0..used) || len == 0 || len > owed || last != (len == owed) {
                    return Err(format!("{len} bytes of payload, {owed} owed, last: {last}"));
                }
                if offset_bytes + len > export.capacity_bytes {
                    return Err(format!("payload at {offset_bytes}"));
                }
                owed -= len;
            }
            Step::Close => {
                closed = 1;
                break;
            }
        }
        // 64 options are answered, each with names that are bounded.
        if out.len() > 64 << 10 {
            return Err(format!("wrote {} bytes", out.len()));
        }
    }
    Ok((commands, closed))
}

#[test]
fn whatever_a_client_sends_the_core_answers_waits_or_closes() {
    println!("seed {SEED}");
    let mut stream = Stream::new(SEED, "nbd-sessions");
    let (mut commands, mut closed) = (0, 0);
    for number in 0..SESSIONS {
        let export = export(&mut stream);
        let (mut bytes, requests) = session(&mut stream);
        let from = if stream.below(3) == 0 { 0 } else { requests };
        mutate(&mut stream, &mut bytes, from);
        let (served, ended) = follow(&export, &bytes, &mut stream)
            .unwrap_or_else(|fault| panic!("session {number} of seed {SEED}: {fault}"));
        commands += served;
        closed += ended;
    }
    // The sessions reach what they should: many commands get through, and many are sent away.
    assert!(commands > SESSIONS / 4, "{commands}");
    assert!((SESSIONS / 20..SESSIONS).contains(&closed), "{closed}");
}
