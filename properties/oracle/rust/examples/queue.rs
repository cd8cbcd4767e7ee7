//! A provider on its first day: a queue of activities with locks, three methods of nineteen. It gets a verdict on these.
//!
//!     simrun oracle --seeds 200 --timeout 5m -- cargo run --quiet --example queue

use async_trait::async_trait;
use durosim::{Factory, Offers};
use duroxide::Event;
use duroxide::providers::{
    DispatcherCapabilityFilter, ExecutionMetadata, OrchestrationItem, Provider, ProviderError,
    ScheduledActivityIdentifier, SessionFetchConfig, TagFilter, WorkItem,
};
use std::collections::HashMap;
use std::sync::Mutex;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A queued activity.
struct Row {
    item: WorkItem,
    attempts: u32,
    token: String,
    locked_until: Duration,
}

#[derive(Default)]
struct State {
    rows: Vec<Row>,
    /// Who owns a session, and until when.
    sessions: HashMap<String, (String, Duration)>,
    tokens: u64,
}

#[derive(Default)]
pub struct Queue {
    state: Mutex<State>,
    /// A mistake: locks never run out.
    pub forever: bool,
}

/// The time of day, as duroxide's own providers take it.
fn now() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970")
}

#[async_trait]
impl Provider for Queue {
    fn name(&self) -> &str {
        "queue"
    }

    async fn enqueue_for_worker(&self, item: WorkItem) -> Result<(), ProviderError> {
        if !matches!(item, WorkItem::ActivityExecute { .. }) {
            return Err(ProviderError::permanent("enqueue_for_worker", "no activity"));
        }
        let row = Row { item, attempts: 0, token: String::new(), locked_until: Duration::ZERO };
        self.state.lock().expect("nobody panics").rows.push(row);
        Ok(())
    }

    async fn fetch_work_item(
        &self,
        lock_timeout: Duration,
        _poll_timeout: Duration,
        session: Option<&SessionFetchConfig>,
        tag_filter: &TagFilter,
    ) -> Result<Option<(WorkItem, String, u32)>, ProviderError> {
        let mut state = self.state.lock().expect("nobody panics");
        let State { rows, sessions, tokens } = &mut *state;
        let now = now();
        for row in rows {
            let WorkItem::ActivityExecute { session_id, tag, .. } = &row.item else { continue };
            if !tag_filter.matches(tag.as_deref()) || row.locked_until > now {
                continue;
            }
            if let Some(id) = session_id {
                let Some(caller) = session else { continue };
                let owner = sessions.get(id).filter(|(_, until)| *until > now);
                if owner.is_some_and(|(owner, _)| *owner != caller.owner_id) {
                    continue;
                }
                sessions.insert(id.clone(), (caller.owner_id.clone(), now + caller.lock_timeout));
            }
            *tokens += 1;
            row.token = format!("token-{tokens}");
            row.locked_until = if self.forever { Duration::MAX } else { now + lock_timeout };
            row.attempts += 1;
            return Ok(Some((row.item.clone(), row.token.clone(), row.attempts)));
        }
        Ok(None)
    }

    async fn ack_work_item(&self, token: &str, completion: Option<WorkItem>) -> Result<(), ProviderError> {
        use WorkItem::{ActivityCompleted, ActivityFailed};
        if !matches!(completion, None | Some(ActivityCompleted { .. } | ActivityFailed { .. })) {
            return Err(ProviderError::permanent("ack_work_item", "no completion"));
        }
        let mut state = self.state.lock().expect("nobody panics");
        let live = |row: &Row| row.token == token && row.locked_until > now();
        let invalid = || ProviderError::permanent("ack_work_item", "Invalid lock token");
        let at = state.rows.iter().position(live).ok_or_else(invalid)?;
        state.rows.remove(at);
        Ok(())
    }

    // The rest, a completion's way to its orchestration included, is for other days. The checks do not call it, since
    // FirstDay says so.
    async fn fetch_orchestration_item(
        &self,
        _: Duration,
        _: Duration,
        _: Option<&DispatcherCapabilityFilter>,
    ) -> Result<Option<(OrchestrationItem, String, u32)>, ProviderError> {
        unimplemented!()
    }
    async fn ack_orchestration_item(
        &self,
        _: &str,
        _: u64,
        _: Vec<Event>,
        _: Vec<WorkItem>,
        _: Vec<WorkItem>,
        _: ExecutionMetadata,
        _: Vec<ScheduledActivityIdentifier>,
    ) -> Result<(), ProviderError> {
        unimplemented!()
    }
    async fn abandon_orchestration_item(&self, _: &str, _: Option<Duration>, _: bool) -> Result<(), ProviderError> {
        unimplemented!()
    }
    async fn renew_orchestration_item_lock(&self, _: &str, _: Duration) -> Result<(), ProviderError> {
        unimplemented!()
    }
    async fn enqueue_for_orchestrator(&self, _: WorkItem, _: Option<Duration>) -> Result<(), ProviderError> {
        unimplemented!()
    }
    async fn read(&self, _: &str) -> Result<Vec<Event>, ProviderError> {
        unimplemented!()
    }
    async fn read_with_execution(&self, _: &str, _: u64) -> Result<Vec<Event>, ProviderError> {
        unimplemented!()
    }
    async fn append_with_execution(&self, _: &str, _: u64, _: Vec<Event>) -> Result<(), ProviderError> {
        unimplemented!()
    }
    async fn renew_work_item_lock(&self, _: &str, _: Duration) -> Result<(), ProviderError> {
        unimplemented!()
    }
    async fn abandon_work_item(&self, _: &str, _: Option<Duration>, _: bool) -> Result<(), ProviderError> {
        unimplemented!()
    }
    async fn renew_session_lock(&self, _: &[&str], _: Duration, _: Duration) -> Result<usize, ProviderError> {
        unimplemented!()
    }
    async fn cleanup_orphaned_sessions(&self, _: Duration) -> Result<usize, ProviderError> {
        unimplemented!()
    }
    async fn get_custom_status(&self, _: &str, _: u64) -> Result<Option<(Option<String>, u64)>, ProviderError> {
        unimplemented!()
    }
    async fn get_kv_value(&self, _: &str, _: &str) -> Result<Option<String>, ProviderError> {
        unimplemented!()
    }
    async fn get_kv_all_values(&self, _: &str) -> Result<HashMap<String, String>, ProviderError> {
        unimplemented!()
    }
    async fn get_instance_stats(&self, _: &str) -> Result<Option<duroxide::SystemStats>, ProviderError> {
        unimplemented!()
    }
}

/// What the queue can do so far.
#[derive(Default)]
pub struct FirstDay {
    pub forever: bool,
}

#[async_trait]
impl Factory for FirstDay {
    type Provider = Queue;

    async fn create(&self) -> Queue {
        Queue { forever: self.forever, ..Queue::default() }
    }

    fn offers(&self) -> Offers {
        Offers::default().only(&["enqueue_for_worker", "fetch_work_item", "ack_work_item"])
    }
}

#[allow(dead_code)] // tests take the module without it
fn main() -> std::io::Result<()> {
    durosim::serve(FirstDay::default())
}
