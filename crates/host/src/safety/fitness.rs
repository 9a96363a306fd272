//! Whether a drive that is being written is still fit to be: check 8, asked again.
//!
//! Wear, spare and temperature change while writing goes on. They are asked for before writing
//! begins or goes on after a pause, and every [`HOLDS`] in between. A drive takes milliseconds to
//! answer, so in between a thread of its own asks, and the answer is taken when it is there.

use super::limits;
use crate::health::Health;
use ssdscope_io::{DeviceError, Nanos};
use std::sync::Arc;
use std::thread::JoinHandle;

/// How long an answer holds while writing goes on: a drive under load warms within minutes.
const HOLDS: Nanos = Nanos(10_000_000_000);
/// Writing that goes on after a second without any is a phase of its own.
const PAUSE: Nanos = Nanos(1_000_000_000);

/// Asks a drive for its health.
pub(crate) type Ask = Arc<dyn Fn() -> Health + Send + Sync>;

/// What is known of a drive's fitness.
pub(crate) struct Fitness {
    ask: Ask,
    asked: Option<Nanos>,
    written: Nanos,
    pending: Option<JoinHandle<Health>>,
}

impl Fitness {
    pub(crate) fn new(ask: Ask) -> Self {
        Self { ask, asked: None, written: Nanos::ZERO, pending: None }
    }

    /// Asks whether writing may begin or go on.
    ///
    /// # Errors
    /// Why the drive is not fit any more.
    pub(crate) fn check(&mut self, now: Nanos) -> Result<(), DeviceError> {
        let age = self.asked.map_or(Nanos::MAX, |asked| now.saturating_sub(asked));
        let pause = now.saturating_sub(self.written);
        self.written = now;
        if age > PAUSE && pause > PAUSE {
            drop(self.take());
            self.asked = Some(now);
            return judge(&(self.ask)());
        }
        if self.pending.as_ref().is_some_and(JoinHandle::is_finished) {
            return self.take().map_or(Ok(()), |health| judge(&health));
        }
        if age > HOLDS && self.pending.is_none() {
            self.asked = Some(now);
            self.ask_aside()?;
        }
        Ok(())
    }

    fn ask_aside(&mut self) -> Result<(), DeviceError> {
        let ask = Arc::clone(&self.ask);
        match std::thread::Builder::new().spawn(move || ask()) {
            Ok(thread) => self.pending = Some(thread),
            Err(_) => return judge(&(self.ask)()),
        }
        Ok(())
    }

    /// As if the last answer and the last write were long ago.
    #[cfg(test)]
    fn forget(&mut self) {
        (self.asked, self.written) = (None, Nanos::ZERO);
    }

    /// Waits for the answer that was asked for, if one was.
    fn take(&mut self) -> Option<Health> {
        self.pending.take().and_then(|thread| thread.join().ok())
    }
}

impl Drop for Fitness {
    fn drop(&mut self) {
        // The thread has the device open: whoever closes it wants it closed.
        drop(self.take());
    }
}

