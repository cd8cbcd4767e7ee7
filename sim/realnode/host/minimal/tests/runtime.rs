//! The runtime on the SQLite provider in memory. Each test says what should hold, and panics, as it is marked to do, where
//! 0.1.32 does something else: without the mark it is a regression test. Times are real, and short.

use duroxide::providers::{Provider, SemverRange, WorkItem};
use duroxide::runtime::RuntimeOptions;
use duroxide::runtime::registry::{ActivityRegistry, OrchestrationRegistry};
use duroxide::{ActivityContext, Either2, OrchestrationContext};
use duroxide_seen::{Store, end, options, run, status};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// How long to wait for what must come, however busy the machine is.
const SOON: Duration = Duration::from_secs(60);

fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

/// Options for turns that write many keys, which a busy machine takes seconds to store.
fn patient() -> RuntimeOptions {
    RuntimeOptions { orchestrator_lock_timeout: SOON, ..options() }
}

fn activities() -> ActivityRegistry {
    ActivityRegistry::builder()
        .register("Quick", |_: ActivityContext, input: String| async move { Ok(input) })
        .register("Slow", |_: ActivityContext, input: String| async move {
            tokio::time::sleep(ms(1200)).await;
            Ok(input)
        })
        .build()
}

/// An orchestration that waits for an event, for ever.
async fn waits(ctx: OrchestrationContext, _: String) -> Result<String, String> {
    Ok(ctx.schedule_wait("go").await)
}

/// `ack-failure-fails-orchestration`: the database is busy for a third of a second.
#[tokio::test]
#[should_panic(expected = "failed: infrastructure")]
async fn ack_failure_fails_orchestration() {
    let store = Store::new().await;
    let code = OrchestrationRegistry::builder()
        .register("Order", |ctx: OrchestrationContext, _: String| async move { ctx.schedule_activity("Quick", "paid").await })
        .build();
    store.refuse("ack_orchestration_item", 6);
    let (_runtime, client) = run(&store, activities(), code, options()).await;
    client.start_orchestration("i", "Order", "").await.unwrap();
    assert_eq!(end(&client, "i", SOON).await, "completed: paid");
}

/// `turn-abandon-not-sent`: nor is the turn given back, when its failure cannot be stored either.
#[tokio::test]
#[should_panic(expected = "the turn is given back")]
async fn turn_abandon_not_sent() {
    let store = Store::new().await;
    let code = OrchestrationRegistry::builder().register("Order", waits).build();
    store.refuse("ack_orchestration_item", 12);
    let (_runtime, client) = run(&store, activities(), code, options()).await;
    client.start_orchestration("i", "Order", "").await.unwrap();
    while store.calls("ack_orchestration_item") < 12 {
        tokio::time::sleep(ms(10)).await;
    }
    tokio::time::sleep(ms(100)).await;
    assert!(store.calls("abandon_orchestration_item") > 0, "the turn is given back");
}

/// `renewal-error-cancels`: one renewal of an activity's lock is refused, a second before it runs out.
#[tokio::test]
#[should_panic(expected = "running")]
async fn renewal_error_cancels() {
    let store = Store::new().await;
    let code = OrchestrationRegistry::builder()
        .register("Order", |ctx: OrchestrationContext, _: String| async move { ctx.schedule_activity("Slow", "paid").await })
        .build();
    store.refuse("renew_work_item_lock", 1);
    let (_runtime, client) = run(&store, activities(), code, options()).await;
    client.start_orchestration("i", "Order", "").await.unwrap();
    assert_eq!(end(&client, "i", ms(6000)).await, "completed: paid");
}

/// `turn-renewal-gives-up`: one renewal of a turn's lock is refused; the turn takes longer than the lock, and runs twice.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
#[should_panic(expected = "the turn ran once")]
async fn turn_renewal_gives_up() {
    let store = Store::new().await;
    let runs = Arc::new(AtomicU32::new(0));
    let counted = runs.clone();
    let code = OrchestrationRegistry::builder()
        .register("Order", move |_: OrchestrationContext, _: String| {
            let counted = counted.clone();
            async move {
                counted.fetch_add(1, Ordering::SeqCst);
                std::thread::sleep(ms(3500));
                Ok("done".to_owned())
            }
        })
        .build();
    store.refuse("renew_orchestration_item_lock", 1);
    let (_runtime, client) = run(&store, activities(), code, options()).await;
    client.start_orchestration("i", "Order", "").await.unwrap();
    end(&client, "i", ms(8000)).await;
    assert_eq!(runs.load(Ordering::SeqCst), 1, "the turn ran once");
}

