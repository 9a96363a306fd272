//! Mutated sessions through real sockets to a server that runs: it answers or closes, never hangs,
//! and serves a good client meanwhile.

use super::fuzz::{mutate, session};
use super::listen::{Listener, NamedSocket};
use super::protocol::{SIMPLE_REPLY_BYTES, WireRequest, be32, be64, command, option, write_option};
use super::server::{HANDSHAKE, ServeObserver, ServeOptions, serve};
use super::statistics::ServeSummary;
use super::store::{Memory, Store};
use ssdscope_io::NullDevice;
use ssdscope_io::rng::Stream;
use std::io::{Read as _, Write as _};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

const THREADS: u64 = 4;
const SESSIONS_EACH: u64 = 100;
const SEED: u64 = 34;
/// Longer than anything takes here; what takes longer hangs.
const HANGS: Duration = Duration::from_secs(5);
/// As large as the sessions take the drive to be. They write everywhere, so the good client looks
/// at its replies and not at its data.
const CAPACITY_BYTES: u64 = 1 << 20;

struct Until(Arc<AtomicBool>);

impl ServeObserver for Until {
    fn keep_going(&mut self) -> bool {
        !self.0.load(Ordering::Relaxed)
    }
}

fn serve_at(path: &Path, over: Arc<AtomicBool>) -> ServeSummary {
    let options = ServeOptions {
        export: "disk".into(),
        description: "a drive".into(),
        slow_down: 1.0,
        read_only: false,
        store: Store::Memory(Memory::new(CAPACITY_BYTES)),
        listeners: vec![Listener::Unix(NamedSocket::bind(path).expect("a free name"))],
        handshake: HANDSHAKE,
    };
    let mut device = NullDevice::new(CAPACITY_BYTES);
    let (summary, broken) = serve(&mut device, options, &mut Until(over)).expect("it begins");
    assert!(broken.is_none(), "{broken:?}");
    summary
}

fn connect(path: &Path) -> UnixStream {
    let begun = std::time::Instant::now();
    loop {
        match UnixStream::connect(path) {
            Ok(stream) => {
                stream.set_read_timeout(Some(HANGS)).expect("a timeout");
                stream.set_write_timeout(Some(HANGS)).expect("a timeout");
                return stream;
            }
            Err(error) if begun.elapsed() > HANGS => panic!("no server answers: {error}"),
            Err(_) => thread::sleep(Duration::from_millis(1)),
        }
    }
}

/// One mutated session: whatever was sent, the server ends it once nothing more comes.
fn hostile_session(path: &Path, stream: &mut Stream, number: u64) -> u64 {
    let (mut bytes, requests) = session(stream);
    let from = if stream.below(3) == 0 { 0 } else { requests };
    mutate(stream, &mut bytes, from);
    let mut socket = connect(path);
    let mut heard = vec![0; 1 << 16];
    let mut answered = 0;
    for piece in bytes.chunks(1 + stream.below(2048) as usize) {
        // A server that has heard enough closes; what it says stays short enough to fit.
        if socket.write_all(piece).is_err() {
            break;
        }
    }
    let _ = socket.shutdown(Shutdown::Write);
    loop {
        match socket.read(&mut heard) {
            Ok(0) => return answered,
            Ok(len) => answered += len as u64,
            Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => return answered,
            Err(error) => panic!("session {number} of seed {SEED} hangs: {error}"),
        }
    }
}

/// Asks for a block again and again until told to stop; how many replies came.
fn good_client(path: &Path, over: &AtomicBool) -> u64 {
    let mut socket = connect(path);
    socket.read_exact(&mut [0; 18]).expect("a greeting");
    let mut message = 3_u32.to_be_bytes().to_vec();
    write_option(&mut message, option::EXPORT_NAME, b"disk");
    socket.write_all(&message).expect("it listens");
    socket.read_exact(&mut [0; 10]).expect("an export");
    let mut cookie = 0;
    while !over.load(Ordering::Relaxed) {
        cookie += 1;
        let (command, len_bytes) = (command::READ, 512);
        let mut message = Vec::new();
        WireRequest { flags: 0, command, cookie, offset_bytes: 0, len_bytes }.write(&mut message);
        socket.write_all(&message).expect("it listens");
        let mut reply = [0; SIMPLE_REPLY_BYTES + 512];
        socket.read_exact(&mut reply).expect("a good client is served");
        assert_eq!((be64(&reply, 8), be32(&reply, 4)), (cookie, 0));
    }
    cookie
}

fn socket_path() -> PathBuf {
    std::env::temp_dir().join(format!("ssdscope-fuzz-{}", std::process::id()))
}

#[test]
fn mutated_sessions_through_sockets_neither_break_nor_hold_up_a_server() {
    println!("seed {SEED}");
    let path = socket_path();
    let over = Arc::new(AtomicBool::new(false));
    let (summary, served, answered) = thread::scope(|scope| {
        let (path, server_over) = (path.as_path(), Arc::clone(&over));
        let server = scope.spawn(move || serve_at(path, server_over));
        let calm = AtomicBool::new(false);
        let (served, answered) = thread::scope(|clients| {
            let good = clients.spawn(|| good_client(path, &calm));
            let hostile: Vec<_> = (0..THREADS)
                .map(|thread| {
                    clients.spawn(move || {
                        let mut stream = Stream::new(SEED + thread, "nbd-sockets");
                        let sessions = 0..SESSIONS_EACH;
                        sessions.map(|each| hostile_session(path, &mut stream, each)).sum::<u64>()
                    })
                })
                .collect();
            let answered = hostile.into_iter().map(|each| each.join().expect("no hang"));
            let answered: u64 = answered.sum();
            calm.store(true, Ordering::Relaxed);
            (good.join().expect("the good client is served"), answered)
        });
        over.store(true, Ordering::Relaxed);
        (server.join().expect("the server lives"), served, answered)
    });
    assert_eq!(summary.clients.connections, THREADS * SESSIONS_EACH + 1);
    assert_eq!(summary.clients.turned_away, 0);
    assert!(served > 100, "the good client got {served} replies");
    // Sessions reach what they should: requests got through, and nonsense was refused.
    assert!(summary.requests > served + 100, "{} requests", summary.requests);
    assert!(summary.refused_requests > 50, "{} refused", summary.refused_requests);
    assert!(answered > 18 * THREADS * SESSIONS_EACH, "{answered} bytes");
}
