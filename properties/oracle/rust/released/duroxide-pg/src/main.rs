//! Serves the PostgreSQL provider of a release of duroxide-pg to durosim.
//!
//!     postgres-0-1-38 URL [--whole-messages] [--without METHOD]...

use async_trait::async_trait;
use durosim::{Factory, Offers};
use duroxide::providers::WorkItem;
use duroxide_pg::{MigrationPolicy, PostgresProvider, ProviderConfig};
use std::sync::atomic::{AtomicBool, Ordering};

/// The tables of one schema of a database. Each store begins with all of them empty.
#[derive(Default)]
struct Postgres {
    url: String,
    migrated: AtomicBool,
    whole_messages: bool,
    real_clock: bool,
    without: Vec<String>,
}

const SCHEMA: &str = "durosim";

/// The provider takes the later of the caller's time and the database's where it makes a lock. The caller's is ahead of a
/// database whose clock stands still in 2001 (still.c).
const IN_2033_MS: u64 = 2_000_000_000_000;

#[async_trait]
impl Factory for Postgres {
    type Provider = PostgresProvider;

    async fn create(&self) -> PostgresProvider {
        let mut config = ProviderConfig::url(&self.url);
        config.schema_name = Some(SCHEMA.to_owned());
        if self.migrated.swap(true, Ordering::Relaxed) {
            config.migration_policy = MigrationPolicy::VerifyOnly;
        }
        let store = PostgresProvider::new_with_config(config).await.expect("a database");
        let tables: Vec<String> = sqlx::query_scalar(
            "SELECT quote_ident(schemaname) || '.' || quote_ident(tablename) FROM pg_tables
             WHERE schemaname = $1 AND tablename NOT LIKE '%migrations'",
        )
        .bind(SCHEMA)
        .fetch_all(store.pool())
        .await
        .expect("the list of tables");
        sqlx::query(&format!("TRUNCATE {} RESTART IDENTITY", tables.join(", ")))
            .execute(store.pool())
            .await
            .expect("tables that can be emptied");
        store
    }

    fn offers(&self) -> Offers {
        // A server whose clock stands still notices no deadlock, and the release has some.
        let offers = if self.real_clock { Offers::default().real_clock() } else { Offers::default().clock_from(IN_2033_MS).sequential() };
        let offers = offers.corrupt_event();
        let offers = self.without.iter().fold(offers, |offers, method| offers.lacks(method));
        if self.whole_messages { offers } else { offers.corrupt_message() }
    }

    async fn corrupt_event(&self, store: &PostgresProvider, instance: &str, execution: u64, event: u64) -> Result<(), String> {
        let change = format!(
            "UPDATE {SCHEMA}.history SET event_data = '{{\"damaged\": true}}'
             WHERE instance_id = $1 AND execution_id = $2 AND event_id = $3"
        );
        let number = |n: u64| i64::try_from(n).map_err(|_| "a number that PostgreSQL does not have".to_owned());
        let done = sqlx::query(&change)
            .bind(instance)
            .bind(number(execution)?)
            .bind(number(event)?)
            .execute(store.pool())
            .await
            .map_err(|err| err.to_string())?;
        if done.rows_affected() == 0 { Err("there is no such event".to_owned()) } else { Ok(()) }
    }

    async fn corrupt_message(&self, store: &PostgresProvider, item: &WorkItem) -> Result<(), String> {
        let text = serde_json::to_string(item).map_err(|err| err.to_string())?;
        for queue in ["orchestrator_queue", "worker_queue"] {
            let change = format!(
                "UPDATE {SCHEMA}.{queue} SET work_item = '{{\"damaged\": true}}'
                 WHERE id = (SELECT max(id) FROM {SCHEMA}.{queue} WHERE work_item::jsonb = $1::jsonb)"
            );
            let done = sqlx::query(&change).bind(&text).execute(store.pool()).await.map_err(|err| err.to_string())?;
            if done.rows_affected() > 0 {
                return Ok(());
            }
        }
        Err("no such message is queued".to_owned())
    }
}

const USAGE: &str = "\
Serves the PostgreSQL provider of duroxide-pg 0.1.38 to durosim, on standard input and output.

  URL                  the database, such as postgres://user@localhost/postgres?host=/path/of/the/socket
  --real-clock         have calls overlap, in real time; without it the clock of the server must stand still
  --whole-messages     do not offer to damage queued messages
  --without METHOD     do not offer this method; may be given several times";

fn main() -> std::io::Result<()> {
    let wrong = |what: &str| -> ! {
        eprintln!("{what}\n\n{USAGE}");
        std::process::exit(2);
    };
    let mut store = Postgres::default();
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--real-clock" => store.real_clock = true,
            "--whole-messages" => store.whole_messages = true,
            "--without" => store.without.push(arguments.next().unwrap_or_else(|| wrong("--without: a method is missing"))),
            url if store.url.is_empty() && !url.starts_with('-') => store.url = url.to_owned(),
            other => wrong(&format!("unknown argument {other:?}")),
        }
    }
    if store.url.is_empty() {
        wrong("the URL is missing");
    }
    durosim::serve(store)
}