/// `worker-ack-not-retried`: one ack of an activity is refused, and the activity runs again.
#[tokio::test]
#[should_panic(expected = "the activity ran once")]
async fn worker_ack_not_retried() {
    let store = Store::new().await;
    let runs = Arc::new(AtomicU32::new(0));
    let counted = runs.clone();
    let pays = ActivityRegistry::builder()
        .register("Pay", move |_: ActivityContext, _: String| {
            let counted = counted.clone();
            async move {
                counted.fetch_add(1, Ordering::SeqCst);
                Ok("paid".to_owned())
            }
        })
        .build();
    let code = OrchestrationRegistry::builder()
        .register("Order", |ctx: OrchestrationContext, _: String| async move { ctx.schedule_activity("Pay", "").await })
        .build();
    store.refuse("ack_work_item", 1);
    let (_runtime, client) = run(&store, pays, code, options()).await;
    client.start_orchestration("i", "Order", "").await.unwrap();
    end(&client, "i", SOON).await;
    assert_eq!(runs.load(Ordering::SeqCst), 1, "the activity ran once");
}

/// `detached-lost-in-can`: what is started in a turn that continues as new never exists.
#[tokio::test]
#[should_panic(expected = "not found")]
async fn detached_lost_in_can() {
    let store = Store::new().await;
    let code = OrchestrationRegistry::builder()
        .register("Mail", |_: OrchestrationContext, _: String| async { Ok("sent".to_owned()) })
        .register("Loop", |ctx: OrchestrationContext, input: String| async move {
            if input == "again" {
                return Ok("done".to_owned());
            }
            ctx.schedule_orchestration("Mail", "mail-1", "");
            ctx.continue_as_new("again").await
        })
        .build();
    let (_runtime, client) = run(&store, activities(), code, options()).await;
    client.start_orchestration("i", "Loop", "").await.unwrap();
    assert_eq!(end(&client, "i", SOON).await, "completed: done");
    assert_eq!(end(&client, "mail-1", ms(500)).await, "completed: sent");
}

/// `unstarted-child-cancelled`: a child that is dropped in the turn that schedules it gets a cancel, and no start.
#[tokio::test]
#[should_panic(expected = "nothing is left in the queue")]
async fn unstarted_child_cancelled() {
    let store = Store::new().await;
    let code = OrchestrationRegistry::builder()
        .register("Child", waits)
        .register("Boss", |ctx: OrchestrationContext, _: String| async move {
            drop(ctx.schedule_sub_orchestration("Child", ""));
            Ok("done".to_owned())
        })
        .build();
    let (_runtime, client) = run(&store, activities(), code, options()).await;
    client.start_orchestration("i", "Boss", "").await.unwrap();
    assert_eq!(end(&client, "i", SOON).await, "completed: done");
    tokio::time::sleep(ms(500)).await;
    assert_eq!(store.queued().await, 0, "nothing is left in the queue");
}

/// `children-left-running`: an orchestration panics, and its child waits for ever.
#[tokio::test]
#[should_panic(expected = "the child has ended: running")]
async fn children_left_running() {
    let store = Store::new().await;
    let code = OrchestrationRegistry::builder()
        .register("Child", waits)
        .register("Boss", |ctx: OrchestrationContext, _: String| async move {
            let child = ctx.schedule_sub_orchestration_with_id("Child", "child-1", "");
            if let Either2::First(()) = ctx.select2(ctx.schedule_timer(ms(300)), child).await {
                panic!("out of luck");
            }
            Ok(String::new())
        })
        .build();
    let (_runtime, client) = run(&store, activities(), code, options()).await;
    client.start_orchestration("i", "Boss", "").await.unwrap();
    assert!(end(&client, "i", SOON).await.starts_with("failed"));
    let child = end(&client, "child-1", ms(1500)).await;
    assert!(!child.starts_with("running"), "the child has ended: {child}");
}

