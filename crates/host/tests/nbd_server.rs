//! The server and the client over real sockets: what is served is what was asked for, in time,
//! and no peer can hold up or harm another.
//!
//! A server runs on a thread, in this process. Hostile clients speak bytes; hostile servers are
//! threads that answer with whatever the test gives them.

#![allow(clippy::unwrap_used)]

use ssdscope_host::nbd::listen::{Listener, NamedSocket};
use ssdscope_host::nbd::protocol::{
    self as nbd, INIT_MAGIC, OPTION_MAGIC, SIMPLE_REPLY_BYTES, WireRequest, command, option,
    option_reply, write_option, write_option_reply, write_simple_reply,
};
use ssdscope_host::nbd::server::HANDSHAKE;
use ssdscope_host::nbd::store::{Memory, Store};
use ssdscope_host::nbd::{
    NbdAddress, NbdClient, NbdTarget, Patience, ServeObserver, ServeOptions, ServeSummary, serve,
};
use ssdscope_io::device::check_request;
use ssdscope_io::{
    Attribution, Caches, ClockKind, Completion, Device, DeviceError, DeviceInfo, DeviceKind, Lba,
    Nanos, NullDevice, Outcome, Request, Sectors,
};
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

const MIB: u64 = 1 << 20;

/// A drive on a virtual clock that takes as long as it is asked to: request n of sector s takes
/// `latency(s)`.
struct Timed {
    now: Nanos,
    pending: Vec<(Nanos, Nanos, u64)>,
    latency: fn(u64) -> u64,
}

impl Timed {
    fn new(latency: fn(u64) -> u64) -> Self {
        Self { now: Nanos::ZERO, pending: Vec::new(), latency }
    }
}

impl Device for Timed {
    fn info(&self) -> DeviceInfo {
        DeviceInfo {
            kind: DeviceKind::Simulated,
            capacity_bytes: 64 * MIB,
            logical_block_bytes: 512,
            clock: ClockKind::Virtual,
            writable: true,
            discard: true,
            attribution: false,
            snapshot: false,
            caches: Caches::ABSENT,
        }
    }

    fn now(&self) -> Nanos {
        self.now
    }

    fn submit(&mut self, now: Nanos, request: Request) -> Result<(), DeviceError> {
        check_request(&self.info(), &request)?;
        let end = now + Nanos((self.latency)(request.lba.0));
        self.pending.push((end, now, request.id));
        self.pending.sort_unstable();
        Ok(())
    }

    fn next_event(&self) -> Option<Nanos> {
        self.pending.first().map(|(end, ..)| *end)
    }

    fn advance(&mut self, to: Nanos, completions: &mut Vec<Completion>) -> Result<(), DeviceError> {
        let Some(&(end, submitted, id)) = self.pending.first().filter(|(end, ..)| *end <= to)
        else {
            self.now = to;
            return Ok(());
        };
        self.now = end;
        self.pending.remove(0);
        let (outcome, attribution) = (Outcome::Done, Attribution::ZERO);
        completions.push(Completion { id, submitted, completed: end, outcome, attribution });
        Ok(())
    }

    fn in_flight(&self) -> usize {
        self.pending.len()
    }
}

struct Until(Arc<AtomicBool>);

impl ServeObserver for Until {
    fn keep_going(&mut self) -> bool {
        !self.0.load(Ordering::Relaxed)
    }
}

/// A server on a thread.
struct Server {
    path: PathBuf,
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<ServeSummary>>,
}

fn socket_path() -> PathBuf {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    std::env::temp_dir().join(format!("ssdscope-nbd-{}-{number}", std::process::id()))
}

impl Server {
    fn start(device: Box<dyn Device>, store: Store, slow_down: f64) -> Self {
        Self::start_with(device, store, slow_down, HANDSHAKE)
    }

    fn start_with(
        mut device: Box<dyn Device>,
        store: Store,
        slow_down: f64,
        handshake: Nanos,
    ) -> Self {
        let path = socket_path();
        let listeners = vec![Listener::Unix(NamedSocket::bind(&path).unwrap())];
        let options = ServeOptions {
            export: "disk".into(),
            description: "a test".into(),
            slow_down,
            read_only: false,
            store,
            listeners,
            handshake,
        };
        let over = Arc::new(AtomicBool::new(false));
        let mut until = Until(Arc::clone(&over));
        let thread = thread::spawn(move || {
            let (summary, broken) = serve(device.as_mut(), options, &mut until).unwrap();
            assert!(broken.is_none(), "{broken:?}");
            summary
        });
        Self { path, over, thread: Some(thread) }
    }

