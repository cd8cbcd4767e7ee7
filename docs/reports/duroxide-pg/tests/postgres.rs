//! The PostgreSQL provider, by itself or below a runtime. Each test says what should hold, and fails on 0.1.38, but for the
//! control.

use duroxide::providers::{DispatcherCapabilityFilter, Provider, PruneOptions, SemverRange, TagFilter, WorkItem};
use duroxide::runtime::registry::OrchestrationRegistry;
use duroxide::{Client, Event, EventKind, OrchestrationContext};
use duroxide_pg_reports::{Store, end, waits};
use sqlx::{Connection, Executor};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// How long to wait for what must come, however busy the machine is.
const SOON: Duration = Duration::from_secs(60);

fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

/// An event "go" for an instance.
fn event(instance: &str) -> WorkItem {
    WorkItem::ExternalRaised { instance: instance.to_owned(), name: "go".to_owned(), data: String::new() }
}

/// Waits until an instance runs, and its first turn is stored.
async fn running(client: &Client, instance: &str) {
    for _ in 0..6000 {
        if client.read_execution_history(instance, 1).await.is_ok_and(|events| events.len() > 1) {
            return;
        }
        tokio::time::sleep(ms(10)).await;
    }
    panic!("{instance} does not run");
}

#[tokio::test]
async fn control_an_orchestration_completes() {
    let store = Store::new("control").await;
    let (_runtime, client) = store.run(OrchestrationRegistry::builder().register("Order", waits).build()).await;
    client.start_orchestration("i", "Order", "").await.unwrap();
    running(&client, "i").await;
    client.raise_event("i", "go", "on").await.unwrap();
    assert_eq!(end(&client, "i", SOON).await, "completed: on");
}

/// A cancellation comes a second before the start of its instance, as the calls of two clients may.
#[tokio::test]
async fn a_cancel_waits_for_its_start() {
    let store = Store::new("cancel").await;
    let (_runtime, client) = store.run(OrchestrationRegistry::builder().register("Order", waits).build()).await;
    client.cancel_instance("i", "enough").await.unwrap();
    tokio::time::sleep(ms(1000)).await;
    client.start_orchestration("i", "Order", "").await.unwrap();
    let end = end(&client, "i", ms(3000)).await;
    assert!(end.contains("cancel"), "the instance is cancelled: {end}");
}

/// A tool writes a history, as a test or a migration of data does.
#[tokio::test]
async fn a_history_is_appended() {
    let store = Store::new("append").await;
    let started = EventKind::OrchestrationCancelRequested { reason: String::new() };
    let events = vec![Event::with_event_id(1, "i", 1, None, started)];
    let appended = store.pg.append_with_execution("i", 1, events).await;
    assert!(appended.is_ok(), "appended: {appended:?}");
}

/// Whoever asks for an instance that does not exist is told so.
#[tokio::test]
async fn an_unknown_instance_is_told_so() {
    let store = Store::new("latest").await;
    let admin = store.pg.as_management_capability().unwrap();
    let told = admin.latest_execution_id("typo").await.unwrap_err();
    assert!(told.message.contains("not found"), "{told}");
}

/// A loop has continued as new three times. A prune of what ended before now takes three executions.
#[tokio::test]
async fn a_loop_is_pruned_by_time() {
    let store = Store::new("prune").await;
    let code = OrchestrationRegistry::builder()
        .register("Loop", |ctx: OrchestrationContext, input: String| async move {
            if input == "xxx" {
                return Ok(ctx.schedule_wait("go").await);
            }
            ctx.continue_as_new(input + "x").await
        })
        .build();
    let (_runtime, client) = store.run(code).await;
    client.start_orchestration("i", "Loop", "").await.unwrap();
    while client.list_executions("i").await.map_or(0, |list| list.len()) < 4 {
        tokio::time::sleep(ms(10)).await;
    }
    tokio::time::sleep(ms(100)).await;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis() as u64;
    let pruned = client.prune_executions("i", PruneOptions { keep_last: None, completed_before: Some(now) }).await.unwrap();
    assert_eq!(pruned.executions_deleted, 3, "executions that ended before now");
}

/// Another connection keeps a fetch of an activity waiting for 600 ms. The lock that it is granted then, of 400 ms, is whole.
#[tokio::test]
async fn the_lock_of_an_activity_counts_from_its_grant() {
    let store = Store::new("wait").await;
    let item = WorkItem::ActivityExecute {
        instance: "i".to_owned(), execution_id: 1, id: 2, name: "Pay".to_owned(), input: String::new(), session_id: None, tag: None,
    };
    store.pg.enqueue_for_worker(item).await.unwrap();
    let mut other = store.connection().await;
    let mut held = other.begin().await.unwrap();
    held.execute("LOCK TABLE worker_queue IN ACCESS EXCLUSIVE MODE").await.unwrap();
    let pg = store.pg.clone();
    let fetching = tokio::spawn(async move { pg.fetch_work_item(ms(400), Duration::ZERO, None, &TagFilter::Any).await });
    tokio::time::sleep(ms(600)).await;
    held.commit().await.unwrap();
    let (_, token, _) = fetching.await.unwrap().unwrap().expect("an activity");
    let done = WorkItem::ActivityCompleted { instance: "i".to_owned(), execution_id: 1, id: 2, result: String::new() };
    let acked = store.pg.ack_work_item(&token, Some(done)).await;
    assert!(acked.is_ok(), "within the lock: {acked:?}");
}