/// `limit-failure-appended`: a child sets too many keys; it fails, and its parent waits for ever.
#[tokio::test]
#[should_panic(expected = "the parent is told: running")]
async fn limit_failure_appended() {
    let store = Store::new().await;
    let code = OrchestrationRegistry::builder()
        .register("Hoarder", |ctx: OrchestrationContext, _: String| async move {
            for i in 0..200 {
                ctx.set_kv_value(format!("key-{i}"), "x");
            }
            Ok("done".to_owned())
        })
        .register("Boss", |ctx: OrchestrationContext, _: String| async move {
            ctx.schedule_sub_orchestration_with_id("Hoarder", "child-1", "").await
        })
        .build();
    let (_runtime, client) = run(&store, activities(), code, patient()).await;
    client.start_orchestration("i", "Boss", "").await.unwrap();
    let child = end(&client, "child-1", SOON).await;
    assert!(child.contains("exceeds limit"), "the child fails: {child}");
    let boss = end(&client, "i", ms(1500)).await;
    assert!(!boss.starts_with("running"), "the parent is told: {boss}");
}

/// `kv-keys-per-turn`: 200 keys are too many in one turn, and allowed in two.
#[tokio::test]
#[should_panic(expected = "200 keys are too many")]
async fn kv_keys_per_turn() {
    let store = Store::new().await;
    let code = OrchestrationRegistry::builder()
        .register("Hoarder", |ctx: OrchestrationContext, _: String| async move {
            for i in 0..100 {
                ctx.set_kv_value(format!("key-{i}"), "x");
            }
            ctx.schedule_timer(ms(50)).await;
            for i in 100..200 {
                ctx.set_kv_value(format!("key-{i}"), "x");
            }
            Ok("done".to_owned())
        })
        .build();
    let (_runtime, client) = run(&store, activities(), code, patient()).await;
    client.start_orchestration("i", "Hoarder", "").await.unwrap();
    assert_ne!(end(&client, "i", SOON).await, "completed: done", "200 keys are too many");
}

/// `kv-stamp-fresh`: a key is as old as the turn that replays the code, so that nothing of this execution is ever old.
#[tokio::test]
#[should_panic(expected = "completed: pruned 0")]
async fn kv_stamp_fresh() {
    let store = Store::new().await;
    let code = OrchestrationRegistry::builder()
        .register("Tidy", |ctx: OrchestrationContext, _: String| async move {
            ctx.set_kv_value("old", "x");
            ctx.schedule_timer(ms(300)).await;
            let now = ctx.utc_now().await?;
            let now = now.duration_since(std::time::UNIX_EPOCH).unwrap().as_millis() as u64;
            let pruned = ctx.prune_kv_values_updated_before(now);
            ctx.schedule_timer(ms(50)).await;
            Ok(format!("pruned {pruned}"))
        })
        .build();
    let (_runtime, client) = run(&store, activities(), code, options()).await;
    client.start_orchestration("i", "Tidy", "").await.unwrap();
    assert_eq!(end(&client, "i", SOON).await, "completed: pruned 1");
}

/// `poisoned-start-unpinned`: a start that was delivered too often makes an execution without a pin.
#[tokio::test]
#[should_panic(expected = "every execution has a pin")]
async fn poisoned_start_unpinned() {
    let store = Store::new().await;
    let code = OrchestrationRegistry::builder().register("Order", waits).build();
    store.start("i", "Order").await;
    store.deliver(3).await;
    let (_runtime, client) = run(&store, activities(), code, options()).await;
    assert!(end(&client, "i", SOON).await.contains("exceeded"));
    let row: (Option<i64>,) = sqlx::query_as("SELECT duroxide_version_minor FROM executions WHERE instance_id = 'i'")
        .fetch_one(store.sqlite.get_pool())
        .await
        .unwrap();
    assert!(row.0.is_some(), "every execution has a pin");
}

