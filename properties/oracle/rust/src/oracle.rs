//! Random sequences of calls, each answer judged by the contract.

use crate::factory::Factory;
use crate::simrun;
use std::ops::RangeInclusive;
use std::path::Path;
use std::time::Duration;

/// Checks the stores of a factory with random sequences of calls. [Oracle::run] does it.
#[must_use = "nothing is checked before run is called"]
pub fn oracle<F: Factory>(factory: F) -> Oracle<F> {
    Oracle { factory, seeds: 1..=1000, arguments: Vec::new() }
}

/// A check that is being prepared.
pub struct Oracle<F> {
    factory: F,
    seeds: RangeInclusive<u64>,
    arguments: Vec<String>,
}

impl<F: Factory> Oracle<F> {
    /// Makes the sequences of these seeds. One seed gives one sequence. Without this they are 1 to 1,000.
    pub fn seeds(mut self, seeds: RangeInclusive<u64>) -> Self {
        self.seeds = seeds;
        self
    }

    /// Takes a freedom away that the contract leaves to providers, such as `"F9"`.
    pub fn deny(mut self, freedom: &str) -> Self {
        self.arguments.extend(["--deny".to_owned(), freedom.to_owned()]);
        self
    }

    /// Goes on behind the mistakes that a TOML file lists as known.
    pub fn known(mut self, file: impl AsRef<Path>) -> Self {
        self.arguments.extend(["--known".to_owned(), file.as_ref().display().to_string()]);
        self
    }

    /// How long one answer may take; 10 s if not given.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.arguments.extend(["--timeout".to_owned(), format!("{}ms", timeout.as_millis())]);
        self
    }

    /// Makes all sequences, and sorts what is not allowed into classes, each with its shortest story.
    pub fn keep_going(mut self) -> Self {
        self.arguments.push("--keep-going".to_owned());
        self
    }

    /// Checks, and prints what was left out.
    ///
    /// # Panics
    /// If an answer is not allowed, with the shortest sequence of calls that shows it; if there is no simrun, with how
    /// to get it; if the provider could not be judged.
    #[track_caller]
    pub fn run(self) {
        match self.verdict() {
            Ok(said) => println!("{said}"),
            Err(said) => panic!("{said}"),
        }
    }

    /// What simrun says: Ok if every answer is allowed or known to be wrong, otherwise an error.
    pub fn verdict(self) -> Result<String, String> {
        let seeds = format!("{}..{}", self.seeds.start(), self.seeds.end());
        let mut arguments = vec!["oracle".to_owned(), "--seeds".to_owned(), seeds];
        arguments.extend(self.arguments);
        let verdict = simrun::check(self.factory, arguments)?;
        if verdict.status == Some(0) { Ok(verdict.said) } else { Err(verdict.said) }
    }
}