    fn timed(latency: fn(u64) -> u64, slow_down: f64) -> Self {
        let memory = Store::Memory(Memory::new(64 * MIB));
        Self::start(Box::new(Timed::new(latency)), memory, slow_down)
    }

    fn stop(mut self) -> ServeSummary {
        self.over.store(true, Ordering::Relaxed);
        self.thread.take().unwrap().join().unwrap()
    }

    fn target(&self, slow_down: f64, write: bool) -> NbdTarget {
        NbdTarget {
            address: NbdAddress::Unix(self.path.clone()),
            export: "disk".into(),
            slow_down,
            destroy_token: write.then(|| "NBD:disk".to_owned()),
            patience: Patience::default(),
        }
    }

    /// A connection that has negotiated, for bytes.
    fn raw(&self) -> UnixStream {
        let mut stream = UnixStream::connect(&self.path).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
        let mut greeting = [0; 18];
        stream.read_exact(&mut greeting).unwrap();
        assert_eq!(nbd::be64(&greeting, 0), INIT_MAGIC);
        let mut message = 3_u32.to_be_bytes().to_vec();
        write_option(&mut message, option::EXPORT_NAME, b"disk");
        stream.write_all(&message).unwrap();
        stream.read_exact(&mut [0; 10]).unwrap();
        stream
    }
}

fn ask(stream: &mut UnixStream, command: u16, cookie: u64, offset_bytes: u64, len_bytes: u32) {
    let mut message = Vec::new();
    WireRequest { flags: 0, command, cookie, offset_bytes, len_bytes }.write(&mut message);
    stream.write_all(&message).unwrap();
}

/// Reads a reply without data: its cookie and its error.
fn reply(stream: &mut UnixStream) -> (u64, u32) {
    let mut head = [0; SIMPLE_REPLY_BYTES];
    stream.read_exact(&mut head).unwrap();
    assert_eq!(nbd::be32(&head, 0), nbd::SIMPLE_REPLY_MAGIC);
    (nbd::be64(&head, 8), nbd::be32(&head, 4))
}

fn wait_for(device: &mut dyn Device, count: usize) -> Result<Vec<Completion>, DeviceError> {
    let mut completions = Vec::new();
    let begun = Instant::now();
    while completions.len() < count {
        assert!(begun.elapsed() < Duration::from_secs(60), "hangs");
        device.advance(device.now() + Nanos(50_000_000), &mut completions)?;
    }
    Ok(completions)
}

#[test]
fn only_the_owner_may_connect_and_the_socket_goes_with_the_server() {
    let server = Server::timed(|_| 1_000, 1.0);
    let mode = std::fs::metadata(&server.path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let live = NamedSocket::bind(&server.path).unwrap_err().to_string();
    assert!(live.contains("another server"), "{live}");
    let path = server.path.clone();
    server.stop();
    assert!(!path.exists());
    drop(UnixListener::bind(&path).unwrap());
    assert!(path.exists(), "a dead server leaves its socket");
    drop(NamedSocket::bind(&path).expect("which is replaced"));
    std::fs::write(&path, b"mine").unwrap();
    assert!(NamedSocket::bind(&path).unwrap_err().to_string().contains("not a socket"));
    assert_eq!(std::fs::read(&path).unwrap(), b"mine");
    std::fs::remove_file(&path).unwrap();
    assert!(NamedSocket::bind(Path::new(&"x".repeat(200))).is_err());
}

/// Connects as soon as the file is there.
fn connect_at_sight(path: &Path, looking: &AtomicBool) -> std::io::Result<UnixStream> {
    let begun = Instant::now();
    looking.store(true, Ordering::Release);
    while !path.exists() && begun.elapsed() < Duration::from_secs(10) {}
    UnixStream::connect(path)
}

#[test]
fn who_sees_the_socket_can_connect() {
    let folder = socket_path();
    std::fs::create_dir(&folder).unwrap();
    let path = folder.join("socket");
    for round in 0..10_000 {
        let looking = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let client = scope.spawn(|| connect_at_sight(&path, &looking));
            while !looking.load(Ordering::Acquire) {
                std::hint::spin_loop();
            }
            let _socket = NamedSocket::bind(&path).unwrap();
            client.join().unwrap().unwrap_or_else(|error| panic!("round {round}: {error}"));
        });
    }
    std::fs::remove_dir(&folder).expect("nothing is left beside it");
}