/// `poison-cancels-nothing`: an orchestration is poisoned, and its child waits for ever.
#[tokio::test]
#[should_panic(expected = "the child has ended: running")]
async fn poison_cancels_nothing() {
    let store = Store::new().await;
    let code = || {
        OrchestrationRegistry::builder()
            .register("Child", waits)
            .register("Boss", |ctx: OrchestrationContext, _: String| async move {
                ctx.schedule_sub_orchestration_with_id("Child", "child-1", "").await
            })
            .build()
    };
    let (runtime, client) = run(&store, activities(), code(), options()).await;
    client.start_orchestration("i", "Boss", "").await.unwrap();
    while status(&client, "child-1").await != "running" || store.kinds("child-1").await.len() < 2 {
        tokio::time::sleep(ms(10)).await;
    }
    runtime.shutdown(None).await;
    client.raise_event("i", "anything", "").await.unwrap();
    store.deliver(3).await;
    let (_runtime, client) = run(&store, activities(), code(), options()).await;
    assert!(end(&client, "i", SOON).await.contains("exceeded"));
    let child = end(&client, "child-1", ms(1500)).await;
    assert!(!child.starts_with("running"), "the child has ended: {child}");
}

/// `terminal-poisoned`: a left-over message that was delivered too often fails an orchestration that has completed.
#[tokio::test]
#[should_panic(expected = "failed: poison")]
async fn terminal_poisoned() {
    let store = Store::new().await;
    let code = || OrchestrationRegistry::builder().register("Order", |_: OrchestrationContext, _: String| async { Ok("paid".to_owned()) }).build();
    let (runtime, client) = run(&store, activities(), code(), options()).await;
    client.start_orchestration("i", "Order", "").await.unwrap();
    assert_eq!(end(&client, "i", SOON).await, "completed: paid");
    runtime.shutdown(None).await;
    client.raise_event("i", "late", "").await.unwrap();
    store.deliver(3).await;
    let (_runtime, client) = run(&store, activities(), code(), options()).await;
    tokio::time::sleep(ms(700)).await;
    assert_eq!(status(&client, "i").await, "completed: paid");
}

/// Leaves an instance with a damaged history behind, and returns its store with one message for it.
async fn damaged(orchestration: &str, instance: &str, child: &str, code: OrchestrationRegistry) -> Arc<Store> {
    let store = Store::new().await;
    let (runtime, client) = run(&store, activities(), code, options()).await;
    client.start_orchestration(instance, orchestration, "").await.unwrap();
    while store.kinds(child).await.len() < 2 {
        tokio::time::sleep(ms(10)).await;
    }
    runtime.shutdown(None).await;
    store.sql(&format!("UPDATE history SET event_data = 'damaged' WHERE instance_id = '{child}' AND event_id = 2")).await;
    client.raise_event(child, "go", "").await.unwrap();
    store
}

/// `status-by-history`: a damaged instance is poisoned; its next message is poisoned again, which the store refuses, for ever.
#[tokio::test]
#[should_panic(expected = "the second message has left the queue")]
async fn status_by_history() {
    let code = || OrchestrationRegistry::builder().register("Order", waits).build();
    let store = damaged("Order", "i", "i", code()).await;
    let quick = RuntimeOptions { max_attempts: 1, orchestrator_lock_timeout: ms(1000), ..options() };
    let (_runtime, client) = run(&store, activities(), code(), quick).await;
    while store.queued().await > 0 {
        tokio::time::sleep(ms(10)).await;
    }
    client.raise_event("i", "go", "").await.unwrap();
    tokio::time::sleep(ms(6000)).await;
    assert_eq!(store.queued().await, 0, "the second message has left the queue");
}

/// `corrupted-parent-not-told`: the parent of a damaged child waits for ever.
#[tokio::test]
#[should_panic(expected = "the parent is told: running")]
async fn corrupted_parent_not_told() {
    let code = || {
        OrchestrationRegistry::builder()
            .register("Child", waits)
            .register("Boss", |ctx: OrchestrationContext, _: String| async move {
                ctx.schedule_sub_orchestration_with_id("Child", "child-1", "").await
            })
            .build()
    };
    let store = damaged("Boss", "i", "child-1", code()).await;
    let quick = RuntimeOptions { max_attempts: 1, ..options() };
    let (_runtime, client) = run(&store, activities(), code(), quick).await;
    tokio::time::sleep(ms(2500)).await;
    let boss = end(&client, "i", ms(500)).await;
    assert!(!boss.starts_with("running"), "the parent is told: {boss}");
}

