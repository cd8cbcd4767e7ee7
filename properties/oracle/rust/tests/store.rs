//! Real runtimes of duroxide on durosim's store.

use durosim::{Faults, Store};
use duroxide::runtime::Runtime;
use duroxide::runtime::registry::ActivityRegistry;
use duroxide::{ActivityContext, Client, OrchestrationContext, OrchestrationRegistry, OrchestrationStatus};
use std::time::{Duration, SystemTime};

/// Starts orders, each an activity, a timer of this length, and an activity; returns their ends.
async fn orders(store: &Store, count: u64, pause: Duration) -> Vec<String> {
    let activities = ActivityRegistry::builder()
        .register("Double", |_: ActivityContext, n: String| async move {
            Ok((n.parse::<u64>().map_err(|err| err.to_string())? * 2).to_string())
        })
        .build();
    let order = move |ctx: OrchestrationContext, n: String| async move {
        let doubled = ctx.schedule_activity("Double", n).await?;
        ctx.schedule_timer(pause).await;
        ctx.schedule_activity("Double", doubled).await
    };
    let orchestrations = OrchestrationRegistry::builder().register("Order", order).build();
    let runtime = Runtime::start_with_store(store.provider(), activities, orchestrations).await;
    let client = Client::new(store.provider());
    for n in 0..count {
        client.start_orchestration(format!("order-{n}"), "Order", n.to_string()).await.expect("clients meet no faults");
    }
    tokio::time::sleep(pause).await; // the client would ask ten times a second
    let mut ends = Vec::new();
    for n in 0..count {
        let status = client.wait_for_orchestration(&format!("order-{n}"), Duration::from_secs(60)).await;
        ends.push(match status.expect("it ends in time") {
            OrchestrationStatus::Completed { output, .. } => output,
            other => format!("{other:?}"),
        });
    }
    runtime.shutdown(Some(0)).await;
    ends
}

fn expected(count: u64) -> Vec<String> {
    (0..count).map(|n| (n * 4).to_string()).collect()
}

#[tokio::test(start_paused = true)]
async fn hours_pass_in_virtual_time() {
    let began = SystemTime::now();
    let store = Store::virtual_time().start().expect("simrun");
    let before = SystemTime::now();
    assert_eq!(orders(&store, 3, Duration::from_secs(3600)).await, expected(3));
    let passed = before.elapsed().expect("time goes on");
    assert!((3600..3700).contains(&passed.as_secs()), "{passed:?}");
    drop(store);
    assert!(began.elapsed().expect("the real clock is back") < Duration::from_secs(600));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_in_real_time_with_faults() {
    let store = Store::live().faults(Faults::Light, 7).start().expect("simrun");
    assert_eq!(orders(&store, 5, Duration::from_millis(50)).await, expected(5));
    store.calm();
}