#[test]
fn replies_overtake_each_other_and_none_is_early() {
    // Sector 0 takes 30 ms of the drive's time, all others 1 ms; the slow-down doubles it.
    let server = Server::timed(|sector| if sector == 0 { 30_000_000 } else { 1_000_000 }, 2.0);
    let mut stream = server.raw();
    let begun = Instant::now();
    ask(&mut stream, command::READ, 7, 0, 512);
    ask(&mut stream, command::READ, 8, 512, 512);
    assert_eq!(reply(&mut stream), (8, 0));
    assert!(begun.elapsed() >= Duration::from_millis(2));
    stream.read_exact(&mut [0; 512]).unwrap();
    assert_eq!(reply(&mut stream), (7, 0));
    assert!(begun.elapsed() >= Duration::from_millis(60), "{:?}", begun.elapsed());
    let summary = server.stop();
    let latency = summary.read.unwrap().latency_ns;
    assert_eq!((latency.min, latency.max), (1_000_000, 30_000_000));
    assert_eq!(summary.requests, 2);
}

#[test]
fn a_client_sees_the_drives_own_times_whatever_the_slow_down() {
    let server = Server::timed(|_| 2_000_000, 5.0);
    let mut client = NbdClient::open(&server.target(5.0, true)).unwrap();
    assert_eq!(client.info().capacity_bytes, 64 * MIB);
    for id in 0..32 {
        let request = match id % 4 {
            0 => Request::read(id, Lba(id * 8), Sectors(8)),
            1 => Request { fua: true, ..Request::write(id, Lba(id * 8), Sectors(8)) },
            2 => Request::new(id, ssdscope_io::Op::Flush, Lba(0), Sectors(0)),
            _ => Request::new(id, ssdscope_io::Op::Discard, Lba(id * 8), Sectors(8)),
        };
        client.submit(client.now(), request).unwrap();
    }
    for completion in wait_for(&mut client, 32).unwrap() {
        assert_eq!(completion.outcome, Outcome::Done);
        assert!(completion.latency().0 >= 2_000_000, "{completion:?}");
    }
    drop(client);
    let summary = server.stop();
    let counts = [summary.read, summary.write, summary.flush, summary.discard];
    assert_eq!(counts.map(|section| section.unwrap().requests), [8; 4]);
}

#[test]
fn sixty_four_clients_at_once_each_read_what_they_wrote() {
    let server = Server::timed(|sector| sector % 7 * 10_000, 1.0);
    thread::scope(|scope| {
        let together = Arc::new(std::sync::Barrier::new(64));
        for number in 0..64_u64 {
            let (server, together) = (&server, Arc::clone(&together));
            scope.spawn(move || {
                let mut stream = server.raw();
                together.wait();
                for round in 0..20_u64 {
                    let data = [(number * 3 + round) as u8; 4096];
                    let at = number * MIB + round * 4096;
                    ask(&mut stream, command::WRITE, round, at, 4096);
                    stream.write_all(&data).unwrap();
                    assert_eq!(reply(&mut stream), (round, 0));
                    ask(&mut stream, command::READ, round, at, 4096);
                    assert_eq!(reply(&mut stream), (round, 0));
                    let mut found = [0; 4096];
                    stream.read_exact(&mut found).unwrap();
                    assert!(found == data, "client {number}, round {round}");
                }
            });
        }
    });
    let summary = server.stop();
    assert_eq!(summary.clients.most_at_once, 64);
    assert_eq!(summary.requests, 64 * 40);
}

