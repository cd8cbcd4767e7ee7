//! What the tests have in common: a store that can refuse and delay calls and counts them, and a way to start a runtime on it.

use duroxide::providers::sqlite::SqliteProvider;
use duroxide::providers::{
    DispatcherCapabilityFilter, ExecutionMetadata, OrchestrationItem, Provider, ProviderAdmin, ProviderError,
    ScheduledActivityIdentifier, SessionFetchConfig, TagFilter, WorkItem,
};
use duroxide::runtime::registry::{ActivityRegistry, OrchestrationRegistry};
use duroxide::runtime::{OrchestrationStatus, Runtime, RuntimeOptions};
use duroxide::{Client, Event, EventKind, INITIAL_EXECUTION_ID, SystemStats};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// The crate's own SQLite provider, in memory; its calls can be refused, delayed and counted.
pub struct Store {
    pub sqlite: SqliteProvider,
    /// How many of the next calls of a method are refused, as retryable.
    refusals: Mutex<HashMap<&'static str, u32>>,
    calls: Mutex<HashMap<&'static str, u32>>,
    /// How long the calls of a method take.
    slow: Mutex<HashMap<&'static str, Duration>>,
}

impl Store {
    pub async fn new() -> Arc<Store> {
        let sqlite = SqliteProvider::new_in_memory().await.expect("a database in memory");
        Arc::new(Store { sqlite, refusals: Mutex::default(), calls: Mutex::default(), slow: Mutex::default() })
    }

    /// Refuses the next calls of a method with a retryable error, as a busy database does.
    pub fn refuse(&self, method: &'static str, times: u32) {
        self.refusals.lock().unwrap().insert(method, times);
    }

    /// Makes each call of a method take so long.
    pub fn slow(&self, method: &'static str, by: Duration) {
        self.slow.lock().unwrap().insert(method, by);
    }

    /// How often a method has been called.
    pub fn calls(&self, method: &'static str) -> u32 {
        self.calls.lock().unwrap().get(method).copied().unwrap_or_default()
    }

    async fn gate(&self, method: &'static str) -> Result<(), ProviderError> {
        let slow = self.slow.lock().unwrap().get(method).copied();
        if let Some(slow) = slow {
            tokio::time::sleep(slow).await;
        }
        *self.calls.lock().unwrap().entry(method).or_default() += 1;
        match self.refusals.lock().unwrap().get_mut(method) {
            Some(left) if *left > 0 => {
                *left -= 1;
                Err(ProviderError::retryable(method, "database is locked"))
            }
            _ => Ok(()),
        }
    }

    /// Runs a statement on the database.
    pub async fn sql(&self, statement: &str) {
        sqlx::query(statement).execute(self.sqlite.get_pool()).await.expect("the statement runs");
    }

    /// The kinds of events in the history of an instance's latest execution.
    pub async fn kinds(&self, instance: &str) -> Vec<String> {
        let history = Provider::read(&self.sqlite, instance).await.unwrap_or_default();
        history.iter().map(|e| kind(&e.kind)).collect()
    }

    /// Sends the start of an orchestration, as a client does.
    pub async fn start(&self, instance: &str, orchestration: &str) {
        self.sqlite.enqueue_for_orchestrator(start(instance, orchestration), None).await.expect("it is queued");
    }

    /// Fetches a turn with a lock of a minute.
    pub async fn fetch(&self, filter: Option<&DispatcherCapabilityFilter>) -> Option<(OrchestrationItem, String, u32)> {
        self.sqlite
            .fetch_orchestration_item(Duration::from_secs(60), Duration::ZERO, filter)
            .await
            .expect("the fetch is answered")
    }

    /// Fetches and abandons the next turn so many times, as if nodes crashed with it.
    pub async fn deliver(&self, times: u32) {
        for _ in 0..times {
            let (_, token, _) = self.fetch(None).await.expect("there is work");
            self.sqlite.abandon_orchestration_item(&token, None, false).await.expect("it is given back");
        }
    }

    /// How many messages for orchestrations are queued, locked ones included.
    pub async fn queued(&self) -> i64 {
        let count = "SELECT COUNT(*) FROM orchestrator_queue";
        sqlx::query_scalar(count).fetch_one(self.sqlite.get_pool()).await.expect("the statement runs")
    }
}

fn kind(k: &EventKind) -> String {
    format!("{k:?}").split([' ', '{', '(']).next().unwrap_or_default().to_owned()
}

/// The start of a root.
pub fn start(instance: &str, orchestration: &str) -> WorkItem {
    WorkItem::StartOrchestration {
        instance: instance.to_owned(),
        orchestration: orchestration.to_owned(),
        input: String::new(),
        version: None,
        parent_instance: None,
        parent_id: None,
        parent_execution_id: None,
        execution_id: INITIAL_EXECUTION_ID,
    }
}

/// Options with short polls and locks, so that a test takes seconds.
pub fn options() -> RuntimeOptions {
    RuntimeOptions {
        dispatcher_min_poll_interval: Duration::from_millis(10),
        orchestrator_lock_timeout: Duration::from_secs(2),
        worker_lock_timeout: Duration::from_secs(2),
        max_attempts: 3,
        ..RuntimeOptions::default()
    }
}

/// Starts a runtime on a store.
pub async fn run(
    store: &Arc<Store>,
    activities: ActivityRegistry,
    orchestrations: OrchestrationRegistry,
    options: RuntimeOptions,
) -> (Arc<Runtime>, Client) {
    let runtime = Runtime::start_with_options(store.clone(), activities, orchestrations, options).await;
    (runtime, Client::new(store.clone()))
}

