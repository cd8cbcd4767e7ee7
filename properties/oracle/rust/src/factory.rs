//! What a test says about the provider that it checks.

use crate::calls::{ADMIN_METHODS, METHODS};
use async_trait::async_trait;
use duroxide::providers::{Provider, WorkItem};
use std::future::Future;

/// Makes the stores that are checked, and says what can be done to them.
///
/// A closure that returns a future of a provider is a factory, too.
#[async_trait]
pub trait Factory: Send + Sync + 'static {
    type Provider: Provider;

    /// Makes an empty store that shares nothing with others. It is called for each case and each sequence; the store
    /// before is dropped first.
    async fn create(&self) -> Self::Provider;

    /// What the store can do and does not have.
    fn offers(&self) -> Offers {
        Offers::default()
    }

    /// Replaces a stored event by bytes that cannot be decoded. Called if [Offers::corrupt_event] is set. The error says
    /// that there is no such event.
    async fn corrupt_event(&self, _store: &Self::Provider, _instance: &str, _execution: u64, _event: u64) -> Result<(), String> {
        Err("corrupt_event is offered and not implemented".to_owned())
    }

    /// Replaces the newest row of either queue that holds this item by bytes that cannot be decoded. Called if
    /// [Offers::corrupt_message] is set. The error says that there is no such row.
    async fn corrupt_message(&self, _store: &Self::Provider, _item: &WorkItem) -> Result<(), String> {
        Err("corrupt_message is offered and not implemented".to_owned())
    }

    /// Makes the storage fail, with an error that the provider tells as retryable, before a step of the next
    /// `ack_orchestration_item`: the steps are the provider's own, counted from 0, and begin again behind the last. None
    /// ends that. Called if [Offers::fail_ack_step] is set.
    async fn fail_ack_step(&self, _store: &Self::Provider, _step: Option<u64>) -> Result<(), String> {
        Err("fail_ack_step is offered and not implemented".to_owned())
    }

    /// Waits until nothing goes on in the store behind the back of its caller, such as the end of a transaction that was
    /// dropped. Called after each call that does not overlap with another.
    async fn settle(&self, _store: &Self::Provider) {}
}

/// What a store can do and does not have. A check that needs what is not there is left out, and listed.
#[derive(Clone, Debug)]
pub struct Offers {
    pub(crate) lacks: Vec<&'static str>,
    pub(crate) virtual_clock: bool,
    pub(crate) clock_from: u64,
    pub(crate) corrupt_event: bool,
    pub(crate) corrupt_message: bool,
    pub(crate) fail_ack_step: bool,
    pub(crate) long_polls: bool,
    pub(crate) sequential: bool,
}

/// When a virtual clock starts: times near 0 would hide mistakes with times before now.
const START_MS: u64 = 1_000_000_000;

impl Default for Offers {
    fn default() -> Self {
        Offers {
            lacks: Vec::new(),
            virtual_clock: crate::clock::AVAILABLE,
            clock_from: START_MS,
            corrupt_event: false,
            corrupt_message: false,
            fail_ack_step: false,
            long_polls: false,
            sequential: false,
        }
    }
}

impl Offers {
    /// The provider does not have this method yet, such as `"get_instance_stats"`, or it is to be left out.
    ///
    /// # Panics
    /// If no method of a provider has this name.
    pub fn lacks(mut self, method: &str) -> Self {
        let known = METHODS.iter().chain(&ADMIN_METHODS).find(|m| **m == method);
        self.lacks.push(known.unwrap_or_else(|| panic!("no method of a provider is named {method:?}")));
        self
    }

    /// The provider has these methods so far, and no other.
    ///
    /// # Panics
    /// If no method of a provider has one of these names.
    pub fn only(mut self, methods: &[&str]) -> Self {
        let all = METHODS.iter().chain(&ADMIN_METHODS);
        if let Some(unknown) = methods.iter().find(|m| !all.clone().any(|a| a == *m)) {
            panic!("no method of a provider is named {unknown:?}");
        }
        self.lacks = all.filter(|m| !methods.contains(m)).copied().collect();
        self
    }

    /// The store's time is not that of this program, since its database has a clock of its own: checks wait in real
    /// time, and leave out what depends on the millisecond.
    pub fn real_clock(mut self) -> Self {
        self.virtual_clock = false;
        self
    }

    /// The virtual clock starts at this time, in milliseconds since 1970 and not 0: for a database that compares the
    /// caller's time with its own.
    pub fn clock_from(mut self, now_ms: u64) -> Self {
        self.clock_from = now_ms;
        self
    }

    /// [Factory::corrupt_event] is there.
    pub fn corrupt_event(mut self) -> Self {
        self.corrupt_event = true;
        self
    }

    /// [Factory::corrupt_message] is there.
    pub fn corrupt_message(mut self) -> Self {
        self.corrupt_message = true;
        self
    }

    /// [Factory::fail_ack_step] is there.
    pub fn fail_ack_step(mut self) -> Self {
        self.fail_ack_step = true;
        self
    }

    /// Calls are made one after the other. Without this the cases about overlapping calls have them overlap.
    pub fn sequential(mut self) -> Self {
        self.sequential = true;
        self
    }

    /// A fetch that finds nothing waits for work, up to its poll timeout. Goes with [Offers::real_clock].
    pub fn long_polls(mut self) -> Self {
        self.long_polls = true;
        self
    }
}

#[async_trait]
impl<F, Made, P> Factory for F
where
    F: Fn() -> Made + Send + Sync + 'static,
    Made: Future<Output = P> + Send + 'static,
    P: Provider,
{
    type Provider = P;

    async fn create(&self) -> P {
        self().await
    }
}
