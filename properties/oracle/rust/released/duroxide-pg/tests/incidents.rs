//! What became of the incidents of duroxide-pg (docs/contract/incidents.md, rows P1 to P18) in release 0.1.38. Each test is
//! named by its row, and says in its first line what the release does: what is mended, and what still shows. Needs a
//! PostgreSQL of its own, at the URL in DUROSIM_POSTGRES; pg.sh starts one.

mod world;

use duroxide::providers::Provider;
use serde_json::json;
use std::time::Duration;
use tokio::time::sleep;
use world::{World, event, ms, stop};

/// P1, mended: an abandon without a delay leaves the messages visible. (Case LX-02.)
#[tokio::test]
async fn p1_abandon_without_delay() {
    let w = World::new("p1").await;
    w.start("A").await;
    let (_, token, _) = w.fetch(5000).await.expect("A");
    w.store.abandon_orchestration_item(&token, None, false).await.expect("it holds A");
    assert!(w.fetch(5000).await.is_some());
}

/// P4, mended for count: a prune takes the earlier executions of an instance that still runs. It still shows for a cutoff:
/// an execution that continued as new has no time of its end. (Cases PR-*, BP-142.)
#[tokio::test]
async fn p4_running_instances_are_pruned() {
    let w = World::new("p4").await;
    w.start("A").await;
    for execution in 1..=3 {
        let (_, token, _) = w.fetch(5000).await.expect("A");
        let next = json!([{ "ContinueAsNew": { "instance": "A", "orchestration": "Order", "input": "", "version": "1.0.0" } }]);
        w.ack(&token, execution, json!([event("A", execution, 1)]), next, Some("ContinuedAsNew")).await.expect("it holds A");
    }
    let (_, token, _) = w.fetch(5000).await.expect("A");
    w.ack(&token, 4, json!([event("A", 4, 1)]), json!([]), Some("Running")).await.expect("it holds A");
    assert_eq!(w.prune("A", None, true).await, 0, "by time");
    assert_eq!(w.prune("A", Some(1), false).await, 3, "by count");
}

/// P5, mended: an activity that is scheduled and cancelled in one ack does not run. (Group AC.)
#[tokio::test]
async fn p5_cancelled_where_scheduled() {
    let w = World::new("p5").await;
    w.start("A").await;
    let (_, token, _) = w.fetch(5000).await.expect("A");
    w.ack_cancelling(&token, "A", 2).await.expect("it holds A");
    assert!(w.work(5000).await.is_none());
}

/// P6, mended: an activity whose lock has run out is not acked. (BP-14, the oracle.)
#[tokio::test]
async fn p6_late_ack_of_an_activity() {
    let w = World::new("p6").await;
    w.activity("A", 2).await;
    let token = w.work(50).await.expect("an activity");
    sleep(ms(100)).await;
    w.finish(&token, "A", 2).await.expect_err("the lock has run out");
}

/// P8, mended: a fetch whose candidate is taken meanwhile goes on with the next.
#[tokio::test]
async fn p8_contention_is_not_nothing() {
    let w = World::new("p8").await;
    w.start("A").await;
    w.start("B").await;
    let other = w.takeover("A", Duration::ZERO).await;
    let fetching = w.fetching(5000);
    w.until_waiting("fetch_orchestration_item").await;
    other.commit().await;
    assert_eq!(fetching.await.expect("no panic").expect("B is ready").0, "B");
}

/// P9, mended: a read of a history with a damaged event fails. (BP-*, the oracle.)
#[tokio::test]
async fn p9_reads_do_not_drop_events() {
    let w = World::new("p9").await;
    w.start("A").await;
    let (_, token, _) = w.fetch(5000).await.expect("A");
    w.ack(&token, 1, json!([event("A", 1, 1), event("A", 1, 2)]), json!([]), None).await.expect("it holds A");
    w.sql("UPDATE history SET event_data = 'damaged' WHERE event_id = 2").await;
    w.store.read("A").await.expect_err("event 2 is damaged");
}

