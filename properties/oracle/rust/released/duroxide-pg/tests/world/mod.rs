//! A schema of a PostgreSQL, the provider on it, and connections of others that stand in its way.

use duroxide::providers::{
    ExecutionMetadata, OrchestrationItem, Provider, ProviderError, PruneOptions, ScheduledActivityIdentifier, TagFilter,
    WorkItem,
};
use duroxide_pg::{PostgresProvider, ProviderConfig};
use serde_json::{Value, json};
use sqlx::{Connection, Executor, PgConnection};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::task::JoinHandle;

pub fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).expect("a time after 1970");
    i64::try_from(since.as_millis()).expect("a time before the year 292 million")
}

fn url() -> String {
    std::env::var("DUROSIM_POSTGRES").expect("DUROSIM_POSTGRES is the URL of a PostgreSQL; pg.sh starts one")
}

/// A schema that is not there yet.
pub async fn fresh(name: &str) -> String {
    let schema = format!("incident_{name}");
    let mut connection = PgConnection::connect(&url()).await.expect("a database");
    connection.execute(format!("DROP SCHEMA IF EXISTS {schema} CASCADE").as_str()).await.expect("no schema");
    schema
}

pub async fn open(schema: String) -> Result<PostgresProvider, String> {
    let mut config = ProviderConfig::url(url());
    config.schema_name = Some(schema);
    PostgresProvider::new_with_config(config).await.map_err(|err| format!("{err:#}"))
}

/// A cancellation.
pub fn stop(instance: &str) -> Value {
    json!({ "CancelInstance": { "instance": instance, "reason": "" } })
}

/// An event of a history.
pub fn event(instance: &str, execution: u64, id: u64) -> Value {
    json!({
        "event_id": id, "source_event_id": null, "instance_id": instance, "execution_id": execution, "timestamp_ms": 1,
        "duroxide_version": "0.1.32", "type": "ActivityScheduled", "name": "Act", "input": "",
    })
}

fn read<T: serde::de::DeserializeOwned>(value: Value) -> T {
    serde_json::from_value(value).expect("items and events of this release")
}

type Fetched = Option<(OrchestrationItem, String, u32)>;

pub struct World {
    pub store: Arc<PostgresProvider>,
    pub schema: String,
}

/// A transaction of somebody else. Dropping it rolls it back.
pub struct Other(PgConnection);

impl Other {
    pub async fn commit(mut self) {
        self.0.execute("COMMIT").await.expect("a transaction");
    }
}

impl World {
    pub async fn new(name: &str) -> World {
        let schema = fresh(name).await;
        World { store: Arc::new(open(schema.clone()).await.expect("a store")), schema }
    }

    async fn connection(&self) -> PgConnection {
        let mut connection = PgConnection::connect(&url()).await.expect("a database");
        connection.execute(format!("SET search_path TO {}", self.schema).as_str()).await.expect("a schema");
        connection
    }

    pub async fn sql(&self, text: &str) {
        self.connection().await.execute(text).await.expect("SQL");
    }

    pub async fn count(&self, query: &str) -> i64 {
        sqlx::query_scalar(query).fetch_one(&mut self.connection().await).await.expect("a number")
    }

    async fn begin(&self, statement: &str) -> Other {
        let mut other = self.connection().await;
        other.execute("BEGIN").await.expect("a transaction");
        other.execute(statement).await.expect("a lock");
        Other(other)
    }

    /// Keeps whoever fetches, acks or renews this instance waiting.
    pub async fn hold_instance(&self, instance: &str) -> Other {
        self.begin(&format!("SELECT pg_advisory_xact_lock(hashtext('{instance}'))")).await
    }

    /// Keeps whoever uses this table waiting.
    pub async fn hold_table(&self, table: &str) -> Other {
        self.begin(&format!("LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE")).await
    }

    /// Another node, whose clock is ahead, fetches the first instance that it finds, and has not committed yet.
    pub async fn takeover(&self, instance: &str, ahead: Duration) -> Other {
        let now = now_ms() + i64::try_from(ahead.as_millis()).expect("a short time");
        let mut other = self.begin("SELECT 1").await;
        let taken: String = sqlx::query_scalar(&format!("SELECT out_instance_id FROM fetch_orchestration_item({now}, 60000)"))
            .fetch_one(&mut other.0)
            .await
            .expect("an instance");
        assert_eq!(taken, instance);
        other
    }

    /// Waits until a call of the provider waits for a lock in this function.
    pub async fn until_waiting(&self, function: &str) {
        let mut connection = self.connection().await;
        let query = format!(
            "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%{}.{function}(%'",
            self.schema
        );
        for _ in 0..1000 {
            let waiting: i64 = sqlx::query_scalar(&query).fetch_one(&mut connection).await.expect("a number");
            if waiting > 0 {
                return;
            }
            tokio::time::sleep(ms(10)).await;
        }
        panic!("{function} does not wait for a lock");
    }

    /// Waits until a call of the provider holds the lock of an instance for which it does not wait.
    pub async fn until_held(&self, instance: &str) {
        let query = format!(
            "SELECT count(*) FROM pg_locks l JOIN pg_stat_activity a USING (pid)
             WHERE l.locktype = 'advisory' AND l.granted AND l.objid = ((hashtext('{instance}')::bigint) & 4294967295)::oid
               AND a.wait_event_type = 'Lock' AND a.query LIKE '%{}.fetch_orchestration_item(%'",
            self.schema
        );
        for _ in 0..1000 {
            if self.count(&query).await > 0 {
                return;
            }
            tokio::time::sleep(ms(10)).await;
        }
        panic!("nobody waits with the lock of {instance} in hand");
    }

    pub async fn send(&self, item: Value) {
        self.store.enqueue_for_orchestrator(read(item), None).await.expect("a message");
    }