#[test]
fn who_stops_reading_or_never_negotiates_holds_up_nobody() {
    let server = Server::timed(|_| 1_000, 1.0);
    let silent: Vec<UnixStream> =
        (0..8).map(|_| UnixStream::connect(&server.path).unwrap()).collect();
    let mut greedy: Vec<UnixStream> = (0..4).map(|_| server.raw()).collect();
    for stream in &mut greedy {
        stream.set_write_timeout(Some(Duration::from_millis(50))).unwrap();
        let mut message = Vec::new();
        for cookie in 0..2_000 {
            let (command, len_bytes) = (command::READ, 32 << 20);
            let request = WireRequest { flags: 0, command, cookie, offset_bytes: 0, len_bytes };
            request.write(&mut message);
        }
        // The server stops reading where its bounds are.
        let _ = stream.write_all(&message);
    }
    let mut good = server.raw();
    let begun = Instant::now();
    for cookie in 0..200 {
        ask(&mut good, command::READ, cookie, 0, 512);
        assert_eq!(reply(&mut good), (cookie, 0));
        good.read_exact(&mut [0; 512]).unwrap();
    }
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
    drop((silent, greedy));
    server.stop();
}

#[test]
fn who_negotiates_for_too_long_is_sent_away_and_counted() {
    let limit = Duration::from_millis(120);
    let device = Box::new(Timed::new(|_| 1_000));
    let memory = Store::Memory(Memory::new(MIB));
    let server = Server::start_with(device, memory, 1.0, Nanos(limit.as_nanos() as u64));
    let mut done = server.raw();
    let begun = Instant::now();
    let mut silent = UnixStream::connect(&server.path).unwrap();
    // One says nothing, the other keeps asking: the limit is for the whole negotiation.
    let mut busy = UnixStream::connect(&server.path).unwrap();
    busy.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
    busy.write_all(&3_u32.to_be_bytes()).unwrap();
    silent.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
    for _ in 0..4 {
        thread::sleep(Duration::from_millis(25));
        let mut message = Vec::new();
        write_option(&mut message, option::LIST, &[]);
        busy.write_all(&message).unwrap();
    }
    for stream in [&mut silent, &mut busy] {
        let mut heard = Vec::new();
        stream.read_to_end(&mut heard).expect("the server closes it");
        assert!(heard.len() >= 18, "it was greeted");
    }
    assert!(begun.elapsed() >= limit, "{:?}", begun.elapsed());
    assert!(begun.elapsed() < Duration::from_secs(4), "{:?}", begun.elapsed());
    // Who has negotiated may be silent for longer.
    ask(&mut done, command::READ, 1, 0, 512);
    assert_eq!(reply(&mut done), (1, 0));
    assert_eq!(server.stop().clients.timed_out, 2);
}

#[test]
fn what_makes_no_sense_is_refused_with_the_protocols_own_number() {
    let server = Server::timed(|_| 1_000, 1.0);
    let mut stream = server.raw();
    let end = 64 * MIB;
    let cases: [(u16, u16, u64, u32, u32); 9] = [
        (command::READ, 0, end, 512, nbd::error::INVAL),
        (command::READ, 0, 1, 512, nbd::error::INVAL),
        (command::READ, 0, 0, 0, nbd::error::INVAL),
        (command::READ, nbd::command_flag::DF, 0, 512, nbd::error::INVAL),
        (command::TRIM, 0, end, 512, nbd::error::INVAL),
        (command::WRITE_ZEROES, 0, u64::MAX - 511, 512, nbd::error::NOSPC),
        (command::FLUSH, 0, 512, 0, nbd::error::INVAL),
        (5, 0, 0, 512, nbd::error::INVAL),
        (999, 0, 0, 512, nbd::error::INVAL),
    ];
    for (index, (command, flags, offset_bytes, len_bytes, error)) in cases.into_iter().enumerate() {
        let cookie = index as u64;
        let mut message = Vec::new();
        WireRequest { flags, command, cookie, offset_bytes, len_bytes }.write(&mut message);
        stream.write_all(&message).unwrap();
        assert_eq!(reply(&mut stream), (cookie, error), "case {index}");
    }
    ask(&mut stream, command::WRITE, 77, end, 512);
    stream.write_all(&[1; 512]).unwrap();
    assert_eq!(reply(&mut stream), (77, nbd::error::NOSPC));
    ask(&mut stream, command::WRITE, 78, 0, u32::MAX);
    assert_eq!(stream.read(&mut [0; 1]).unwrap_or(0), 0, "such a client is sent away");
    assert_eq!(server.stop().refused_requests, 10);
}

