//! The SQLite provider of the release.

use async_trait::async_trait;
use durosim::{Factory, Offers};
use duroxide::providers::WorkItem;
use duroxide::providers::sqlite::SqliteProvider;
use sqlx::SqlitePool;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tempfile::TempDir;

/// Makes stores in memory, or each in a new file of a directory.
#[derive(Default)]
pub struct Sqlite {
    files: Option<(TempDir, AtomicU64)>,
    whole_messages: bool,
    at_once: bool,
    /// The connections of the store before.
    last: Mutex<Option<SqlitePool>>,
}

/// The steps of an ack, in the order of the release: what it does first to which table.
const ACK_STEPS: [(&str, &str); 11] = [
    ("DELETE", "orchestrator_queue"), ("INSERT", "instances"), ("UPDATE", "instances"), ("INSERT", "executions"),
    ("UPDATE", "executions"), ("INSERT", "kv_delta"), ("INSERT", "history"), ("INSERT", "worker_queue"),
    ("DELETE", "worker_queue"), ("INSERT", "orchestrator_queue"), ("DELETE", "instance_locks"),
];

impl Sqlite {
    pub fn in_memory() -> Self {
        Self::default()
    }

    pub fn in_files(self) -> std::io::Result<Self> {
        Ok(Sqlite { files: Some((tempfile::tempdir()?, AtomicU64::new(0))), ..self })
    }

    /// Without damaged messages: the release loses them, and what follows is of no interest.
    pub fn whole_messages(self) -> Self {
        Sqlite { whole_messages: true, ..self }
    }

    /// The next call does not wait for the end of transactions that the one before has dropped.
    pub fn at_once(self) -> Self {
        Sqlite { at_once: true, ..self }
    }

    async fn make(&self) -> SqliteProvider {
        let Some((dir, made)) = &self.files else {
            return SqliteProvider::new_in_memory().await.expect("a store in memory");
        };
        let file = |n: u64, end: &str| dir.path().join(format!("store-{n}.db{end}"));
        let n = made.fetch_add(1, Ordering::Relaxed);
        if let Some(before) = n.checked_sub(1) {
            for end in ["", "-wal", "-shm"] {
                let _ = std::fs::remove_file(file(before, end)); // the store before has left it, or not made it
            }
        }
        let url = format!("sqlite:{}?mode=rwc", file(n, "").display());
        SqliteProvider::new(&url, None).await.expect("a store in a file")
    }
}

#[async_trait]
impl Factory for Sqlite {
    type Provider = SqliteProvider;

    async fn create(&self) -> SqliteProvider {
        let before = self.last.lock().expect("nobody panics with this lock").take();
        if let Some(before) = before {
            before.close().await;
        }
        let store = self.make().await;
        *self.last.lock().expect("nobody panics with this lock") = Some(store.get_pool().clone());
        store
    }

    fn offers(&self) -> Offers {
        let offers = Offers::default().corrupt_event();
        // The connections to one file do not see each other's new triggers at once.
        let offers = if self.files.is_none() { offers.fail_ack_step() } else { offers };
        if self.whole_messages { offers } else { offers.corrupt_message() }
    }

    async fn corrupt_event(&self, store: &SqliteProvider, instance: &str, execution: u64, event: u64) -> Result<(), String> {
        let change = "UPDATE history SET event_data = 'damaged' WHERE instance_id = ? AND execution_id = ? AND event_id = ?";
        let number = |n: u64| i64::try_from(n).map_err(|_| "a number that SQLite does not have".to_owned());
        let done = sqlx::query(change)
            .bind(instance)
            .bind(number(execution)?)
            .bind(number(event)?)
            .execute(store.get_pool())
            .await
            .map_err(|err| err.to_string())?;
        if done.rows_affected() == 0 { Err("there is no such event".to_owned()) } else { Ok(()) }
    }

    async fn corrupt_message(&self, store: &SqliteProvider, item: &WorkItem) -> Result<(), String> {
        let text = serde_json::to_string(item).map_err(|err| err.to_string())?;
        for queue in ["orchestrator_queue", "worker_queue"] {
            let change = format!(
                "UPDATE {queue} SET work_item = 'damaged' WHERE id = (SELECT max(id) FROM {queue} WHERE work_item = ?)"
            );
            let done = sqlx::query(&change).bind(&text).execute(store.get_pool()).await.map_err(|err| err.to_string())?;
            if done.rows_affected() > 0 {
                return Ok(());
            }
        }
        Err("no such message is queued".to_owned())
    }

    async fn fail_ack_step(&self, store: &SqliteProvider, step: Option<u64>) -> Result<(), String> {
        let change = match step {
            None => "DROP TRIGGER failing".to_owned(),
            Some(step) => {
                let (what, table) = ACK_STEPS[step as usize % ACK_STEPS.len()];
                format!("CREATE TRIGGER failing BEFORE {what} ON {table} BEGIN SELECT RAISE(ABORT, 'the storage fails'); END")
            }
        };
        sqlx::query(&change).execute(store.get_pool()).await.map(|_| ()).map_err(|err| err.to_string())
    }

    async fn settle(&self, store: &SqliteProvider) {
        // The connection of a transaction that was dropped comes back when that is rolled back.
        let pool = store.get_pool();
        while !self.at_once && pool.num_idle() < pool.size() as usize {
            tokio::time::sleep(Duration::from_micros(100)).await;
        }
    }
}
