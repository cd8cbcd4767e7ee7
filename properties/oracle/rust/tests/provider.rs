//! A provider under the checks: one that keeps what it has of the contract, and one that does not.

#[path = "../examples/queue.rs"]
mod queue;

use async_trait::async_trait;
use durosim::{Factory, Offers};
use queue::FirstDay;
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Duration;

#[test]
fn three_methods_get_a_verdict() {
    let said = durosim::oracle(FirstDay::default()).seeds(1..=100).verdict().expect("nothing is wrong");
    assert!(said.contains("passed        100   the contract allows every answer"), "{said}");
    assert!(said.contains("methods that the provider does not have: enqueue_for_orchestrator"), "{said}");
    assert!(!said.contains("that the provider does not support"), "{said}");
}

#[test]
fn a_mistake_is_told_as_a_story() {
    let said = durosim::oracle(FirstDay { forever: true }).seeds(1..=100).keep_going().verdict().expect_err("locks last for ever");
    assert!(said.contains("REFUSED  seed ") && said.contains("call 3 at "), "{said}");
    assert!(said.contains("but        nothing was found although a row is ready"), "{said}");
    assert!(said.contains("\n\nin the test: .seeds(") && !said.contains("--connect"), "{said}");
    assert!(said.contains("the management surface: as_management_capability is None"), "{said}");
}

#[test]
fn a_known_mistake_is_none() {
    let file = std::env::temp_dir().join(format!("durosim-known-{}.toml", std::process::id()));
    let known = "[[known]]\nclasses = [\"fetch_work_item: nothing was found\", \"ack_work_item: the lock\"]\nreason = \"locks come later\"\n";
    std::fs::write(&file, known).expect("a file");
    let said = durosim::oracle(FirstDay { forever: true }).seeds(1..=100).keep_going().known(&file).verdict();
    std::fs::remove_file(&file).expect("it was there");
    assert!(said.as_ref().is_ok_and(|said| said.contains("locks come later")), "{said:?}");
}

#[test]
fn a_case_that_needs_more_is_left_out() {
    let said = durosim::conformance::verdict(FirstDay::default(), "^AT-01 ", None).expect("nothing is wrong");
    assert!(said.contains("0 passed, 0 failed, 0 known, 1 skipped"), "{said}");
    let said = durosim::conformance::verdict(FirstDay::default(), "^no such case ", None).expect_err("there is none");
    assert!(said.contains("matches no case"), "{said}");
}

/// A provider whose first store is made when the test says so.
struct Held {
    begun: Sender<()>,
    go_on: Mutex<Receiver<()>>,
}

#[async_trait]
impl Factory for Held {
    type Provider = <FirstDay as Factory>::Provider;

    async fn create(&self) -> Self::Provider {
        let _ = self.begun.send(()); // of interest for the first store only
        let _ = self.go_on.lock().expect("nobody panics with this lock").recv();
        FirstDay::default().create().await
    }

    fn offers(&self) -> Offers {
        FirstDay::default().offers()
    }
}

#[test]
fn a_check_that_waits_for_another_does_not_run_out_of_time() {
    let ((begun, has_begun), (release, go_on), (ended, has_ended)) = (channel(), channel(), channel());
    let first = thread::spawn(move || durosim::oracle(Held { begun, go_on: Mutex::new(go_on) }).seeds(1..=1).verdict());
    has_begun.recv().expect("the first check begins");
    let short = Duration::from_millis(400);
    let second = thread::spawn(move || {
        let verdict = durosim::oracle(FirstDay::default()).seeds(1..=1).timeout(short).verdict();
        let _ = ended.send(());
        verdict
    });
    has_ended.recv_timeout(3 * short).expect_err("the first check has the clock");
    drop(release);
    first.join().expect("no panic").expect("nothing is wrong");
    second.join().expect("no panic").expect("nothing is wrong");
}

mod every_case {
    durosim::conformance!(super::FirstDay::default());
}
