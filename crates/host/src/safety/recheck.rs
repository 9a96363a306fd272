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
/// How long nothing is in flight before somebody asks, so that the answer is there when a phase
/// begins.
const LEAD: Nanos = Nanos(800_000_000);
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
    /// When that was asked which was answered last: go on.
    answered: Option<Nanos>,
    /// When the last request was issued.
    active: Nanos,
    pending: Option<JoinHandle<Result<(), Refusal>>>,
    /// What was answered in a pause, if that ends the writing.
    refused: Option<DeviceError>,
}

impl Recheck {
    /// `phase` is what is asked before a phase: as to clients or not.
    pub(crate) fn new(file: Arc<File>, ask: Ask, phase: Moment) -> Self {
        let (asked, answered, pending, refused) = (None, None, None, None);
        Self { ask, file, phase, asked, answered, active: Nanos::ZERO, pending, refused }
    }

    /// The same of a target that was asked about right now, when it was opened.
    pub(crate) fn asked_at(mut self, now: Nanos) -> Self {
        (self.asked, self.answered) = (Some(now), Some(now));
        self
    }

    fn age(&self, now: Nanos) -> Nanos {
        self.asked.map_or(Nanos::MAX, |asked| now.saturating_sub(asked))
    }

    /// Whether the next write begins a phase that nobody has asked about since the last request,
    /// so that it waits for the answer.
    pub(crate) fn begins(&self, now: Nanos) -> bool {
        let is_known = self.answered.is_some_and(|at| at > self.active && now < at + FRESH);
        now.saturating_sub(self.active) > PAUSE && !is_known
    }

    /// Hears that somebody opened the target: the next write asks.
    pub(crate) fn doubt(&mut self) {
        self.wait(); // who is asked right now may have looked before
        (self.answered, self.active) = (None, Nanos::ZERO);
    }

    /// Hears of a request that loses nothing.
    pub(crate) fn touch(&mut self, now: Nanos) {
        self.active = now;
    }

    /// Hears that nothing is in flight, and that nothing is waited for but time.
    pub(crate) fn pause(&mut self, now: Nanos) {
        self.collect();
        let idle = now.saturating_sub(self.active);
        let begun = self.asked.is_some() && self.refused.is_none();
        if begun && idle > LEAD && self.age(now) > LEAD && self.pending.is_none() {
            self.ask_aside(now, Moment::Pause);
        }
    }

    /// Asks whether writing may begin or go on.
    ///
    /// # Errors
    /// Why it may not any more.
    pub(crate) fn check(&mut self, now: Nanos) -> Result<(), DeviceError> {
        self.collect();
        if self.pending.is_some() && self.begins(now) {
            self.wait();
        }
        if self.refused.is_none() && self.begins(now) {
            self.ask_now(now, self.phase);
        } else if self.age(now) > HOLDS && self.pending.is_none() {
            self.ask_aside(now, Moment::Meanwhile);
        }
        self.active = now;
        self.refused.clone().map_or(Ok(()), Err)
    }

    fn ask_now(&mut self, now: Nanos, moment: Moment) {
        self.asked = Some(now);
        let answer = (self.ask)(&self.file, moment);
        self.note(answer);
    }

    fn note(&mut self, answer: Result<(), Refusal>) {
        match judge(answer) {
            Ok(()) => self.answered = self.asked,
            Err(error) => self.refused = Some(error),
        }
    }

    /// Takes the answer that was asked for aside, if it is there.
    fn collect(&mut self) {
        if self.pending.as_ref().is_some_and(JoinHandle::is_finished) {
            self.wait();
        }
    }

    /// Waits for the answer that was asked for aside, if one was.
    fn wait(&mut self) {
        if let Some(answer) = self.pending.take().and_then(|thread| thread.join().ok()) {
            self.note(answer);
        }
    }

    fn ask_aside(&mut self, now: Nanos, moment: Moment) {
        let (ask, file) = (Arc::clone(&self.ask), Arc::clone(&self.file));
        let moment = if self.phase == Moment::Served { self.phase } else { moment };
        match std::thread::Builder::new().spawn(move || ask(&file, moment)) {
            Ok(thread) => (self.asked, self.pending) = (Some(now), Some(thread)),
            Err(_) => self.ask_now(now, moment),
        }
    }

    /// As if the last answer and the last request were long ago.
    #[cfg(test)]
    fn forget(&mut self) {
        self.asked = None;
        self.doubt();
    }
}

impl Drop for Recheck {
    fn drop(&mut self) {
        // The thread has the device open: whoever closes it wants it closed.
        self.wait();
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
        let before = count();
        assert!((10..=13).contains(&before), "about once a second of the pause: {before}");
        assert!(!recheck.begins(Nanos(start + 10 * SECOND)));
        recheck.check(Nanos(start + 10 * SECOND)).unwrap();
        assert_eq!(count(), before, "the answer is fresh");
        health.lock().unwrap().celsius = Some(80);
        recheck.pause(Nanos(start + 12 * SECOND));
        while !recheck.pending.as_ref().is_none_or(JoinHandle::is_finished) {
            std::thread::yield_now();
        }
        recheck.pause(Nanos(start + 12 * SECOND + 1));
        let refused = recheck.check(Nanos(start + 13 * SECOND)).unwrap_err();
        assert!(refused.to_string().contains("hot: it reports 80 °C"), "{refused}");
    }

    /// Who comes during a pause is seen before the first write after it, however slow the answer.
    #[test]
    fn a_write_after_a_pause_waits_for_an_answer_that_is_under_way() {
        let came = Arc::new(AtomicU32::new(0));
        let known = Arc::clone(&came);
        let ask = move |_: &File, moment| {
            if moment == Moment::Pause {
                std::thread::sleep(Duration::from_millis(50));
            }
            if known.load(Ordering::SeqCst) == 1 { Err(Refusal::NotAlone) } else { Ok(()) }
        };
        let mut recheck = Recheck::new(any_file(), Arc::new(ask), Moment::Phase);
        recheck.check(Nanos(100 * SECOND)).unwrap();
        came.store(1, Ordering::SeqCst);
        recheck.pause(Nanos(101 * SECOND));
        assert!(recheck.pending.is_some());
        recheck.check(Nanos(101 * SECOND + SECOND / 5)).unwrap_err();
    }

    /// Who comes while an answer is under way was perhaps not seen: that answer counts for nothing.
    #[test]
    fn a_visit_outdates_an_answer_that_is_under_way() {
        let came = Arc::new(AtomicU32::new(0));
        let known = Arc::clone(&came);
        let ask = move |_: &File, moment| {
            let seen = known.load(Ordering::SeqCst);
            if moment == Moment::Pause {
                std::thread::sleep(Duration::from_millis(50));
            }
            if seen == 1 { Err(Refusal::NotAlone) } else { Ok(()) }
        };
        let mut recheck = Recheck::new(any_file(), Arc::new(ask), Moment::Phase);
        recheck.check(Nanos(100 * SECOND)).unwrap();
        recheck.pause(Nanos(101 * SECOND));
        std::thread::sleep(Duration::from_millis(10));
        came.store(1, Ordering::SeqCst);
        recheck.doubt();
        recheck.check(Nanos(101 * SECOND + SECOND / 5)).unwrap_err();
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
