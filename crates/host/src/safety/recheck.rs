//! Whether a target that is being written may still be: the checks of its opening, asked again.
//!
//! Mounts, other users, wear and temperature change while writing goes on. They are asked for before
//! writing begins or goes on after a pause, and every [`HOLDS`] in between. An answer takes
//! milliseconds, which no request may wait for whose time counts: so a thread of its own asks while
//! nothing is in flight, and while writing goes on.

use super::refusal::Refusal;
use ssdscope_io::{DeviceError, Nanos};
use std::fs::File;
use std::sync::Arc;
use std::thread::JoinHandle;

/// How long an answer holds while writing goes on: a drive under load warms within minutes.
const HOLDS: Nanos = Nanos(10_000_000_000);
/// What goes on after a second without any request is a phase of its own.
const PAUSE: Nanos = Nanos(1_000_000_000);
/// How old an answer may be that was asked for during a pause.
const FRESH: Nanos = Nanos(2_000_000_000);

/// When it is asked, which says how much.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Moment {
    /// Before writing begins, or goes on after a pause.
    Phase,
    /// While it goes on.
    Meanwhile,
    /// In a pause, where nothing may be sent to the drive.
    Pause,
    /// Before writing for clients, who reach the target by a descriptor of their own.
    Served,
}

/// Asks the open target whether it may still be written.
pub(crate) type Ask = Arc<dyn Fn(&File, Moment) -> Result<(), Refusal> + Send + Sync>;

/// What is known of whether a target may be written.
pub(crate) struct Recheck {
    ask: Ask,
    file: Arc<File>,
    phase: Moment,
    asked: Option<Nanos>,
    /// When the last request was issued.
    active: Nanos,
    pending: Option<JoinHandle<Result<(), Refusal>>>,
    /// What was answered in a pause, if that ends the writing.
    refused: Option<DeviceError>,
}

impl Recheck {
    /// `phase` is what is asked before a phase: as to clients or not.
    pub(crate) fn new(file: Arc<File>, ask: Ask, phase: Moment) -> Self {
        Self { ask, file, phase, asked: None, active: Nanos::ZERO, pending: None, refused: None }
    }

    fn age(&self, now: Nanos) -> Nanos {
        self.asked.map_or(Nanos::MAX, |asked| now.saturating_sub(asked))
    }

    /// Whether the next write begins a phase that nobody has asked about, so that it waits for the
    /// answer.
    pub(crate) fn begins(&self, now: Nanos) -> bool {
        now.saturating_sub(self.active) > PAUSE && self.age(now) > FRESH
    }

    /// Hears of a request that loses nothing.
    pub(crate) fn touch(&mut self, now: Nanos) {
        self.active = now;
    }

    /// Hears that nothing is in flight, and that nothing is waited for but time.
    pub(crate) fn pause(&mut self, now: Nanos) {
        if self.pending.as_ref().is_some_and(JoinHandle::is_finished) {
            self.refused = self.take().and_then(|answer| judge(answer).err());
        }
        let idle = now.saturating_sub(self.active);
        if self.asked.is_some() && idle > PAUSE && self.age(now) > PAUSE && self.pending.is_none() {
            self.asked = Some(now);
            self.refused = self.ask_aside(Moment::Pause).err();
        }
    }

    /// Asks whether writing may begin or go on.
    ///
    /// # Errors
    /// Why it may not any more.
    pub(crate) fn check(&mut self, now: Nanos) -> Result<(), DeviceError> {
        if let Some(refused) = &self.refused {
            return Err(refused.clone());
        }
        let begins = self.begins(now);
        self.active = now;
        if begins {
            drop(self.take());
            self.asked = Some(now);
            return judge((self.ask)(&self.file, self.phase));
        }
        if self.pending.as_ref().is_some_and(JoinHandle::is_finished) {
            return self.take().map_or(Ok(()), judge);
        }
        if self.age(now) > HOLDS && self.pending.is_none() {
            self.asked = Some(now);
            self.ask_aside(Moment::Meanwhile)?;
        }
        Ok(())
    }

