//! The SQLite provider, by itself or below a runtime. Each test says what should hold, and fails on 0.1.32, but for the control.

use duroxide::providers::{DispatcherCapabilityFilter, ExecutionMetadata, Provider, SemverRange, WorkItem};
use duroxide::runtime::registry::{ActivityRegistry, OrchestrationRegistry};
use duroxide::runtime::{RuntimeOptions, UnregisteredBackoffConfig};
use duroxide::{ActivityContext, Client, OrchestrationContext};
use duroxide_reports::{Store, end, options, run, start, status};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

const FETCH: Duration = Duration::from_secs(60);

/// What the first turn of an orchestration stores beside its history.
fn metadata(name: &str, pin: &str) -> ExecutionMetadata {
    ExecutionMetadata {
        orchestration_name: Some(name.to_owned()),
        orchestration_version: Some("1.0.0".to_owned()),
        pinned_duroxide_version: Some(semver::Version::parse(pin).unwrap()),
        ..ExecutionMetadata::default()
    }
}

/// A cancellation of an instance.
fn cancel(instance: &str) -> WorkItem {
    WorkItem::CancelInstance { instance: instance.to_owned(), reason: "enough".to_owned() }
}

/// A message for the queue "mail" of an instance.
fn message(instance: &str) -> WorkItem {
    WorkItem::QueueMessage { instance: instance.to_owned(), name: "mail".to_owned(), data: "hello".to_owned() }
}