#[test]
fn a_full_store_fails_the_write_and_nothing_else() {
    let memory = Store::Memory(Memory::new(MIB));
    let server = Server::start(Box::new(Timed::new(|_| 1_000)), memory, 1.0);
    let mut stream = server.raw();
    let mut errors = Vec::new();
    for cookie in 0..4 {
        ask(&mut stream, command::WRITE, cookie, cookie * MIB / 2, 1 << 19);
        stream.write_all(&vec![1; 1 << 19]).unwrap();
        errors.push(reply(&mut stream).1);
    }
    assert_eq!(errors, [0, 0, nbd::error::NOSPC, nbd::error::NOSPC]);
    ask(&mut stream, command::TRIM, 9, 0, 1 << 19);
    assert_eq!(reply(&mut stream), (9, 0));
    ask(&mut stream, command::WRITE, 10, 2 * MIB, 4096);
    stream.write_all(&[1; 4096]).unwrap();
    assert_eq!(reply(&mut stream), (10, 0));
    assert_eq!(server.stop().failed_requests, 2);
}

#[test]
fn a_client_says_what_is_wrong_with_an_export() {
    let device = Box::new(NullDevice::new(MIB));
    let server = Server::start(device, Store::Nothing, 1.0);
    let refused = |target: &NbdTarget| NbdClient::open(target).err().unwrap().to_string();
    let good = server.target(1.0, false);
    let other = NbdTarget { export: "other".into(), ..good.clone() };
    assert!(refused(&other).contains("no export"), "{}", refused(&other));
    let token = NbdTarget { destroy_token: Some("NBD:x".into()), ..good.clone() };
    assert!(refused(&token).contains("token"), "{}", refused(&token));
    let mut client = NbdClient::open(&good).unwrap();
    let write = Request::write(1, Lba(0), Sectors(8));
    assert_eq!(client.submit(Nanos::ZERO, write), Err(DeviceError::ReadOnly));
    let path = server.path.clone();
    server.stop();
    client.submit(client.now(), Request::read(2, Lba(0), Sectors(8))).ok();
    let gone = wait_for(&mut client, 1).unwrap_err().to_string();
    assert!(gone.contains("NBD server at") && gone.contains("in flight"), "{gone}");
    assert!(!path.exists());
    assert!(refused(&good).contains("no NBD server answers"), "{}", refused(&good));
}

/// A server that says this and then what `talk` does.
fn hostile(talk: impl FnOnce(&mut UnixStream) + Send + 'static) -> (NbdTarget, JoinHandle<()>) {
    let path = socket_path();
    let listener = UnixListener::bind(&path).unwrap();
    let address = NbdAddress::Unix(path.clone());
    let thread = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
        talk(&mut stream);
        let _ = std::fs::remove_file(path);
    });
    let patience = Patience::default();
    let target =
        NbdTarget { address, export: String::new(), slow_down: 1.0, destroy_token: None, patience };
    (target, thread)
}

fn greet(stream: &mut UnixStream) {
    let mut out = [INIT_MAGIC.to_be_bytes(), OPTION_MAGIC.to_be_bytes()].concat();
    out.extend_from_slice(&3_u16.to_be_bytes());
    stream.write_all(&out).unwrap();
    // Client flags, and GO with an empty name and one fact.
    stream.read_exact(&mut [0; 4 + 16 + 8]).unwrap();
}

/// Offers an export of this size with blocks of this size.
fn offer(stream: &mut UnixStream, size_bytes: u64, block_bytes: u32) {
    greet(stream);
    let mut out = Vec::new();
    let size = [&[0, 0][..], &size_bytes.to_be_bytes(), &[0, 1]].concat();
    write_option_reply(&mut out, option::GO, option_reply::INFO, &size);
    let sizes = [block_bytes, 4096, 1 << 25].map(u32::to_be_bytes);
    let blocks = [&[0, 3][..], sizes.as_flattened()].concat();
    write_option_reply(&mut out, option::GO, option_reply::INFO, &blocks);
    write_option_reply(&mut out, option::GO, option_reply::ACK, &[]);
    stream.write_all(&out).unwrap();
}

type Talk = fn(&mut UnixStream);

