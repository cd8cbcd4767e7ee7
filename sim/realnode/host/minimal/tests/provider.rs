//! The SQLite provider by itself. Each test says what should hold, and panics, as it is marked to do, where 0.1.32 does
//! something else: without the mark it is a regression test.

use duroxide::providers::{DispatcherCapabilityFilter, ExecutionMetadata, Provider, SemverRange, WorkItem};
use duroxide_seen::{Store, start};
use std::time::Duration;

const FETCH: Duration = Duration::from_secs(60);

fn metadata(name: &str, pin: &str) -> ExecutionMetadata {
    ExecutionMetadata {
        orchestration_name: Some(name.to_owned()),
        orchestration_version: Some("1.0.0".to_owned()),
        pinned_duroxide_version: Some(semver::Version::parse(pin).unwrap()),
        ..ExecutionMetadata::default()
    }
}

fn cancel(instance: &str) -> WorkItem {
    WorkItem::CancelInstance { instance: instance.to_owned(), reason: "enough".to_owned() }
}

fn message(instance: &str) -> WorkItem {
    WorkItem::QueueMessage { instance: instance.to_owned(), name: "mail".to_owned(), data: "hello".to_owned() }
}

/// `head-of-line-block`: a cancel for an instance that does not exist hides everybody's work.
#[tokio::test]
#[should_panic(expected = "the healthy instance is fetched")]
async fn head_of_line_block() {
    let store = Store::new().await;
    store.sqlite.enqueue_for_orchestrator(cancel("nobody"), None).await.unwrap();
    tokio::time::sleep(Duration::from_millis(5)).await; // the oldest first
    store.start("healthy", "Order").await;
    for _ in 0..20 {
        if store.fetch(None).await.is_some() {
            return;
        }
    }
    panic!("the healthy instance is fetched");
}

/// `packed-comparison`: a pin with a part above 999 counts as another version.
#[tokio::test]
#[should_panic(expected = "1.1500.0 is outside of 2.0.0 to 12.0.0")]
async fn packed_comparison() {
    let store = Store::new().await;
    store.start("i", "Order").await;
    let (item, token, _) = store.fetch(None).await.unwrap();
    store
        .sqlite
        .ack_orchestration_item(&token, item.execution_id, vec![], vec![], vec![], metadata("Order", "1.1500.0"), vec![])
        .await
        .unwrap();
    store.sqlite.enqueue_for_orchestrator(cancel("i"), None).await.unwrap();
    let range = SemverRange { min: semver::Version::new(2, 0, 0), max: semver::Version::new(12, 0, 0) };
    let filter = DispatcherCapabilityFilter { supported_duroxide_versions: vec![range] };
    assert!(store.fetch(Some(&filter)).await.is_none(), "1.1500.0 is outside of 2.0.0 to 12.0.0");
}

/// `undecodable-message-lost`: what a node cannot read, of a newer release or damaged, is deleted with its batch.
#[tokio::test]
#[should_panic(expected = "the message is still queued, or told as an error")]
async fn undecodable_message_lost() {
    let store = Store::new().await;
    store.start("i", "Order").await;
    store.sqlite.enqueue_for_orchestrator(cancel("i"), None).await.unwrap();
    store.sql("UPDATE orchestrator_queue SET work_item = '{\"OfANewerRelease\":{}}' WHERE id = 2").await;
    let (item, token, _) = store.fetch(None).await.unwrap();
    assert!(item.history_error.is_none(), "told as an error");
    store
        .sqlite
        .ack_orchestration_item(&token, item.execution_id, vec![], vec![], vec![], metadata("Order", "0.1.32"), vec![])
        .await
        .unwrap();
    assert_eq!(store.queued().await, 1, "the message is still queued, or told as an error");
}

/// `queue-message-orphaned`: a message is dropped although the instance's start is queued, and waits in a backoff.
#[tokio::test]
#[should_panic(expected = "start and message are queued")]
async fn queue_message_orphaned() {
    let store = Store::new().await;
    store.start("i", "NotDeployedYet").await;
    let (_, token, _) = store.fetch(None).await.unwrap();
    store.sqlite.abandon_orchestration_item(&token, Some(Duration::from_secs(30)), false).await.unwrap();
    store.sqlite.enqueue_for_orchestrator(message("i"), None).await.unwrap();
    let _ = store.sqlite.fetch_orchestration_item(FETCH, Duration::ZERO, None).await.unwrap();
    assert_eq!(store.queued().await, 2, "start and message are queued");
}

/// `undecodable-history-empty`: a damaged history without a row in `instances` is delivered as no history at all.
#[tokio::test]
#[should_panic(expected = "the damage is told")]
async fn undecodable_history_empty() {
    let store = Store::new().await;
    store.sql("INSERT INTO history (instance_id, execution_id, event_id, event_type, event_data) VALUES ('i', 1, 1, 'OrchestrationStarted', 'damaged')").await;
    store.sqlite.enqueue_for_orchestrator(start("i", "Order"), None).await.unwrap();
    let (item, _, _) = store.fetch(None).await.unwrap();
    assert!(item.history_error.is_some(), "the damage is told; the history has {} events", item.history.len());
}