/// A pin with a part above 999 counts as another version.
#[tokio::test]
async fn versions_above_999_are_compared() {
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

/// What a node cannot read, of a newer release or damaged, is deleted with its batch.
#[tokio::test]
async fn an_unknown_message_is_kept() {
    let store = Store::new().await;
    store.start("i", "Order").await;
    store.sqlite.enqueue_for_orchestrator(cancel("i"), None).await.unwrap();
    store.sql("UPDATE orchestrator_queue SET work_item = '{\"OfANewerRelease\":{}}' WHERE id = 2").await;
    let (item, token, _) = store.fetch(None).await.unwrap();
    if item.history_error.is_some() {
        return; // told as an error, as a damaged history is
    }
    store
        .sqlite
        .ack_orchestration_item(&token, item.execution_id, vec![], vec![], vec![], metadata("Order", "0.1.32"), vec![])
        .await
        .unwrap();
    assert_eq!(store.queued().await, 1, "the message is told as an error, or still queued");
}

/// A message is dropped although the instance's start is queued, and waits in a backoff.
#[tokio::test]
async fn a_message_waits_for_its_delayed_start() {
    let store = Store::new().await;
    store.start("i", "NotDeployedYet").await;
    let (_, token, _) = store.fetch(None).await.unwrap();
    store.sqlite.abandon_orchestration_item(&token, Some(Duration::from_secs(30)), false).await.unwrap();
    store.sqlite.enqueue_for_orchestrator(message("i"), None).await.unwrap();
    let _ = store.sqlite.fetch_orchestration_item(FETCH, Duration::ZERO, None).await.unwrap();
    assert_eq!(store.queued().await, 2, "start and message are queued");
}

/// A damaged history without a row in `instances` is delivered as no history at all.
#[tokio::test]
async fn a_damaged_history_does_not_start_over() {
    let store = Store::new().await;
    store.sql("INSERT INTO history (instance_id, execution_id, event_id, event_type, event_data) VALUES ('i', 1, 1, 'OrchestrationStarted', 'damaged')").await;
    store.sqlite.enqueue_for_orchestrator(start("i", "Order"), None).await.unwrap();
    let (item, _, _) = store.fetch(None).await.unwrap();
    assert!(item.history_error.is_some(), "the damage is told; the history has {} events", item.history.len());
}

/// A runtime with an orchestration that greets, and one that schedules a child and drops its future.
async fn greeting() -> Client {
    let store = Store::new().await;
    let code = OrchestrationRegistry::builder()
        .register("Hello", |_: OrchestrationContext, _: String| async { Ok("hi".to_owned()) })
        .register("Dropper", |ctx: OrchestrationContext, _: String| async move {
            drop(ctx.schedule_sub_orchestration("Hello", ""));
            Ok("done".to_owned())
        })
        .build();
    let (_runtime, client) = run(&store, ActivityRegistry::builder().build(), code, options()).await;
    client
}

/// Starts the orchestration that greets, and waits for its output.
async fn greets(client: &Client) {
    client.start_orchestration("healthy", "Hello", "").await.unwrap();
    assert_eq!(end(client, "healthy", Duration::from_secs(5)).await, "completed: hi");
}

/// An instance that does not exist is cancelled. Another orchestration runs all the same.
#[tokio::test]
async fn cancel_of_a_typo_is_a_no_op() {
    let client = greeting().await;
    client.cancel_instance("typo", "enough").await.unwrap();
    greets(&client).await;
}

/// With an event instead of a cancellation.
#[tokio::test]
async fn event_for_a_typo_stops_nothing() {
    let client = greeting().await;
    client.raise_event("typo", "go", "").await.unwrap();
    greets(&client).await;
}

/// With a child that is dropped in the last turn of its parent.
#[tokio::test]
async fn a_dropped_child_stops_nothing() {
    let client = greeting().await;
    client.start_orchestration("dropper", "Dropper", "").await.unwrap();
    assert_eq!(end(&client, "dropper", Duration::from_secs(60)).await, "completed: done");
    greets(&client).await;
}

#[tokio::test]
async fn control_nothing_stands_first() {
    greets(&greeting().await).await;
}

/// An orchestration that runs has no output, and no time of its end.
#[tokio::test]
async fn a_running_instance_has_no_output() {
    let store = Store::new().await;
    let code = OrchestrationRegistry::builder()
        .register("Order", |ctx: OrchestrationContext, _: String| async move { Ok(ctx.schedule_wait("go").await) })
        .build();
    let (_runtime, client) = run(&store, ActivityRegistry::builder().build(), code, options()).await;
    client.start_orchestration("i", "Order", "").await.unwrap();
    while status(&client, "i").await != "running" {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let (instance, execution) = (client.get_instance_info("i").await.unwrap(), client.get_execution_info("i", 1).await.unwrap());
    assert_eq!((instance.output, execution.output, execution.completed_at), (None, None, None));
}

/// A parent is deleted by force while the start of its child waits for a node that knows it. That node comes.
#[tokio::test]
async fn a_child_of_a_deleted_parent_runs() {
    let store = Store::new().await;
    let boss = |ctx: OrchestrationContext, _: String| async move { ctx.schedule_sub_orchestration_with_id("Child", "child-1", "").await };
    let old = OrchestrationRegistry::builder().register("Boss", boss).build();
    let pause = Duration::from_millis(200);
    let patient = || RuntimeOptions { unregistered_backoff: UnregisteredBackoffConfig { base_delay: pause, max_delay: pause }, max_attempts: 10, ..options() };
    let (runtime, client) = run(&store, ActivityRegistry::builder().build(), old, patient()).await;
    client.start_orchestration("i", "Boss", "").await.unwrap();
    while store.calls("abandon_orchestration_item") == 0 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    runtime.shutdown(None).await;
    client.delete_instance("i", true).await.unwrap();
    let new = OrchestrationRegistry::builder()
        .register("Boss", boss)
        .register("Child", |_: OrchestrationContext, _: String| async { Ok("grown up".to_owned()) })
        .build();
    let (_runtime, client) = run(&store, ActivityRegistry::builder().build(), new, patient()).await;
    assert_eq!(end(&client, "child-1", Duration::from_secs(10)).await, "completed: grown up");
}

/// A lock without an end, as good as, for an activity that must not be given to another worker. It runs once.
#[tokio::test]
async fn the_longest_lock_is_not_the_shortest() {
    let store = Store::new().await;
    let runs = Arc::new(AtomicU32::new(0));
    let counted = runs.clone();
    let pays = ActivityRegistry::builder()
        .register("Pay", move |_: ActivityContext, _: String| {
            counted.fetch_add(1, Ordering::SeqCst);
            async {
                tokio::time::sleep(Duration::from_millis(500)).await;
                Ok("paid".to_owned())
            }
        })
        .build();
    let code = OrchestrationRegistry::builder()
        .register("Order", |ctx: OrchestrationContext, _: String| async move { ctx.schedule_activity("Pay", "").await })
        .build();
    let longest = Duration::from_millis(i64::MAX as u64);
    let forever = RuntimeOptions { worker_lock_timeout: longest, session_idle_timeout: Duration::MAX, worker_concurrency: 2, ..options() };
    let (_runtime, client) = run(&store, pays, code, forever).await;
    client.start_orchestration("i", "Order", "").await.unwrap();
    let end = end(&client, "i", Duration::from_secs(5)).await;
    assert_eq!((end.as_str(), runs.load(Ordering::SeqCst)), ("completed: paid", 1), "the activity ran once");
}

/// The storage fails for a tenth of a second while a turn is stored, as a trigger makes it here. The turn is stored later.
#[tokio::test]
async fn a_storage_error_fails_no_orchestration() {
    let store = Store::new().await;
    let code = OrchestrationRegistry::builder().register("Hello", |_: OrchestrationContext, _: String| async { Ok("hi".to_owned()) }).build();
    store.sql("CREATE TRIGGER fails BEFORE INSERT ON history WHEN NEW.event_type = 'OrchestrationCompleted' BEGIN SELECT RAISE(ABORT, 'disk I/O error'); END").await;
    let (_runtime, client) = run(&store, ActivityRegistry::builder().build(), code, options()).await;
    client.start_orchestration("i", "Hello", "").await.unwrap();
    while store.calls("ack_orchestration_item") == 0 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    tokio::time::sleep(Duration::from_millis(20)).await;
    store.sql("DROP TRIGGER fails").await;
    assert_eq!(end(&client, "i", Duration::from_secs(60)).await, "completed: hi");
}