#[test]
fn a_client_believes_no_server_that_lies_while_it_negotiates() {
    let cases: [(Talk, &str); 8] = [
        (|stream| drop(stream.write_all(b"HTTP/1.1 400 Bad Request\r\n")), "not an NBD server"),
        (|_| {}, "closed the connection"),
        (|stream| offer(stream, u64::MAX, 512), "more than any drive"),
        (|stream| offer(stream, 100, 512), "less than one block"),
        (|stream| offer(stream, 1 << 20, 513), "make no sense"),
        (|stream| offer(stream, 1 << 20, 1 << 31), "make no sense"),
        (
            |stream| {
                greet(stream);
                let mut out = Vec::new();
                write_option_reply(&mut out, option::GO, option_reply::INFO, &[]);
                out[16..20].copy_from_slice(&u32::MAX.to_be_bytes());
                stream.write_all(&out).unwrap();
            },
            "announces an answer of 4294967295 bytes",
        ),
        (
            |stream| {
                greet(stream);
                let mut out = Vec::new();
                for _ in 0..100 {
                    write_option_reply(&mut out, option::GO, option_reply::INFO, &[9, 9]);
                }
                stream.write_all(&out).unwrap();
            },
            "do not end",
        ),
    ];
    for (index, (talk, wanted)) in cases.into_iter().enumerate() {
        let (target, thread) = hostile(talk);
        let said = NbdClient::open(&target).err().unwrap().to_string();
        assert!(said.contains(wanted), "case {index}: {said}");
        thread.join().unwrap();
    }
}

#[test]
fn a_client_believes_no_reply_that_nobody_asked_for() {
    let cases: [(Talk, &str); 4] = [
        (
            |stream| {
                stream.read_exact(&mut [0; 28]).unwrap();
                stream.write_all(&[0xff; 64]).unwrap();
            },
            "not a reply",
        ),
        (
            |stream| {
                stream.read_exact(&mut [0; 28]).unwrap();
                let mut out = Vec::new();
                write_simple_reply(&mut out, 0xdead_beef, 0);
                stream.write_all(&out).unwrap();
            },
            "was not made",
        ),
        (|stream| drop(stream.shutdown(std::net::Shutdown::Both)), "in flight"),
        (
            |stream| {
                let mut request = [0; 28];
                stream.read_exact(&mut request).unwrap();
                let mut out = Vec::new();
                write_simple_reply(&mut out, nbd::be64(&request, 8), 0);
                out.extend_from_slice(&[0; 100]);
                // Less data than was asked for, and then the end.
                stream.write_all(&out).unwrap();
            },
            "closed the connection",
        ),
    ];
    for (index, (talk, wanted)) in cases.into_iter().enumerate() {
        let (target, thread) = hostile(move |stream| {
            offer(stream, 1 << 20, 512);
            talk(stream);
        });
        let mut client = NbdClient::open(&target).unwrap();
        // A server that is gone by now is noticed here or when its reply is waited for.
        let said = match client.submit(client.now(), Request::read(1, Lba(0), Sectors(8))) {
            Err(error) => error.to_string(),
            Ok(()) => wait_for(&mut client, 1).unwrap_err().to_string(),
        };
        assert!(said.contains(wanted), "case {index}: {said}");
        thread.join().unwrap();
    }
}

#[test]
fn a_client_waits_for_a_silent_server_as_long_as_it_was_told_to() {
    let patience = Patience { negotiation: Nanos(80_000_000), silence: Nanos(150_000_000) };
    let hang = |stream: &mut UnixStream| drop(stream.read_to_end(&mut Vec::new()));
    let (target, thread) = hostile(hang);
    let begun = Instant::now();
    let said = NbdClient::open(&NbdTarget { patience, ..target }).err().unwrap().to_string();
    assert!(said.contains("stopped answering"), "{said}");
    assert!((80..4_000).contains(&begun.elapsed().as_millis()), "{:?}", begun.elapsed());
    thread.join().unwrap();

    // A server that lives three times slower may be silent three times as long.
    for (slow_down, least_ms) in [(1.0, 150), (3.0, 450)] {
        let (target, thread) = hostile(move |stream| {
            offer(stream, 1 << 20, 512);
            hang(stream);
        });
        let mut client = NbdClient::open(&NbdTarget { patience, slow_down, ..target }).unwrap();
        // Nothing under way, nothing to wait for.
        thread::sleep(Duration::from_millis(20));
        let begun = Instant::now();
        client.submit(client.now(), Request::read(1, Lba(0), Sectors(8))).unwrap();
        let said = wait_for(&mut client, 1).unwrap_err().to_string();
        assert!(said.contains("has not answered for 0."), "{said}");
        assert!(said.contains("1 requests in flight"), "{said}");
        assert!((least_ms..4_000).contains(&begun.elapsed().as_millis()), "{:?}", begun.elapsed());
        drop(client);
        thread.join().unwrap();
    }
}