/// P10, mended: six programs make one schema at the same time.
#[tokio::test]
async fn p10_migrations_side_by_side() {
    let schema = world::fresh("p10").await;
    let starts: Vec<_> = (0..6).map(|_| tokio::spawn(world::open(schema.clone()))).collect();
    for start in starts {
        start.await.expect("no panic").expect("a migrated store");
    }
}

/// P11, mended: a statement whose plan a migration made invalid fails retryably at worst.
#[tokio::test]
async fn p11_cached_plans() {
    let w = World::new("p11").await;
    w.start("A").await;
    w.store.as_management_capability().expect("admin").list_instances().await.expect("a list");
    w.activity("A", 2).await;
    let token = w.work(5000).await.expect("an activity");
    w.store.abandon_work_item(&token, None, false).await.expect("it holds it");
    w.widen_fetch_work_item().await;
    match w.try_work(5000).await {
        Ok(found) => assert!(found.is_some()),
        Err(err) => assert!(err.is_retryable(), "{err}"),
    }
}

/// P12, mended: a schema that a later release has migrated is refused.
#[tokio::test]
async fn p12_a_newer_schema() {
    let w = World::new("p12").await;
    w.sql("INSERT INTO _duroxide_migrations (version, name) VALUES (9999, 'of a later release')").await;
    assert!(world::open(w.schema.clone()).await.is_err());
}

/// P13, mended for instances: the lock that a fetch grants after it has waited is whole.
#[tokio::test]
async fn p13_lease_of_an_instance_after_a_wait() {
    let w = World::new("p13").await;
    w.start("A").await;
    let held = w.hold_instance("A").await;
    let fetching = w.fetching(400);
    w.until_waiting("fetch_orchestration_item").await;
    sleep(ms(600)).await;
    held.commit().await;
    let (_, token) = fetching.await.expect("no panic").expect("A");
    w.ack(&token, 1, json!([]), json!([]), None).await.expect("the lock was granted a moment ago");
}

/// P13, still there for activities: the lock that a fetch grants after it has waited has run out.
#[tokio::test]
async fn p13_lease_of_an_activity_after_a_wait() {
    let w = World::new("p13b").await;
    w.activity("A", 2).await;
    let held = w.hold_table("worker_queue").await;
    let fetching = w.working(400);
    w.until_waiting("fetch_work_item").await;
    sleep(ms(600)).await;
    held.commit().await;
    let token = fetching.await.expect("no panic").expect("an activity");
    w.finish(&token, "A", 2).await.expect_err("the lock counts from before the wait");
}

/// P14, mended: keys that cannot be read are an error of the history.
#[tokio::test]
async fn p14_damaged_keys() {
    let w = World::new("p14").await;
    w.start("A").await;
    w.sql("ALTER TABLE kv_store ALTER COLUMN value DROP NOT NULL").await;
    w.sql("INSERT INTO kv_store (instance_id, key, value, execution_id, last_updated_at_ms) VALUES ('A', 'k', NULL, 1, 1)").await;
    let (item, _, _) = w.fetch(5000).await.expect("A");
    assert!(item.history_error.is_some());
}

/// P15, mended: a damaged history without an instance is no orphan, and its messages stay.
#[tokio::test]
async fn p15_damaged_history_is_no_orphan() {
    let w = World::new("p15").await;
    w.sql(
        "INSERT INTO history (instance_id, execution_id, event_id, event_type, event_data, created_at)
         VALUES ('A', 1, 1, 'OrchestrationStarted', '{\"damaged\": true}', now())",
    )
    .await;
    w.send(json!({ "QueueMessage": { "instance": "A", "name": "q", "data": "" } })).await;
    let (item, _, _) = w.fetch(5000).await.expect("A");
    assert!(item.history_error.is_some() && item.messages.len() == 1);
}

