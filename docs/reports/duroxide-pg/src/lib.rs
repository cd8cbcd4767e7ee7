//! What the tests have in common: a store in a schema of its own, and a way to start a runtime on it.

use duroxide::providers::{ExecutionMetadata, OrchestrationItem, Provider, WorkItem};
use duroxide::runtime::registry::{ActivityRegistry, OrchestrationRegistry};
use duroxide::runtime::{OrchestrationStatus, Runtime, RuntimeOptions};
use duroxide::{Client, INITIAL_EXECUTION_ID, OrchestrationContext};
use duroxide_pg::{PostgresProvider, ProviderConfig};
use sqlx::{Connection, Executor, PgConnection};
use std::sync::Arc;
use std::time::Duration;

/// The crate's provider, in a new schema.
pub struct Store {
    pub pg: Arc<PostgresProvider>,
    schema: String,
}

fn url() -> String {
    std::env::var("DUROSIM_POSTGRES").expect("DUROSIM_POSTGRES is the URL of a PostgreSQL; run.sh starts one")
}

impl Store {
    pub async fn new(schema: &str) -> Store {
        let mut connection = PgConnection::connect(&url()).await.expect("a database");
        connection.execute(format!("DROP SCHEMA IF EXISTS {schema} CASCADE").as_str()).await.expect("no schema");
        let mut config = ProviderConfig::url(url());
        config.schema_name = Some(schema.to_owned());
        let pg = PostgresProvider::new_with_config(config).await.expect("a store");
        Store { pg: Arc::new(pg), schema: schema.to_owned() }
    }

    /// A connection to the schema, beside the provider's own.
    pub async fn connection(&self) -> PgConnection {
        let mut connection = PgConnection::connect(&url()).await.expect("a database");
        connection.execute(format!("SET search_path TO {}", self.schema).as_str()).await.expect("a schema");
        connection
    }

    /// Runs a statement.
    pub async fn sql(&self, statement: &str) {
        self.connection().await.execute(statement).await.expect("the statement runs");
    }

    /// Starts a runtime.
    pub async fn run(&self, code: OrchestrationRegistry) -> (Arc<Runtime>, Client) {
        let options = RuntimeOptions { dispatcher_min_poll_interval: Duration::from_millis(10), ..RuntimeOptions::default() };
        let runtime = Runtime::start_with_options(self.pg.clone(), ActivityRegistry::builder().build(), code, options).await;
        (runtime, Client::new(self.pg.clone()))
    }

    /// Sends the start of a root.
    pub async fn start(&self, instance: &str) {
        let start = WorkItem::StartOrchestration {
            instance: instance.to_owned(),
            orchestration: "Order".to_owned(),
            input: String::new(),
            version: Some("1.0.0".to_owned()),
            parent_instance: None,
            parent_id: None,
            parent_execution_id: None,
            execution_id: INITIAL_EXECUTION_ID,
        };
        self.pg.enqueue_for_orchestrator(start, None).await.expect("it is queued");
    }

    /// Fetches a turn with this lock.
    pub async fn fetch(&self, lock: Duration) -> Option<(OrchestrationItem, String, u32)> {
        self.pg.fetch_orchestration_item(lock, Duration::ZERO, None).await.expect("the fetch is answered")
    }

    /// Stores the first turn of a root, pinned to a version.
    pub async fn ack(&self, token: &str, pin: &str) -> Result<(), duroxide::providers::ProviderError> {
        let metadata = ExecutionMetadata {
            orchestration_name: Some("Order".to_owned()),
            orchestration_version: Some("1.0.0".to_owned()),
            pinned_duroxide_version: Some(semver::Version::parse(pin).unwrap()),
            ..ExecutionMetadata::default()
        };
        self.pg.ack_orchestration_item(token, 1, vec![], vec![], vec![], metadata, vec![]).await
    }
}

/// An orchestration that waits for an event, for ever.
pub async fn waits(ctx: OrchestrationContext, _: String) -> Result<String, String> {
    Ok(ctx.schedule_wait("go").await)
}

/// Waits for an instance's end, and describes its status.
pub async fn end(client: &Client, instance: &str, patience: Duration) -> String {
    let _ = client.wait_for_orchestration(instance, patience).await;
    match client.get_orchestration_status(instance).await.expect("the status is told") {
        OrchestrationStatus::NotFound => "not found".to_owned(),
        OrchestrationStatus::Running { .. } => "running".to_owned(),
        OrchestrationStatus::Completed { output, .. } => format!("completed: {output}"),
        OrchestrationStatus::Failed { details, .. } => format!("failed: {}", details.display_message()),
    }
}