    fn ask_aside(&mut self, moment: Moment) -> Result<(), DeviceError> {
        let (ask, file) = (Arc::clone(&self.ask), Arc::clone(&self.file));
        let moment = if self.phase == Moment::Served { self.phase } else { moment };
        match std::thread::Builder::new().spawn(move || ask(&file, moment)) {
            Ok(thread) => self.pending = Some(thread),
            Err(_) => return judge((self.ask)(&self.file, moment)),
        }
        Ok(())
    }

    /// As if the last answer and the last request were long ago.
    #[cfg(test)]
    fn forget(&mut self) {
        (self.asked, self.active) = (None, Nanos::ZERO);
    }

    /// Waits for the answer that was asked for, if one was.
    fn take(&mut self) -> Option<Result<(), Refusal>> {
        self.pending.take().and_then(|thread| thread.join().ok())
    }
}

impl Drop for Recheck {
    fn drop(&mut self) {
        // The thread has the device open: whoever closes it wants it closed.
        drop(self.take());
    }
}

fn judge(answer: Result<(), Refusal>) -> Result<(), DeviceError> {
    answer.map_err(|refusal| DeviceError::Os {
        context: "writing was stopped, the target is not fit for it any more".to_owned(),
        reason: format!("it {refusal}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::health::Health;
    use crate::safety::limits;
    use crate::{Consent, EngineChoice, open_write};
    use ssdscope_io::{Device as _, Lba, Outcome, Request, Sectors};
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::time::{Duration, Instant};

    const SECOND: u64 = 1_000_000_000;

    fn any_file() -> Arc<File> {
        Arc::new(File::open("/dev/null").expect("there is one"))
    }

    /// A drive whose health the test sets, and how often it was asked.
    fn drive() -> (Recheck, Arc<Mutex<Health>>, Arc<AtomicU32>) {
        let health = Arc::new(Mutex::new(Health::default()));
        let asked = Arc::new(AtomicU32::new(0));
        let (told, count) = (Arc::clone(&health), Arc::clone(&asked));
        let ask = move |_: &File, _| {
            count.fetch_add(1, Ordering::SeqCst);
            limits::check_health(&told.lock().expect("no panic"))
        };
        (Recheck::new(any_file(), Arc::new(ask), Moment::Phase), health, asked)
    }

    /// Writes at an instant until the answer that was asked for aside has come.
    fn write_until_told(recheck: &mut Recheck, at: Nanos) -> Result<(), DeviceError> {
        let begun = Instant::now();
        loop {
            recheck.check(at)?;
            if recheck.pending.is_none() || begun.elapsed() > Duration::from_secs(5) {
                return Ok(());
            }
            std::thread::yield_now();
        }
    }

    #[test]
    fn a_drive_is_asked_before_each_phase_and_now_and_then_within_one() {
        let (mut recheck, _, asked) = drive();
        let count = || asked.load(Ordering::SeqCst);
        let start = 100 * SECOND;
        for tenth in 0..=100 {
            write_until_told(&mut recheck, Nanos(start + tenth * SECOND / 10)).unwrap();
        }
        assert_eq!(count(), 1, "ten seconds of writing, one answer");
        write_until_told(&mut recheck, Nanos(start + 10 * SECOND + 1)).unwrap();
        assert_eq!(count(), 2, "it holds for ten seconds");
        recheck.check(Nanos(start + 13 * SECOND)).unwrap();
        assert_eq!(count(), 3, "a phase of its own");
    }

    #[test]
    fn a_pause_is_asked_about_while_it_lasts_and_no_write_waits_for_that() {
        let (mut recheck, health, asked) = drive();
        let count = || asked.load(Ordering::SeqCst);
        let start = 100 * SECOND;
        recheck.check(Nanos(start)).unwrap();
        for millis in (0..10_000).step_by(20) {
            recheck.pause(Nanos(start + millis * SECOND / 1000));
            if let Some(thread) = &recheck.pending {
                while !thread.is_finished() {
                    std::thread::yield_now();
                }
            }
        }
        assert_eq!(count(), 10, "once before, and about once a second of the pause");
        assert!(!recheck.begins(Nanos(start + 10 * SECOND)));
        recheck.check(Nanos(start + 10 * SECOND)).unwrap();
        assert_eq!(count(), 10, "the answer is fresh");
        health.lock().unwrap().celsius = Some(80);
        recheck.pause(Nanos(start + 12 * SECOND));
        while !recheck.pending.as_ref().is_none_or(JoinHandle::is_finished) {
            std::thread::yield_now();
        }
        recheck.pause(Nanos(start + 12 * SECOND + 1));
        let refused = recheck.check(Nanos(start + 13 * SECOND)).unwrap_err();
        assert!(refused.to_string().contains("hot: it reports 80 °C"), "{refused}");
    }

    #[test]
    fn reads_go_on_without_a_pause() {
        let (mut recheck, _, asked) = drive();
        recheck.check(Nanos(100 * SECOND)).unwrap();
        for second in 101..105 {
            recheck.touch(Nanos(second * SECOND));
        }
        recheck.check(Nanos(105 * SECOND)).unwrap();
        assert_eq!(asked.load(Ordering::SeqCst), 1);
    }

    #[test]
    fn what_changed_meanwhile_stops_the_writing_with_its_reason() {
        let changes = [
            (Health { used_percent: Some(90), ..Health::default() }, "worn: it reports 90 %"),
            (Health { celsius: Some(71), ..Health::default() }, "hot: it reports 71 °C"),
            (Health { critical: vec!["spare is low".into()], ..Health::default() }, "spare is low"),
        ];
        for (worse, says) in changes {
            let (mut recheck, health, _) = drive();
            recheck.check(Nanos(100 * SECOND)).unwrap();
            *health.lock().unwrap() = worse.clone();
            for tenth in 1..=100 {
                recheck.check(Nanos(100 * SECOND + tenth * SECOND / 10)).unwrap();
            }
            let within = write_until_told(&mut recheck, Nanos(110 * SECOND + 1)).unwrap_err();
            assert!(within.to_string().contains(says), "{within}");
            assert!(within.to_string().contains("not fit for it any more"), "{within}");
            let (mut recheck, health, _) = drive();
            *health.lock().unwrap() = worse;
            let before = recheck.check(Nanos(100 * SECOND)).unwrap_err();
            assert_eq!(before, within);
        }
    }

    #[test]
    fn a_run_is_stopped_and_what_was_written_until_then_counts() {
        let name = format!("ssdscope-recheck-{}", std::process::id());
        let path = std::env::temp_dir().join(&name);
        std::fs::write(&path, [0; 1 << 16]).unwrap();
        let token = format!("FILE:{name}");
        let consent = Consent::by_token(&token);
        let mut device = open_write(&path, &consent, EngineChoice::Auto).unwrap();
        let (mut recheck, health, _) = drive();
        recheck.check(device.now()).unwrap();
        device.guard().watch(recheck);
        let write = |id| Request::write(id, Lba(id * 8), Sectors(8));
        device.submit(Nanos::ZERO, write(1)).unwrap();
        let mut completions = Vec::new();
        while completions.is_empty() {
            device.advance(device.now() + Nanos(SECOND), &mut completions).unwrap();
        }
        assert_eq!(completions[0].outcome, Outcome::Done);
        health.lock().unwrap().celsius = Some(80);
        device.guard().recheck().forget();
        let stopped = device.submit(Nanos::ZERO, write(2)).unwrap_err();
        assert!(stopped.to_string().contains("hot: it reports 80 °C"), "{stopped}");
        assert_eq!(
            device.submit(Nanos::ZERO, write(3)),
            Err(stopped),
            "nothing is written after it"
        );
        std::fs::remove_file(path).unwrap();
    }

    #[test]
    fn a_drive_that_answers_slowly_holds_up_no_write() {
        let (release, held) = std::sync::mpsc::channel::<()>();
        let held = Mutex::new(held);
        let first = AtomicU32::new(0);
        let ask = move |_: &File, _| {
            if first.fetch_add(1, Ordering::SeqCst) > 0 {
                held.lock().expect("no panic").recv().ok();
            }
            Ok(())
        };
        let mut recheck = Recheck::new(any_file(), Arc::new(ask), Moment::Phase);
        for tenth in 0..=150 {
            recheck.check(Nanos(100 * SECOND + tenth * SECOND / 10)).unwrap();
        }
        assert!(recheck.pending.is_some(), "asked, and not yet answered");
        release.send(()).unwrap();
        write_until_told(&mut recheck, Nanos(115 * SECOND)).unwrap();
        assert!(recheck.pending.is_none());
    }
}