/// P16, mended: an ack after another fetch has taken the instance over fails and leaves nothing.
#[tokio::test]
async fn p16_ack_after_a_takeover() {
    let w = World::new("p16").await;
    w.start("A").await;
    let (_, token, _) = w.fetch(60_000).await.expect("A");
    let other = w.takeover("A", Duration::from_secs(3600)).await; // by a node whose clock is ahead
    let acking = w.acking(&token);
    w.until_waiting("ack_orchestration_item").await;
    other.commit().await;
    acking.await.expect("no panic").expect_err("another node has A");
    assert!(w.store.read("A").await.expect("a history").is_empty());
}

/// P16, mended: an instance is not taken over while its ack waits, even if its lock runs out meanwhile.
#[tokio::test]
async fn p16_takeover_during_an_ack() {
    let w = World::new("p16b").await;
    w.start("A").await;
    let (_, token, _) = w.fetch(2000).await.expect("A");
    let held = w.hold_instance("A").await;
    let acking = w.acking(&token);
    w.until_waiting("ack_orchestration_item").await;
    sleep(ms(2100)).await;
    let fetching = w.fetching(5000);
    w.until_waiting("fetch_orchestration_item").await;
    held.commit().await;
    acking.await.expect("no panic").expect("it was first");
    assert!(fetching.await.expect("no panic").is_none(), "the start was acked");
}

/// P17, mended: a renewal that has waited until the lock ran out fails.
#[tokio::test]
async fn p17_renewal_after_a_wait() {
    let w = World::new("p17").await;
    w.start("A").await;
    let (_, token, _) = w.fetch(2000).await.expect("A");
    let held = w.hold_instance("A").await;
    let renewing = w.renewing(&token);
    w.until_waiting("renew_orchestration_item_lock").await;
    sleep(ms(2100)).await;
    held.commit().await;
    renewing.await.expect("no panic").expect_err("the lock has run out");
}

/// P18, mended: a renewal beside a fetch that takes the instance over is told so; they do not deadlock.
#[tokio::test]
async fn p18_renewal_beside_a_takeover() {
    let w = World::new("p18").await;
    w.start("A").await;
    let (_, token, _) = w.fetch(60_000).await.expect("A");
    let other = w.takeover("A", Duration::from_secs(3600)).await;
    let renewing = w.renewing(&token);
    w.until_waiting("renew_orchestration_item_lock").await;
    other.commit().await;
    let err = renewing.await.expect("no panic").expect_err("another node has A");
    assert!(!err.is_retryable(), "{err}");
}

/// In no list: a fetch whose candidate is taken meanwhile keeps the lock of that while it waits for the next. Two of them
/// that meet from both sides deadlock, until PostgreSQL ends one after a second.
#[tokio::test]
async fn a_fetch_waits_with_a_lock_in_hand() {
    let w = World::new("hand").await;
    w.start("A").await;
    w.start("B").await;
    let held = w.hold_instance("B").await;
    let other = w.takeover("A", Duration::ZERO).await;
    let fetching = w.fetching(5000);
    w.until_waiting("fetch_orchestration_item").await;
    other.commit().await;
    w.until_held("A").await;
    w.until_waiting("fetch_orchestration_item").await;
    held.commit().await;
    assert_eq!(fetching.await.expect("no panic").expect("B is ready").0, "B");
}

/// In no list: a message that this release cannot read makes each fetch fail, without a word to whoever counts attempts.
#[tokio::test]
async fn a_message_of_a_later_release() {
    let w = World::new("later").await;
    w.send(stop("A")).await;
    w.sql("UPDATE orchestrator_queue SET work_item = '{\"Teleport\": {\"instance\": \"A\"}}'").await;
    w.try_fetch(50).await.expect_err("it cannot be read");
    let attempts = w.count("SELECT attempt_count::bigint FROM orchestrator_queue").await;
    assert_eq!(attempts, 1, "the attempt was counted");
}