/// A file that is removed when it is dropped.
struct Backing(PathBuf);

impl Backing {
    fn new() -> (Self, Store) {
        let path = socket_path();
        let mut options = std::fs::OpenOptions::new();
        let file = options.read(true).write(true).create_new(true).open(&path).unwrap();
        file.set_len(64 * MIB).unwrap();
        let store = Store::File(file);
        (Self(path), store)
    }
}

impl Drop for Backing {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Asks for a write with FUA, a read, a trim and a flush at once, and ends its side.
fn ask_and_leave(stream: &mut UnixStream, disconnect: bool) {
    let mut message = Vec::new();
    let mut ask = |command, flags, cookie, len_bytes| {
        let request = WireRequest { flags, command, cookie, offset_bytes: 0, len_bytes };
        request.write(&mut message);
        if command == command::WRITE {
            message.extend_from_slice(&[7; 4096]);
        }
    };
    ask(command::WRITE, nbd::command_flag::FUA, 1, 4096);
    ask(command::TRIM, nbd::command_flag::FUA, 2, 512);
    ask(command::FLUSH, 0, 3, 0);
    ask(command::READ, 0, 4, 1 << 20);
    if disconnect {
        ask(command::DISCONNECT, 0, 0, 0);
    }
    stream.write_all(&message).unwrap();
    if !disconnect {
        stream.shutdown(std::net::Shutdown::Write).unwrap();
    }
}

#[test]
fn who_says_goodbye_is_sent_every_reply_that_it_is_owed() {
    let (_backing, store) = Backing::new();
    // The drive takes 2 ms, so nothing is done when the goodbye comes.
    let server = Server::start(Box::new(Timed::new(|_| 2_000_000)), store, 1.0);
    for round in 0..100 {
        let mut stream = server.raw();
        ask_and_leave(&mut stream, round % 2 == 0);
        let mut cookies = Vec::new();
        for _ in 0..4 {
            let (cookie, error) = reply(&mut stream);
            assert_eq!(error, 0);
            if cookie == 4 {
                stream.read_exact(&mut vec![0; 1 << 20]).unwrap();
            }
            cookies.push(cookie);
        }
        cookies.sort_unstable();
        assert_eq!(cookies, [1, 2, 3, 4]);
        assert_eq!(stream.read(&mut [0; 1]).unwrap(), 0, "then the connection is closed");
    }
    assert_eq!(server.stop().requests, 300, "flushes count apart");
}

#[test]
fn a_write_whose_data_never_come_gets_no_reply_and_all_before_it_do() {
    let server = Server::timed(|_| 20_000_000, 1.0);
    let mut stream = server.raw();
    ask(&mut stream, command::READ, 1, 0, 512);
    ask(&mut stream, command::WRITE, 2, 0, 4096);
    stream.write_all(&[1; 1000]).unwrap();
    stream.shutdown(std::net::Shutdown::Write).unwrap();
    assert_eq!(reply(&mut stream), (1, 0));
    stream.read_exact(&mut [0; 512]).unwrap();
    assert_eq!(stream.read(&mut [0; 1]).unwrap(), 0);
    // More than one client's share is in flight when it ends its side.
    let mut stream = server.raw();
    for cookie in 0..1_000 {
        ask(&mut stream, command::TRIM, cookie, 0, 512);
    }
    stream.shutdown(std::net::Shutdown::Write).unwrap();
    let mut cookies: Vec<u64> = (0..1_000).map(|_| reply(&mut stream).0).collect();
    cookies.sort_unstable();
    assert!(cookies.into_iter().eq(0..1_000));
    server.stop();
}
