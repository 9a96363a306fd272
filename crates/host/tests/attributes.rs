//! Attributes that are set for a while: on trees made up here, and on a loop device where root
//! may make one. A child that is killed while it sets them is this program, started again.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up fails")]

use ssdscope_host::attributes::{
    AttributeError, Disk, Outcome, Places, Restored, Session, Setting, restore_all,
};
use std::fs;
use std::io::Read as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

const KILLS: u64 = 100;
const CHILD_DISK: &str = "SSDSCOPE_TEST_DISK";
const CHILD_JOURNALS: &str = "SSDSCOPE_TEST_JOURNALS";

/// A folder of its own, removed in the end.
struct Tree(PathBuf);

impl Tree {
    fn new(name: &str) -> Self {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR"))
            .join(format!("attributes-{name}-{}", std::process::id()));
        let queue = folder.join("sys/block/sda/queue");
        fs::create_dir_all(&queue).unwrap();
        for (name, value) in [
            ("scheduler", "none [mq-deadline] kyber"),
            ("nomerges", "0"),
            ("nr_requests", "256"),
            ("wbt_lat_usec", "2000"),
        ] {
            fs::write(queue.join(name), value).unwrap();
        }
        fs::write(folder.join("sys/block/sda/dev"), "8:0\n").unwrap();
        fs::write(folder.join("sys/block/sda/diskseq"), "5\n").unwrap();
        Self(folder)
    }

    fn places(&self) -> Places {
        Places {
            sysfs: self.0.join("sys"),
            devices: self.0.join("dev"),
            journals: self.0.join("run"),
            owner: fs::metadata(&self.0).unwrap().uid(),
            boot: "this-start".into(),
        }
    }

    fn disk(&self) -> Disk {
        Disk::find(&self.places(), "sda").unwrap()
    }

    fn session(&self) -> Result<Session, AttributeError> {
        Session::begin(self.places(), self.disk())
    }

    fn value(&self, setting: Setting) -> String {
        self.disk().read(setting).unwrap()
    }

    fn file(&self, name: &str) -> PathBuf {
        self.0.join("sys/block/sda/queue").join(name)
    }

    fn journal(&self) -> PathBuf {
        self.0.join("run/sda.journal")
    }

    /// Writes a journal as a process that was killed would have left it.
    fn leave(&self, text: &str) {
        fs::create_dir_all(self.0.join("run")).unwrap();
        fs::set_permissions(self.0.join("run"), fs::Permissions::from_mode(0o700)).unwrap();
        let _ = fs::remove_file(self.journal());
        fs::write(self.journal(), text).unwrap();
        fs::set_permissions(self.journal(), fs::Permissions::from_mode(0o600)).unwrap();
    }

