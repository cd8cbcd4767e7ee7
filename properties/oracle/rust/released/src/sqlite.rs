//! The SQLite provider of the release.

use async_trait::async_trait;
use durosim::{Factory, Offers};
use duroxide::providers::WorkItem;
use duroxide::providers::sqlite::SqliteProvider;
use std::sync::atomic::{AtomicU64, Ordering};
use tempfile::TempDir;

/// Makes stores in memory, or each in a new file of a directory.
#[derive(Default)]
pub struct Sqlite {
    files: Option<(TempDir, AtomicU64)>,
    whole_messages: bool,
}

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
}

#[async_trait]
impl Factory for Sqlite {
    type Provider = SqliteProvider;

    async fn create(&self) -> SqliteProvider {
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

    fn offers(&self) -> Offers {
        let offers = Offers::default().corrupt_event();
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
}