fn judge(health: &Health) -> Result<(), DeviceError> {
    limits::check_health(health).map_err(|refusal| DeviceError::Os {
        context: "writing was stopped, the drive is not fit for it any more".to_owned(),
        reason: format!("it {refusal}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Consent, EngineChoice, open_write};
    use ssdscope_io::{Device as _, Lba, Outcome, Request, Sectors};
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::time::{Duration, Instant};

    const SECOND: u64 = 1_000_000_000;

    /// A drive whose health the test sets, and how often it was asked.
    fn drive() -> (Fitness, Arc<Mutex<Health>>, Arc<AtomicU32>) {
        let health = Arc::new(Mutex::new(Health::default()));
        let asked = Arc::new(AtomicU32::new(0));
        let (told, count) = (Arc::clone(&health), Arc::clone(&asked));
        let ask = move || {
            count.fetch_add(1, Ordering::SeqCst);
            told.lock().expect("no panic").clone()
        };
        (Fitness::new(Arc::new(ask)), health, asked)
    }

    /// Writes at an instant until the answer that was asked for aside has come.
    fn write_until_told(fitness: &mut Fitness, at: Nanos) -> Result<(), DeviceError> {
        let begun = Instant::now();
        loop {
            fitness.check(at)?;
            if fitness.pending.is_none() || begun.elapsed() > Duration::from_secs(5) {
                return Ok(());
            }
            std::thread::yield_now();
        }
    }

    #[test]
    fn a_drive_is_asked_before_each_phase_and_now_and_then_within_one() {
        let (mut fitness, _, asked) = drive();
        let count = || asked.load(Ordering::SeqCst);
        let start = 100 * SECOND;
        for tenth in 0..=100 {
            write_until_told(&mut fitness, Nanos(start + tenth * SECOND / 10)).unwrap();
        }
        assert_eq!(count(), 1, "ten seconds of writing, one answer");
        write_until_told(&mut fitness, Nanos(start + 10 * SECOND + 1)).unwrap();
        assert_eq!(count(), 2, "it holds for ten seconds");
        fitness.check(Nanos(start + 13 * SECOND)).unwrap();
        assert_eq!(count(), 3, "a phase of its own");
    }

    #[test]
    fn what_changed_meanwhile_stops_the_writing_with_its_reason() {
        let changes = [
            (Health { used_percent: Some(90), ..Health::default() }, "worn: it reports 90 %"),
            (Health { celsius: Some(71), ..Health::default() }, "hot: it reports 71 °C"),
            (Health { critical: vec!["spare is low".into()], ..Health::default() }, "spare is low"),
        ];
        for (worse, says) in changes {
            let (mut fitness, health, _) = drive();
            fitness.check(Nanos(100 * SECOND)).unwrap();
            *health.lock().unwrap() = worse.clone();
            for tenth in 1..=100 {
                fitness.check(Nanos(100 * SECOND + tenth * SECOND / 10)).unwrap();
            }
            let within = write_until_told(&mut fitness, Nanos(110 * SECOND + 1)).unwrap_err();
            assert!(within.to_string().contains(says), "{within}");
            assert!(within.to_string().contains("not fit for it any more"), "{within}");
            let (mut fitness, health, _) = drive();
            *health.lock().unwrap() = worse;
            let before = fitness.check(Nanos(100 * SECOND)).unwrap_err();
            assert_eq!(before, within);
        }
    }

    #[test]
    fn a_run_is_stopped_and_what_was_written_until_then_counts() {
        let name = format!("ssdscope-fitness-{}", std::process::id());
        let path = std::env::temp_dir().join(&name);
        std::fs::write(&path, [0; 1 << 16]).unwrap();
        let token = format!("FILE:{name}");
        let consent = Consent::by_token(&token);
        let mut device = open_write(&path, &consent, EngineChoice::Auto, &mut || true).unwrap();
        let (mut fitness, health, _) = drive();
        fitness.check(device.now()).unwrap();
        device.watch_fitness(fitness);
        let write = |id| Request::write(id, Lba(id * 8), Sectors(8));
        device.submit(Nanos::ZERO, write(1)).unwrap();
        let mut completions = Vec::new();
        while completions.is_empty() {
            device.advance(device.now() + Nanos(SECOND), &mut completions).unwrap();
        }
        assert_eq!(completions[0].outcome, Outcome::Done);
        health.lock().unwrap().celsius = Some(80);
        device.fitness().expect("it is watched").forget();
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
        let ask = move || {
            if first.fetch_add(1, Ordering::SeqCst) > 0 {
                held.lock().expect("no panic").recv().ok();
            }
            Health::default()
        };
        let mut fitness = Fitness::new(Arc::new(ask));
        for tenth in 0..=150 {
            fitness.check(Nanos(100 * SECOND + tenth * SECOND / 10)).unwrap();
        }
        assert!(fitness.pending.is_some(), "asked, and not yet answered");
        release.send(()).unwrap();
        write_until_told(&mut fitness, Nanos(115 * SECOND)).unwrap();
        assert!(fitness.pending.is_none());
    }
}