    fn restored(&self) -> Vec<Restored> {
        restore_all(&self.places()).unwrap()
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn head(disk: &str, number: &str, sequence: &str, boot: &str) -> String {
    format!("ssdscope attributes 1\t{disk}\t{number}\t{sequence}\t{boot}\n")
}

#[test]
fn a_session_sets_back_what_it_has_set() {
    let tree = Tree::new("session");
    let mut session = tree.session().unwrap();
    assert_eq!(session.set(Setting::Scheduler, "none").unwrap().as_deref(), Some("mq-deadline"));
    assert_eq!(session.set(Setting::NoMerges, "2").unwrap().as_deref(), Some("0"));
    assert_eq!(session.set(Setting::NoMerges, "2").unwrap(), None);
    assert_eq!(fs::metadata(tree.journal()).unwrap().mode() & 0o777, 0o600);
    assert!(matches!(tree.session(), Err(AttributeError::InUse(_))));
    assert_eq!(tree.restored()[0].outcome, Outcome::InUse);
    // The kernel resets these with the scheduler; nobody of ours has.
    fs::write(tree.file("nr_requests"), "128").unwrap();
    drop(session);
    assert_eq!(tree.value(Setting::Scheduler), "mq-deadline");
    assert_eq!(tree.value(Setting::NoMerges), "0");
    assert_eq!(tree.value(Setting::NrRequests), "256");
    assert!(!tree.journal().exists());
    let outcome = std::panic::catch_unwind(|| {
        let mut session = tree.session().unwrap();
        session.set(Setting::NoMerges, "1").unwrap();
        panic!("on purpose");
    });
    assert!(outcome.is_err());
    assert_eq!(tree.value(Setting::NoMerges), "0");
}

#[test]
fn what_may_not_be_set_is_refused_before_anything_changes() {
    let tree = Tree::new("refused");
    let mut session = tree.session().unwrap();
    assert!(matches!(session.set(Setting::NoMerges, "7"), Err(AttributeError::Value { .. })));
    assert!(matches!(session.set(Setting::IoPoll, "1"), Err(AttributeError::NotOffered { .. })));
    assert!(matches!(Disk::find(&tree.places(), "../sda"), Err(AttributeError::NoDisk(_))));
    assert_eq!(tree.value(Setting::NoMerges), "0");
}

#[test]
fn a_value_that_somebody_changed_since_stays() {
    let tree = Tree::new("since");
    let ours = head("sda", "8:0", "5", "this-start");
    tree.leave(&format!("{ours}set\tnomerges\t0\t2\nset\twbt_lat_usec\t2000\t0\nset\tnr_req"));
    fs::write(tree.file("nomerges"), "1").unwrap();
    fs::write(tree.file("wbt_lat_usec"), "0").unwrap();
    let outcomes: Vec<_> = tree.restored().iter().map(|each| each.outcome).collect();
    assert_eq!(outcomes, [Outcome::LeftAlone, Outcome::Restored]);
    assert_eq!(
        (tree.value(Setting::NoMerges), tree.value(Setting::WbtLatUsec)),
        ("1".into(), "2000".into())
    );
    assert!(tree.restored().is_empty(), "once is enough");
}

#[test]
fn the_first_original_wins_over_a_later_process() {
    let tree = Tree::new("first");
    tree.leave(&format!("{}set\tnomerges\t0\t2\n", head("sda", "8:0", "5", "this-start")));
    fs::write(tree.file("nomerges"), "2").unwrap();
    let mut session = tree.session().unwrap();
    assert_eq!(session.set(Setting::NoMerges, "1").unwrap().as_deref(), Some("0"));
    drop(session);
    assert_eq!(tree.value(Setting::NoMerges), "0");
}

#[test]
fn a_restore_that_was_killed_halfway_is_taken_up_again() {
    let tree = Tree::new("halfway");
    let ours = head("sda", "8:0", "5", "this-start");
    tree.leave(&format!(
        "{ours}set\tscheduler\tmq-deadline\tnone\ndrag\tnr_requests\t256\nback\tscheduler\n"
    ));
    fs::write(tree.file("nr_requests"), "64").unwrap();
    tree.restored();
    assert_eq!(tree.value(Setting::NrRequests), "256");
}

#[test]
fn a_journal_of_another_disk_or_start_changes_nothing() {
    let tree = Tree::new("obsolete");
    for first in [
        head("sda", "8:0", "5", "an-earlier-start"),
        head("sda", "8:0", "6", "this-start"),
        head("sda", "8:16", "5", "this-start"),
    ] {
        tree.leave(&format!("{first}set\tnomerges\t1\t0\n"));
        assert_eq!(tree.restored()[0].outcome, Outcome::Obsolete, "{first}");
        assert_eq!(tree.value(Setting::NoMerges), "0");
        assert!(!tree.journal().exists());
    }
}

#[test]
fn a_journal_that_cannot_be_trusted_is_refused_with_its_reason() {
    let tree = Tree::new("trust");
    let ours = head("sda", "8:0", "5", "this-start");
    let cases = [
        ("no journal\n".to_owned(), "first line"),
        (format!("{ours}set\t../../ro\t0\t1\n"), "no attribute"),
        (format!("{ours}set\tnomerges\t9\t0\n"), "no value"),
        (format!("{ours}set\tnomerges\t1\n"), "no step"),
        (format!("{ours}delete\tnomerges\t1\t0\n"), "no step"),
        (format!("{ours}\n"), "no name"),
        (head("../sda", "8:0", "5", "this-start"), "no name of a disk"),
        (head("sdb", "8:0", "5", "this-start"), "names the disk sdb"),
    ];
    let refused = |reason: &str| {
        let done = tree.restored();
        assert_eq!(done[0].outcome, Outcome::Refused, "{reason}");
        assert!(done[0].detail.contains(reason), "{reason}: {}", done[0].detail);
        assert_eq!(tree.value(Setting::NoMerges), "0");
        assert!(fs::symlink_metadata(tree.journal()).is_ok(), "it is evidence, and stays");
    };
    for (text, reason) in cases {
        tree.leave(&text);
        refused(reason);
    }
    let good = format!("{ours}set\tnomerges\t1\t0\n");
    tree.leave(&good);
    fs::set_permissions(tree.journal(), fs::Permissions::from_mode(0o644)).unwrap();
    refused("by others");
    tree.leave(&good);
    fs::rename(tree.journal(), tree.0.join("elsewhere")).unwrap();
    symlink(tree.0.join("elsewhere"), tree.journal()).unwrap();
    refused("symbolic link");
    fs::remove_file(tree.journal()).unwrap();
    fs::hard_link(tree.0.join("elsewhere"), tree.journal()).unwrap();
    refused("second name");
    tree.leave(&good);
    let foreign = Places { owner: tree.places().owner + 1, ..tree.places() };
    assert!(matches!(restore_all(&foreign), Err(AttributeError::Journal { .. })));
    fs::set_permissions(tree.0.join("run"), fs::Permissions::from_mode(0o777)).unwrap();
    assert!(matches!(restore_all(&tree.places()), Err(AttributeError::Journal { .. })));
}

/// A loop device that is detached in the end.
struct Loop {
    name: String,
    file: PathBuf,
}

impl Loop {
    fn attach() -> Result<Self, String> {
        let file = Path::new(env!("CARGO_TARGET_TMPDIR"))
            .join(format!("attributes-{}.img", std::process::id()));
        fs::write(&file, vec![0; 1 << 20]).map_err(|error| error.to_string())?;
        let attached = Command::new("losetup").args(["--find", "--show"]).arg(&file).output();
        let failed = |reason: String| {
            let _ = fs::remove_file(&file);
            Err(reason)
        };
        match attached {
            Err(error) => failed(format!("losetup: {error}")),
            Ok(done) if !done.status.success() => {
                failed(String::from_utf8_lossy(&done.stderr).trim().to_owned())
            }
            Ok(done) => {
                let node = String::from_utf8_lossy(&done.stdout).trim().to_owned();
                Ok(Self { name: node.trim_start_matches("/dev/").to_owned(), file })
            }
        }
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        let _ = Command::new("losetup").arg("-d").arg(format!("/dev/{}", self.name)).status();
        let _ = fs::remove_file(&self.file);
    }
}

/// Values that differ from what a loop device starts with.
const TRIED: [(Setting, [&str; 2]); 5] = [
    (Setting::NoMerges, ["1", "2"]),
    (Setting::ReadAheadKb, ["0", "64"]),
    (Setting::WbtLatUsec, ["0", "5000"]),
    (Setting::RqAffinity, ["2", "0"]),
    (Setting::Scheduler, ["mq-deadline", "none"]),
];

fn loop_places(journals: PathBuf) -> Places {
    Places { journals, ..Places::system() }
}

#[test]
#[ignore = "the child of killed_at_random_moments_everything_comes_back"]
fn child_that_sets() {
    let Ok(name) = std::env::var(CHILD_DISK) else { return };
    let journals = std::env::var(CHILD_JOURNALS).expect("comes with the disk");
    println!("begins");
    loop {
        let places = loop_places(journals.clone().into());
        let disk = Disk::find(&places, &name).expect("the parent made it");
        let mut session = Session::begin(places, disk).expect("nobody else uses it");
        for round in 0..2 {
            for (setting, values) in TRIED {
                // A kernel may lack a scheduler or the throttle.
                let _ = session.set(setting, values[round]);
            }
        }
    }
}

fn start_child(name: &str, journals: &Path) -> Child {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "child_that_sets", "--ignored", "--nocapture"])
        .env(CHILD_DISK, name)
        .env(CHILD_JOURNALS, journals)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut seen = String::new();
    let out = child.stdout.as_mut().unwrap();
    while !seen.contains("begins") {
        let mut bytes = [0; 64];
        let len = out.read(&mut bytes).unwrap();
        assert!(len > 0, "the child ended: {seen}");
        seen.push_str(&String::from_utf8_lossy(&bytes[..len]));
    }
    child
}

