//! The code of README.md. A test compares it with the page.

#[path = "../examples/queue.rs"]
mod queue;

use duroxide::runtime::Runtime;
use duroxide::runtime::registry::ActivityRegistry;
use duroxide::{ActivityContext, Client, OrchestrationContext, OrchestrationRegistry, OrchestrationStatus};
use std::time::Duration;

/// A provider under test: compiled, and not run, as the checks of a whole provider would fail on a queue.
#[allow(dead_code, unnameable_test_items)]
fn provider_under_test() {
    struct MyProvider;
    impl MyProvider {
        async fn in_memory() -> queue::Queue {
            queue::Queue::default()
        }
    }
    // tests/contract.rs: a test target of its own, since the wall clock stands still in it.
    durosim::conformance!(|| async { MyProvider::in_memory().await });

    #[test]
    fn oracle() {
        durosim::oracle(|| async { MyProvider::in_memory().await }).seeds(1..=1000).keep_going().run();
    }
}

fn activities() -> ActivityRegistry {
    ActivityRegistry::builder().register("Charge", |_: ActivityContext, order: String| async move { Ok(order) }).build()
}

fn orchestrations() -> OrchestrationRegistry {
    let order = |ctx: OrchestrationContext, order: String| async move {
        ctx.schedule_timer(Duration::from_secs(3 * 3600)).await;
        ctx.schedule_activity("Charge", order).await
    };
    OrchestrationRegistry::builder().register("Order", order).build()
}

#[tokio::test(start_paused = true)]
async fn an_order_survives_a_bad_store() {
    let store = durosim::Store::virtual_time().faults(durosim::Faults::Light, 7).start().unwrap();
    let runtime = Runtime::start_with_store(store.provider(), activities(), orchestrations()).await;
    let client = Client::new(store.provider());
    client.start_orchestration("order-1", "Order", "three apples").await.unwrap();
    tokio::time::sleep(Duration::from_secs(3 * 3600)).await; // hours pass in milliseconds
    let end = client.wait_for_orchestration("order-1", Duration::from_secs(3600)).await.unwrap();
    assert!(matches!(end, OrchestrationStatus::Completed { .. }));
    runtime.shutdown(None).await;
}

#[test]
fn the_page_has_this_code() {
    let without_indent = |text: &str| text.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n");
    let this = without_indent(include_str!("readme.rs"));
    let page = include_str!("../README.md");
    let blocks: Vec<_> = page.split("```rust,ignore\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert_eq!(blocks.len(), 2);
    for block in blocks {
        assert!(this.contains(&without_indent(block)), "the page says something else:\n{block}");
    }
}