/// A message of a kind that this release does not know: the fetch tells it, as the core asks for histories.
#[tokio::test]
async fn an_unknown_message_is_told() {
    let store = Store::new("unknown").await;
    store.start("i").await;
    let (_, token, _) = store.fetch(SOON).await.unwrap();
    store.ack(&token, "0.1.32").await.unwrap();
    store.pg.enqueue_for_orchestrator(event("i"), None).await.unwrap();
    store.sql(r#"UPDATE orchestrator_queue SET work_item = '{"OfANewerRelease": {"instance": "i"}}'"#).await;
    let fetched = store.pg.fetch_orchestration_item(SOON, Duration::ZERO, None).await;
    let told = matches!(&fetched, Ok(Some((item, _, _))) if item.history_error.is_some());
    assert!(told, "told as history_error: {:?}", fetched.err());
}

/// An execution pinned to 1.1500.0 is outside of 2.0.0 to 12.0.0.
#[tokio::test]
async fn versions_above_999_are_compared() {
    let store = Store::new("packed").await;
    store.start("i").await;
    let (_, token, _) = store.fetch(SOON).await.unwrap();
    store.ack(&token, "1.1500.0").await.unwrap();
    store.pg.enqueue_for_orchestrator(event("i"), None).await.unwrap();
    let range = SemverRange::new(semver::Version::new(2, 0, 0), semver::Version::new(12, 0, 0));
    let filter = DispatcherCapabilityFilter { supported_duroxide_versions: vec![range] };
    let fetched = store.pg.fetch_orchestration_item(SOON, Duration::ZERO, Some(&filter)).await.unwrap();
    assert!(fetched.is_none(), "1.1500.0 is outside of 2.0.0 to 12.0.0");
}

/// A lock of 1.5 s is renewed by 1.9 s after one second, and used after two and a quarter.
#[tokio::test]
async fn a_renewal_counts_milliseconds() {
    let store = Store::new("renew").await;
    store.start("i").await;
    let (_, token, _) = store.fetch(ms(1500)).await.unwrap();
    tokio::time::sleep(ms(1000)).await;
    store.pg.renew_orchestration_item_lock(&token, ms(1900)).await.unwrap();
    tokio::time::sleep(ms(1250)).await;
    let acked = store.ack(&token, "0.1.32").await;
    assert!(acked.is_ok(), "within the renewed lock: {acked:?}");
}

/// A key that the first execution has set and the second has cleared.
#[tokio::test]
async fn a_cleared_key_is_not_counted() {
    let store = Store::new("stats").await;
    let code = OrchestrationRegistry::builder()
        .register("Order", |ctx: OrchestrationContext, input: String| async move {
            if input.is_empty() {
                ctx.set_kv_value("key", "value");
                return ctx.continue_as_new("second").await;
            }
            ctx.clear_kv_value("key");
            Ok(ctx.schedule_wait("go").await)
        })
        .build();
    let (_runtime, client) = store.run(code).await;
    client.start_orchestration("i", "Order", "").await.unwrap();
    while client.read_execution_history("i", 2).await.map_or(0, |events| events.len()) < 3 {
        tokio::time::sleep(ms(10)).await;
    }
    assert_eq!(client.get_kv_all_values("i").await.unwrap().len(), 0);
    assert_eq!(client.get_orchestration_stats("i").await.unwrap().unwrap().kv_user_key_count, 0, "keys that are counted");
}

/// An orchestration waits for a timer of an hour, which is a message that no lock holds.
#[tokio::test]
async fn a_timer_counts_as_queued() {
    let store = Store::new("depth").await;
    let code = OrchestrationRegistry::builder()
        .register("Order", |ctx: OrchestrationContext, _: String| async move {
            ctx.schedule_timer(Duration::from_secs(3600)).await;
            Ok(String::new())
        })
        .build();
    let (_runtime, client) = store.run(code).await;
    client.start_orchestration("i", "Order", "").await.unwrap();
    running(&client, "i").await;
    assert_eq!(client.get_queue_depths().await.unwrap().orchestrator_queue, 1, "messages that no lock holds");
}

/// A message for a mistyped instance is dropped, and nothing else happens.
#[tokio::test]
async fn a_dropped_message_leaves_no_execution() {
    let store = Store::new("orphan").await;
    let (_runtime, client) = store.run(OrchestrationRegistry::builder().register("Order", waits).build()).await;
    client.enqueue_event("typo", "mail", "hello").await.unwrap();
    client.start_orchestration("i", "Order", "").await.unwrap();
    running(&client, "i").await;
    tokio::time::sleep(ms(500)).await;
    assert_eq!(client.get_system_metrics().await.unwrap().total_executions, 1, "executions");
}