fn snapshot(disk: &Disk) -> Vec<(Setting, Option<String>)> {
    Setting::in_sysfs().map(|setting| (setting, disk.read(setting))).collect()
}

/// A step of a linear congruential generator (Knuth, MMIX).
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    *state >> 33
}

#[test]
fn killed_at_random_moments_everything_comes_back() {
    let tree = Tree::new("crash");
    let device = match Loop::attach() {
        Ok(device) => device,
        Err(reason) => {
            eprintln!("skipped: no loop device ({reason})");
            return;
        }
    };
    let places = loop_places(tree.0.join("run"));
    let disk = Disk::find(&places, &device.name).unwrap();
    let before = snapshot(&disk);
    let seed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().subsec_nanos();
    println!("seed {seed}");
    let (mut draws, mut changed) = (u64::from(seed), 0);
    for kill in 0..KILLS {
        let mut child = start_child(&device.name, &places.journals);
        std::thread::sleep(Duration::from_micros(next(&mut draws) % 40_000));
        child.kill().unwrap();
        child.wait().unwrap();
        changed += u64::from(snapshot(&disk) != before);
        let done = restore_all(&places).unwrap();
        assert_eq!(snapshot(&disk), before, "kill {kill} of seed {seed}: {done:?}");
        assert!(restore_all(&places).unwrap().is_empty(), "kill {kill} of seed {seed}");
    }
    println!("{changed} of {KILLS} kills left something changed");
    assert!(changed > KILLS / 4, "the kills of seed {seed} met nothing: {changed}");
}
