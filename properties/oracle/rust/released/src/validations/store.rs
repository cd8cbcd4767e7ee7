//! durosim's store, as the validations are given one.

use async_trait::async_trait;
use durosim::{Builder, Store};
use duroxide::providers::Provider;
use duroxide::provider_validations::ProviderFactory;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

/// Makes stores, each in a process of its own. What else it can do it does to the latest.
pub struct Durosim<'a> {
    prepare: &'a (dyn Fn() -> Builder + Sync),
    made: Mutex<Vec<Store>>,
}

impl<'a> Durosim<'a> {
    pub fn new(prepare: &'a (dyn Fn() -> Builder + Sync)) -> Self {
        Durosim { prepare, made: Mutex::new(Vec::new()) }
    }

    fn stores(&self) -> MutexGuard<'_, Vec<Store>> {
        self.made.lock().expect("nobody panics with this lock")
    }

    fn latest(&self) -> Arc<dyn Provider> {
        self.stores().last().expect("a store was made").provider()
    }
}

#[async_trait]
impl ProviderFactory for Durosim<'_> {
    async fn create_provider(&self) -> Arc<dyn Provider> {
        let store = (self.prepare)().start().expect("a store");
        let provider = store.provider();
        self.stores().push(store);
        provider
    }

    fn lock_timeout(&self) -> Duration {
        Duration::from_secs(1)
    }

    /// Real time, of which a call takes none in virtual time: what is left is how busy the machine is.
    fn short_poll_threshold(&self) -> Duration {
        Duration::from_secs(5)
    }

    async fn corrupt_instance_history(&self, instance: &str) {
        let provider = self.latest();
        let admin = provider.as_management_capability().expect("it has one");
        for execution in admin.list_executions(instance).await.expect("the instance exists") {
            for event in admin.read_history_with_execution_id(instance, execution).await.expect("it is whole so far") {
                let damaged = self.stores().last().map(|store| store.corrupt_event(instance, execution, event.event_id()));
                damaged.expect("a store was made").expect("the event was read");
            }
        }
    }

    /// The count of the fetch after the last: it counts itself, and takes that back.
    async fn get_max_attempt_count(&self, instance: &str) -> u32 {
        let provider = self.latest();
        let found = provider.fetch_orchestration_item(self.lock_timeout(), Duration::ZERO, None).await;
        let (item, token, attempts) = found.expect("a fetch succeeds").expect("the instance has messages");
        assert_eq!(item.instance, instance);
        provider.abandon_orchestration_item(&token, None, true).await.expect("the lock is held");
        attempts - 1
    }
}
