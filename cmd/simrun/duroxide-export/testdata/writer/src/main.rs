//! Works on a SQLite database with a released duroxide, and stops in the middle: `writer FILE PART..
//!
//! Part 1 is for the older release, part 2 for the newer one on the same file. What they leave behind is what an operator
//! finds before an upgrade: instances that wait for events, timers, children, activities that nobody runs, messages that
//! nobody has looked at, and loops.
use std::sync::Arc;
use std::time::Duration;

use duroxide::providers::sqlite::SqliteProvider;
use duroxide::runtime::Runtime;
use duroxide::runtime::registry::ActivityRegistry;
use duroxide::{ActivityContext, Client, OrchestrationContext, OrchestrationRegistry};

type End = Result<String, String>;

/// Reserves, waits for "approval", charges and ships.
async fn order(ctx: OrchestrationContext, input: String) -> End {
    ctx.set_custom_status("reserving");
    ctx.schedule_activity("Reserve", input.clone()).await?;
    ctx.set_kv_value("reserved", input.clone());
    ctx.set_custom_status("waits for approval");
    let by = ctx.schedule_wait("approval").await;
    ctx.schedule_activity("Charge", by).await?;
    ctx.schedule_timer(Duration::from_millis(100)).await;
    ctx.schedule_activity("Ship", input).await
}

/// Sleeps for thirty days.
async fn subscription(ctx: OrchestrationContext, input: String) -> End {
    ctx.schedule_activity("Welcome", input.clone()).await?;
    ctx.schedule_timer(Duration::from_secs(30 * 24 * 3600)).await;
    ctx.schedule_activity("Renew", input).await
}

/// An activity and a timer, for ever.
async fn poller(ctx: OrchestrationContext, input: String) -> End {
    ctx.schedule_activity("Poll", input.clone()).await?;
    ctx.schedule_timer(Duration::from_millis(500)).await;
    let n: u64 = input.parse().unwrap_or(0);
    ctx.continue_as_new((n + 1).to_string()).await
}

/// Two children that wait for approval.
async fn family(ctx: OrchestrationContext, input: String) -> End {
    let a = ctx.schedule_sub_orchestration("Order", format!("{input}-a"));
    let b = ctx.schedule_sub_orchestration("Order", format!("{input}-b"));
    for end in ctx.join(vec![a, b]).await {
        end?;
    }
    Ok(input)
}

/// An activity that only workers with a GPU run.
async fn render(ctx: OrchestrationContext, input: String) -> End {
    ctx.schedule_activity("Render", input).with_tag("gpu").await
}

/// Takes two messages.
async fn mailbox(ctx: OrchestrationContext, _: String) -> End {
    let first = ctx.dequeue_event("mail").await;
    let second = ctx.dequeue_event("mail").await;
    Ok(first + &second)
}

#[tokio::main]
async fn main() {
    let args: Vec<String> = std::env::args().collect();
    let (file, part) = (&args[1], args[2].as_str());
    let store = Arc::new(SqliteProvider::new(&format!("sqlite:{file}?mode=rwc"), None).await.expect("the database opens"));
    let mut activities = ActivityRegistry::builder();
    for name in ["Reserve", "Charge", "Ship", "Welcome", "Renew", "Poll"] {
        activities = activities.register(name, |_: ActivityContext, input: String| async move { Ok(input) });
    }
    let orchestrations = OrchestrationRegistry::builder()
        .register("Order", order)
        .register("Subscription", subscription)
        .register("Poller", poller)
        .register("Family", family)
        .register("Render", render)
        .register("Mailbox", mailbox)
        .build();
    let runtime = Runtime::start_with_store(store.clone(), activities.build(), orchestrations).await;
    let client = Client::new(store.clone());
    let starts: &[(&str, &str)] = match part {
        "1" => &[("order-1", "Order"), ("order-2", "Order"), ("order-3", "Order"), ("subscription-1", "Subscription"),
            ("poller-1", "Poller"), ("poller-2", "Poller"), ("family-1", "Family"), ("mailbox-1", "Mailbox")],
        _ => &[("order-4", "Order"), ("order-5", "Order"), ("render-1", "Render"), ("family-2", "Family")],
    };
    for (id, name) in starts {
        client.start_orchestration(*id, *name, *id).await.expect("it starts");
    }
    tokio::time::sleep(Duration::from_millis(1800)).await;
    if part == "1" {
        client.raise_event("order-1", "approval", "yes").await.expect("it is sent");
        client.cancel_instance("poller-2", "enough").await.expect("it is sent");
        client.enqueue_event("mailbox-1", "mail", "one").await.expect("it is sent");
    }
    tokio::time::sleep(Duration::from_millis(1500)).await;
    runtime.shutdown(Some(500)).await;
    if part == "2" {
        // Nobody is there to take these.
        client.raise_event("order-2", "approval", "yes").await.expect("it is sent");
        client.enqueue_event("mailbox-1", "mail", "two").await.expect("it is sent");
        client.start_orchestration("order-6", "Order", "order-6").await.expect("it starts");
    }
}