    pub async fn start(&self, instance: &str) {
        self.send(json!({ "StartOrchestration": {
            "instance": instance, "orchestration": "Order", "input": "", "version": "1.0.0", "parent_instance": null,
            "parent_id": null, "execution_id": 1,
        } }))
        .await;
    }

    pub async fn activity(&self, instance: &str, id: u64) {
        let item = json!({ "ActivityExecute": {
            "instance": instance, "execution_id": 1, "id": id, "name": "Act", "input": "",
        } });
        self.store.enqueue_for_worker(read(item)).await.expect("an activity");
    }

    pub async fn try_fetch(&self, lock_ms: u64) -> Result<Fetched, ProviderError> {
        self.store.fetch_orchestration_item(ms(lock_ms), Duration::ZERO, None).await
    }

    pub async fn fetch(&self, lock_ms: u64) -> Fetched {
        self.try_fetch(lock_ms).await.expect("a fetch")
    }

    /// A fetch that is under way: the instance and its token.
    pub fn fetching(&self, lock_ms: u64) -> JoinHandle<Option<(String, String)>> {
        let store = self.store.clone();
        tokio::spawn(async move {
            let fetched = store.fetch_orchestration_item(ms(lock_ms), Duration::ZERO, None).await.expect("a fetch");
            fetched.map(|(item, token, _)| (item.instance, token))
        })
    }

    pub async fn try_work(&self, lock_ms: u64) -> Result<Option<(WorkItem, String, u32)>, ProviderError> {
        self.store.fetch_work_item(ms(lock_ms), Duration::ZERO, None, &TagFilter::Any).await
    }

    pub async fn work(&self, lock_ms: u64) -> Option<String> {
        self.try_work(lock_ms).await.expect("a fetch").map(|(_, token, _)| token)
    }

    /// A fetch of an activity that is under way: its token.
    pub fn working(&self, lock_ms: u64) -> JoinHandle<Option<String>> {
        let store = self.store.clone();
        tokio::spawn(async move {
            let fetched = store.fetch_work_item(ms(lock_ms), Duration::ZERO, None, &TagFilter::Any).await;
            fetched.expect("a fetch").map(|(_, token, _)| token)
        })
    }

    pub async fn finish(&self, token: &str, instance: &str, id: u64) -> Result<(), ProviderError> {
        let done = json!({ "ActivityCompleted": { "instance": instance, "execution_id": 1, "id": id, "result": "" } });
        self.store.ack_work_item(token, Some(read(done))).await
    }

    pub async fn ack(
        &self, token: &str, execution: u64, events: Value, items: Value, status: Option<&str>,
    ) -> Result<(), ProviderError> {
        let metadata = ExecutionMetadata { status: status.map(str::to_owned), ..named() };
        self.store.ack_orchestration_item(token, execution, read(events), vec![], read(items), metadata, vec![]).await
    }

    /// An ack that schedules an activity and cancels it.
    pub async fn ack_cancelling(&self, token: &str, instance: &str, id: u64) -> Result<(), ProviderError> {
        let item = json!([{ "ActivityExecute": {
            "instance": instance, "execution_id": 1, "id": id, "name": "Act", "input": "",
        } }]);
        let cancelled = ScheduledActivityIdentifier { instance: instance.to_owned(), execution_id: 1, activity_id: id };
        self.store.ack_orchestration_item(token, 1, vec![], read(item), vec![], named(), vec![cancelled]).await
    }

    /// An ack with one event that is under way.
    pub fn acking(&self, token: &str) -> JoinHandle<Result<(), ProviderError>> {
        let (store, token) = (self.store.clone(), token.to_owned());
        tokio::spawn(async move {
            let events = read(json!([event("A", 1, 1)]));
            store.ack_orchestration_item(&token, 1, events, vec![], vec![], named(), vec![]).await
        })
    }

    /// A renewal by a minute that is under way.
    pub fn renewing(&self, token: &str) -> JoinHandle<Result<(), ProviderError>> {
        let (store, token) = (self.store.clone(), token.to_owned());
        tokio::spawn(async move { store.renew_orchestration_item_lock(&token, Duration::from_secs(60)).await })
    }

    /// Prunes what is more than so many executions, or has ended within the next day.
    pub async fn prune(&self, instance: &str, keep_last: Option<u32>, by_time: bool) -> u64 {
        let tomorrow = u64::try_from(now_ms()).expect("a time after 1970") + 86_400_000;
        let options = PruneOptions { keep_last, completed_before: by_time.then_some(tomorrow) };
        let admin = self.store.as_management_capability().expect("a management surface");
        admin.prune_executions(instance, options).await.expect("a prune").executions_deleted
    }

    /// What a migration to a release with one more column does to the function that fetches activities.
    pub async fn widen_fetch_work_item(&self) {
        let s = &self.schema;
        let parameters = "BIGINT, BIGINT, TEXT, BIGINT, TEXT[], TEXT";
        for statement in [
            format!("ALTER FUNCTION fetch_work_item({parameters}) RENAME TO narrow_fetch_work_item"),
            format!(
                "CREATE FUNCTION fetch_work_item({parameters})
                 RETURNS TABLE(out_work_item TEXT, out_lock_token TEXT, out_attempt_count INTEGER, out_more INTEGER)
                 AS 'SELECT n.*, 0 FROM {s}.narrow_fetch_work_item($1, $2, $3, $4, $5, $6) n' LANGUAGE sql"
            ),
        ] {
            self.sql(&statement).await;
        }
    }
}

fn named() -> ExecutionMetadata {
    ExecutionMetadata {
        orchestration_name: Some("Order".to_owned()),
        orchestration_version: Some("1.0.0".to_owned()),
        ..ExecutionMetadata::default()
    }
}
