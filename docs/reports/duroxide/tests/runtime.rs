//! The runtime on the SQLite provider in memory. Each test says what should hold, and fails on 0.1.32. Times are real, and
//! short.

use duroxide::providers::{Provider, SemverRange, WorkItem};
use duroxide::runtime::RuntimeOptions;
use duroxide::runtime::registry::{ActivityRegistry, OrchestrationRegistry};
use duroxide::{ActivityContext, Client, Either2, OrchestrationContext};
use duroxide_reports::{Store, end, options, run, status};
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

/// The activities "Quick", which returns its input, and "Slow", which takes 1.2 seconds to do so.
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

/// The database is busy for a third of a second.
#[tokio::test]
async fn a_busy_database_fails_no_orchestration() {
    let store = Store::new().await;
    let code = OrchestrationRegistry::builder()
        .register("Order", |ctx: OrchestrationContext, _: String| async move { ctx.schedule_activity("Quick", "paid").await })
        .build();
    store.refuse("ack_orchestration_item", 6);
    let (_runtime, client) = run(&store, activities(), code, options()).await;
    client.start_orchestration("i", "Order", "").await.unwrap();
    assert_eq!(end(&client, "i", SOON).await, "completed: paid");
}

/// If its failure cannot be stored either, the turn is given back.
#[tokio::test]
async fn a_turn_that_cannot_be_stored_is_given_back() {
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

/// One renewal of an activity's lock is refused, a second before it runs out.
#[tokio::test]
async fn a_refused_renewal_loses_no_activity() {
    let store = Store::new().await;
    let code = OrchestrationRegistry::builder()
        .register("Order", |ctx: OrchestrationContext, _: String| async move { ctx.schedule_activity("Slow", "paid").await })
        .build();
    store.refuse("renew_work_item_lock", 1);
    let (_runtime, client) = run(&store, activities(), code, options()).await;
    client.start_orchestration("i", "Order", "").await.unwrap();
    assert_eq!(end(&client, "i", ms(6000)).await, "completed: paid");
}

/// One renewal of a turn's lock is refused; the turn takes longer than the lock, since the store is slow, and runs once.
#[tokio::test]
async fn a_refused_renewal_repeats_no_turn() {
    let store = Store::new().await;
    let runs = Arc::new(AtomicU32::new(0));
    let counted = runs.clone();
    let code = OrchestrationRegistry::builder()
        .register("Order", move |_: OrchestrationContext, _: String| {
            counted.fetch_add(1, Ordering::SeqCst);
            async { Ok("done".to_owned()) }
        })
        .build();
    store.refuse("renew_orchestration_item_lock", 1);
    store.slow("ack_orchestration_item", ms(3500));
    let (_runtime, client) = run(&store, activities(), code, options()).await;
    client.start_orchestration("i", "Order", "").await.unwrap();
    end(&client, "i", ms(8000)).await;
    assert_eq!(runs.load(Ordering::SeqCst), 1, "the turn ran once");
}

/// One ack of an activity is refused, and the activity runs again.
#[tokio::test]
async fn a_refused_ack_repeats_no_activity() {
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

/// What is started in a turn that continues as new never exists.
#[tokio::test]
async fn a_detached_start_survives_continue_as_new() {
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

/// A child that is dropped in the turn that schedules it gets a cancel, and no start.
#[tokio::test]
async fn a_dropped_child_leaves_nothing_in_the_queue() {
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

/// An orchestration panics, and its child waits for ever.
#[tokio::test]
async fn children_end_with_their_parent() {
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

/// A child sets too many keys; it fails, and its parent waits for ever.
#[tokio::test]
async fn a_parent_is_told_of_its_childs_limit() {
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

/// 200 keys are too many in one turn, and allowed in two.
#[tokio::test]
async fn the_key_limit_counts_all_turns() {
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

/// A key is as old as the turn that replays the code, so that nothing of this execution is ever old.
#[tokio::test]
async fn keys_grow_old() {
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

/// A start that was delivered too often makes an execution without a pin.
#[tokio::test]
async fn a_poisoned_start_has_a_pin() {
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

/// An orchestration is poisoned, and its child waits for ever.
#[tokio::test]
async fn children_end_with_their_poisoned_parent() {
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

/// A left-over message that was delivered too often fails an orchestration that has completed.
#[tokio::test]
async fn a_late_message_fails_no_completed_orchestration() {
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

/// A damaged instance is poisoned; its next message is poisoned again, which the store refuses, for ever.
#[tokio::test]
async fn a_damaged_instance_is_poisoned_once() {
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

/// The parent of a damaged child waits for ever.
#[tokio::test]
async fn a_parent_is_told_of_its_damaged_child() {
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

/// An activity has completed; a second, failed outcome of it kills the orchestration.
#[tokio::test]
async fn a_second_outcome_is_dropped() {
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

/// A store that filters too little hands a node what it cannot run; it is given back for ever.
#[tokio::test]
async fn incompatible_work_is_poisoned() {
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

/// A node of a release candidate is handed what its release has begun, and gives it back until a
/// node of the release takes it for poison.
#[tokio::test]
async fn a_release_candidate_poisons_nothing() {
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

/// The database is busy once while a key is read: the orchestration fails, although an activity that is given back would
/// read it a moment later.
#[tokio::test]
async fn a_busy_database_fails_no_key_read() {
    let store = Store::new().await;
    let code = OrchestrationRegistry::builder()
        .register("Reader", |ctx: OrchestrationContext, _: String| async move {
            let value = ctx.get_kv_value_from_instance("elsewhere", "key").await?;
            Ok(value.unwrap_or_else(|| "no value".to_owned()))
        })
        .build();
    store.refuse("get_kv_value", 1);
    let (_runtime, client) = run(&store, activities(), code, options()).await;
    client.start_orchestration("i", "Reader", "").await.unwrap();
    assert_eq!(end(&client, "i", SOON).await, "completed: no value");
}

/// One parent asks for two children of the same name. Both starts are delivered in one batch, which makes the child; the other
/// start is left out without a word, and its caller waits for ever. In two batches, it is answered.
#[tokio::test]
async fn a_second_start_in_a_batch_is_answered() {
    let store = Store::new().await;
    let code = OrchestrationRegistry::builder()
        .register("Child", |_: OrchestrationContext, input: String| async move { Ok(input) })
        .register("Boss", |ctx: OrchestrationContext, _: String| async move {
            let one = ctx.schedule_sub_orchestration_with_id("Child", "child-1", "one");
            let two = ctx.schedule_sub_orchestration_with_id("Child", "child-1", "two");
            let told = ctx.join(vec![one, two]).await;
            Ok(format!("{told:?}"))
        })
        .build();
    let (_runtime, client) = run(&store, activities(), code, options()).await;
    client.start_orchestration("i", "Boss", "").await.unwrap();
    let boss = end(&client, "i", Duration::from_millis(1500)).await;
    assert!(boss.contains("already exists"), "the second call is answered: {boss}");
}

/// Sends a message to each of two queues, which the orchestration reads later.
async fn messages(client: &Client, instance: &str) {
    client.enqueue_event(instance, "orders", "order").await.unwrap();
    client.enqueue_event(instance, "stops", "stop").await.unwrap();
}

/// Both messages have come when the code asks for them. It asks for an order first, and prefers a stop. In the turn that
/// asks, both dequeues are bound before the code goes on, and the stop wins. On replay the code goes on as soon as the first
/// is bound, the order wins, and the execution is killed as nondeterministic, which its code is not.
#[tokio::test]
async fn a_race_of_queues_is_replayed_as_it_was() {
    let store = Store::new().await;
    let code = OrchestrationRegistry::builder()
        .register("Server", |ctx: OrchestrationContext, _: String| async move {
            ctx.schedule_timer(Duration::from_millis(500)).await;
            let order = ctx.dequeue_event("orders");
            let stop = ctx.dequeue_event("stops");
            let said = match ctx.select2(stop, order).await {
                Either2::First(stop) => stop,
                Either2::Second(order) => order,
            };
            ctx.schedule_activity("Quick", said).await
        })
        .build();
    let (_runtime, client) = run(&store, activities(), code, options()).await;
    client.start_orchestration("i", "Server", "").await.unwrap();
    messages(&client, "i").await;
    assert_eq!(end(&client, "i", SOON).await, "completed: stop");
}

/// The database is busy for three minutes, in which 58 fetches fail in a row. The backoff is 100 * 2^58 ms before it is
/// capped: more than fits. With overflow checks, as in this test, the loop that fetches ends, and the node never works again;
/// without, the backoff is 0 from the 62nd failure on, and the loop asks without a pause.
#[tokio::test]
async fn a_node_survives_a_long_outage() {
    let outage = 58;
    let store = Store::new().await;
    let code = OrchestrationRegistry::builder()
        .register("Order", |ctx: OrchestrationContext, _: String| async move { ctx.schedule_activity("Quick", "paid").await })
        .build();
    store.refuse("fetch_work_item", outage);
    let one = RuntimeOptions { orchestration_concurrency: 1, worker_concurrency: 1, ..options() };
    let (_runtime, client) = run(&store, activities(), code, one).await;
    tokio::time::pause(); // which lets time pass at once
    while store.calls("fetch_work_item") < outage {
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    tokio::time::resume();
    client.start_orchestration("i", "Order", "").await.unwrap();
    let end = end(&client, "i", SOON).await;
    assert_eq!(end, "completed: paid", "the node works again: {end}");
}

/// A child that a release before 0.1.30 has started does not know which execution of its parent asked for it. The parent has
/// continued as new, and now waits for another child: it must not take the answer of the first for that of the second.
#[tokio::test]
async fn an_old_child_does_not_answer_the_next_execution() {
    let store = Store::new().await;
    let code = OrchestrationRegistry::builder()
        .register("Child", waits)
        .register("Boss", |ctx: OrchestrationContext, input: String| async move {
            if input == "again" {
                return ctx.schedule_sub_orchestration_with_id("Child", "child-2", "").await;
            }
            let _unread = ctx.schedule_sub_orchestration_with_id("Child", "child-1", "");
            ctx.schedule_timer(ms(300)).await;
            ctx.continue_as_new("again").await
        })
        .build();
    let (_runtime, client) = run(&store, activities(), code, options()).await;
    client.start_orchestration("i", "Boss", "").await.unwrap();
    while store.kinds("child-2").await.len() < 2 {
        tokio::time::sleep(ms(10)).await;
    }
    // What a release before 0.1.30 writes.
    store.sql(r#"UPDATE history SET event_data = replace(event_data, '"parent_execution_id":1', '"parent_execution_id":null') WHERE instance_id = 'child-1'"#).await;
    client.raise_event("child-1", "go", "answer of child-1").await.unwrap();
    end(&client, "child-1", SOON).await;
    client.raise_event("child-2", "go", "answer of child-2").await.unwrap();
    assert_eq!(end(&client, "i", SOON).await, "completed: answer of child-2");
}
