//! What generated programs on nodes of 0.1.32, or the reading that they gave rise to, found beside the list of known switches.
//! As in runtime.rs, each test says what should hold and panics where 0.1.32 does something else.

use duroxide::runtime::RuntimeOptions;
use duroxide::runtime::registry::{ActivityRegistry, OrchestrationRegistry};
use duroxide::{ActivityContext, Client, Either2, OrchestrationContext};
use duroxide_seen::{Store, end, options, run};
use std::time::Duration;

/// How long to wait for what must come, however busy the machine is.
const SOON: Duration = Duration::from_secs(60);

fn activities() -> ActivityRegistry {
    ActivityRegistry::builder().register("Quick", |_: ActivityContext, input: String| async move { Ok(input) }).build()
}

/// The database is busy once while a key is read: the orchestration fails, although an activity that is given back would
/// read it a moment later.
#[tokio::test]
#[should_panic(expected = "get_kv_value client error")]
async fn key_read_not_retried() {
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
#[should_panic(expected = "the second call is answered: running")]
async fn refused_in_batch_untold() {
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
#[should_panic(expected = "nondeterministic: schedule mismatch")]
async fn queue_race_replayed_otherwise() {
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
#[should_panic(expected = "the node works again: running")]
async fn fetch_backoff_overflows() {
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