/// `other-outcome-applied`: an activity has completed; a second, failed outcome of it kills the orchestration.
#[tokio::test]
#[should_panic(expected = "nondeterministic")]
async fn other_outcome_applied() {
    let store = Store::new().await;
    let code = OrchestrationRegistry::builder()
        .register("Order", |ctx: OrchestrationContext, _: String| async move {
            ctx.schedule_activity("Quick", "paid").await?;
            ctx.schedule_timer(ms(800)).await;
            Ok("done".to_owned())
        })
        .build();
    let (_runtime, client) = run(&store, activities(), code, options()).await;
    client.start_orchestration("i", "Order", "").await.unwrap();
    while !store.kinds("i").await.contains(&"ActivityCompleted".to_owned()) {
        tokio::time::sleep(ms(10)).await;
    }
    // The ack of a worker whose lock had run out, say, on a store that lets it in.
    let other = WorkItem::ActivityFailed {
        instance: "i".to_owned(),
        execution_id: 1,
        id: 2,
        details: duroxide::ErrorDetails::Application {
            kind: duroxide::AppErrorKind::ActivityFailed,
            message: "too late".to_owned(),
            retryable: false,
        },
    };
    store.sqlite.enqueue_for_orchestrator(other, None).await.unwrap();
    assert_eq!(end(&client, "i", SOON).await, "completed: done");
}

/// `version-check-first`: a store that filters too little hands a node what it cannot run; it is given back for ever.
#[tokio::test]
#[should_panic(expected = "the start is poisoned")]
async fn version_check_first() {
    let store = Store::new().await;
    let code = || OrchestrationRegistry::builder().register("Order", waits).build();
    let (runtime, client) = run(&store, activities(), code(), options()).await;
    client.start_orchestration("i", "Order", "").await.unwrap();
    while store.kinds("i").await.len() < 2 {
        tokio::time::sleep(ms(10)).await;
    }
    runtime.shutdown(None).await;
    // The provider filters by its columns, the runtime by what the history says: here they differ.
    store.sql("UPDATE history SET event_data = replace(event_data, '0.1.32', '9.9.9') WHERE instance_id = 'i'").await;
    client.raise_event("i", "anything", "").await.unwrap();
    store.deliver(5).await;
    let (_runtime, client) = run(&store, activities(), code(), options()).await;
    let end = end(&client, "i", ms(3500)).await;
    assert!(end.contains("poison"), "the start is poisoned: {end}, given back {} times", store.calls("abandon_orchestration_item"));
}

/// `prerelease-packed`: a node of a release candidate is handed what its release has begun, and gives it back until a
/// node of the release takes it for poison.
#[tokio::test]
#[should_panic(expected = "failed: poison")]
async fn prerelease_packed() {
    let store = Store::new().await;
    let code = || OrchestrationRegistry::builder().register("Order", waits).build();
    let (release, client) = run(&store, activities(), code(), options()).await;
    client.start_orchestration("i", "Order", "").await.unwrap();
    while store.kinds("i").await.len() < 2 {
        tokio::time::sleep(ms(10)).await;
    }
    release.shutdown(None).await;
    // What a node of 0.1.32-rc.1 asks for, unless it is told otherwise: everything up to itself.
    let range = SemverRange::new(semver::Version::new(0, 0, 0), semver::Version::parse("0.1.32-rc.1").unwrap());
    let candidates = RuntimeOptions { supported_replay_versions: Some(range), ..options() };
    let (candidate, client) = run(&store, activities(), code(), candidates).await;
    client.raise_event("i", "go", "on").await.unwrap();
    for _ in 0..600 {
        if store.calls("abandon_orchestration_item") > options().max_attempts {
            break;
        }
        tokio::time::sleep(ms(10)).await;
    }
    candidate.shutdown(None).await;
    let (_release, client) = run(&store, activities(), code(), options()).await;
    assert_eq!(end(&client, "i", SOON).await, "completed: on");
}