/// Waits for an instance's end, and describes its status.
pub async fn end(client: &Client, instance: &str, patience: Duration) -> String {
    let _ = client.wait_for_orchestration(instance, patience).await;
    status(client, instance).await
}

/// Describes an instance's status.
pub async fn status(client: &Client, instance: &str) -> String {
    match client.get_orchestration_status(instance).await.expect("the status is told") {
        OrchestrationStatus::NotFound => "not found".to_owned(),
        OrchestrationStatus::Running { .. } => "running".to_owned(),
        OrchestrationStatus::Completed { output, .. } => format!("completed: {output}"),
        OrchestrationStatus::Failed { details, .. } => format!("failed: {}", details.display_message()),
    }
}

#[async_trait::async_trait]
impl Provider for Store {
    async fn fetch_orchestration_item(
        &self,
        lock_timeout: Duration,
        poll_timeout: Duration,
        filter: Option<&DispatcherCapabilityFilter>,
    ) -> Result<Option<(OrchestrationItem, String, u32)>, ProviderError> {
        self.gate("fetch_orchestration_item").await?;
        self.sqlite.fetch_orchestration_item(lock_timeout, poll_timeout, filter).await
    }

    async fn ack_orchestration_item(
        &self,
        lock_token: &str,
        execution_id: u64,
        history_delta: Vec<Event>,
        worker_items: Vec<WorkItem>,
        orchestrator_items: Vec<WorkItem>,
        metadata: ExecutionMetadata,
        cancelled: Vec<ScheduledActivityIdentifier>,
    ) -> Result<(), ProviderError> {
        self.gate("ack_orchestration_item").await?;
        self.sqlite
            .ack_orchestration_item(lock_token, execution_id, history_delta, worker_items, orchestrator_items, metadata, cancelled)
            .await
    }

    async fn abandon_orchestration_item(&self, token: &str, delay: Option<Duration>, ignore: bool) -> Result<(), ProviderError> {
        self.gate("abandon_orchestration_item").await?;
        self.sqlite.abandon_orchestration_item(token, delay, ignore).await
    }

    async fn renew_orchestration_item_lock(&self, token: &str, extend_for: Duration) -> Result<(), ProviderError> {
        self.gate("renew_orchestration_item_lock").await?;
        self.sqlite.renew_orchestration_item_lock(token, extend_for).await
    }

    async fn enqueue_for_orchestrator(&self, item: WorkItem, delay: Option<Duration>) -> Result<(), ProviderError> {
        self.gate("enqueue_for_orchestrator").await?;
        self.sqlite.enqueue_for_orchestrator(item, delay).await
    }

    async fn read(&self, instance: &str) -> Result<Vec<Event>, ProviderError> {
        Provider::read(&self.sqlite, instance).await
    }

    async fn read_with_execution(&self, instance: &str, execution_id: u64) -> Result<Vec<Event>, ProviderError> {
        self.sqlite.read_with_execution(instance, execution_id).await
    }

    async fn append_with_execution(&self, instance: &str, execution_id: u64, events: Vec<Event>) -> Result<(), ProviderError> {
        self.sqlite.append_with_execution(instance, execution_id, events).await
    }

    async fn enqueue_for_worker(&self, item: WorkItem) -> Result<(), ProviderError> {
        self.sqlite.enqueue_for_worker(item).await
    }

    async fn fetch_work_item(
        &self,
        lock_timeout: Duration,
        poll_timeout: Duration,
        session: Option<&SessionFetchConfig>,
        tags: &TagFilter,
    ) -> Result<Option<(WorkItem, String, u32)>, ProviderError> {
        self.gate("fetch_work_item").await?;
        self.sqlite.fetch_work_item(lock_timeout, poll_timeout, session, tags).await
    }

    async fn ack_work_item(&self, token: &str, completion: Option<WorkItem>) -> Result<(), ProviderError> {
        self.gate("ack_work_item").await?;
        self.sqlite.ack_work_item(token, completion).await
    }

    async fn renew_work_item_lock(&self, token: &str, extend_for: Duration) -> Result<(), ProviderError> {
        self.gate("renew_work_item_lock").await?;
        self.sqlite.renew_work_item_lock(token, extend_for).await
    }

    async fn abandon_work_item(&self, token: &str, delay: Option<Duration>, ignore: bool) -> Result<(), ProviderError> {
        self.gate("abandon_work_item").await?;
        self.sqlite.abandon_work_item(token, delay, ignore).await
    }

    async fn renew_session_lock(&self, owners: &[&str], extend_for: Duration, idle: Duration) -> Result<usize, ProviderError> {
        self.sqlite.renew_session_lock(owners, extend_for, idle).await
    }

    async fn cleanup_orphaned_sessions(&self, idle: Duration) -> Result<usize, ProviderError> {
        self.sqlite.cleanup_orphaned_sessions(idle).await
    }

    fn as_management_capability(&self) -> Option<&dyn ProviderAdmin> {
        self.sqlite.as_management_capability()
    }

    async fn get_custom_status(&self, instance: &str, seen: u64) -> Result<Option<(Option<String>, u64)>, ProviderError> {
        self.sqlite.get_custom_status(instance, seen).await
    }

    async fn get_kv_value(&self, instance: &str, key: &str) -> Result<Option<String>, ProviderError> {
        self.gate("get_kv_value").await?;
        self.sqlite.get_kv_value(instance, key).await
    }

    async fn get_kv_all_values(&self, instance: &str) -> Result<HashMap<String, String>, ProviderError> {
        self.sqlite.get_kv_all_values(instance).await
    }

    async fn get_instance_stats(&self, instance: &str) -> Result<Option<SystemStats>, ProviderError> {
        self.sqlite.get_instance_stats(instance).await
    }
}
