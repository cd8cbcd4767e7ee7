//! A node: a duroxide runtime in a tokio runtime of one thread, under a clock that the other end moves.
//!
//! A grant of time moves the clock there at once, as time passes for a real process: every timer that is due by then
//! fires, and all tasks run until each of them waits, for an answer or for a later timer.

use crate::{clock, program};
use durosim::form;
use durosim::remote::{self, Remote, Transport};
use duroxide::providers::ProviderError;
use duroxide::runtime::registry::{ActivityRegistry, OrchestrationRegistry};
use duroxide::runtime::{Runtime, RuntimeOptions, UnregisteredBackoffConfig};
use duroxide::{ActivityContext, OrchestrationContext};
use serde_json::{Value, json};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Poll, Waker};
use std::time::Duration;
use tokio::sync::oneshot;

/// A running node.
pub struct Node {
    runtime: Arc<Runtime>,
    tokio: tokio::runtime::Runtime,
}

impl Node {
    /// Starts a node. It has asked for nothing yet.
    pub fn start(command: &Value) -> Result<Node, String> {
        let spec = Spec::read(command)?;
        clock::set(spec.now_ms);
        clock::seed(spec.seed);
        let tokio = tokio::runtime::Builder::new_current_thread()
            .enable_io() // so that it waits in epoll_wait
            .enable_time()
            .build()
            .map_err(|err| format!("no tokio runtime: {err}"))?;
        let runtime = tokio.block_on(begin(spec));
        Ok(Node { runtime, tokio })
    }

    /// Runs until a time. If the command has an answer, its call returns then.
    pub fn run(&self, command: &mut Value) -> Result<Value, String> {
        let until_ms = command["until_ms"].as_u64().ok_or("until_ms: want a number")?;
        clock::set(until_ms.max(clock::now_ms()));
        deliver(command)?;
        self.tokio.block_on(grant());
        Ok(report())
    }

    /// Begins a graceful stop, which goes on while the node runs.
    pub fn shutdown(&self, grace_ms: u64) {
        let runtime = self.runtime.clone();
        self.tokio.spawn(async move {
            runtime.shutdown(Some(grace_ms)).await;
            seam(|s| s.stopped = true);
        });
    }
}

/// What a node is made from.
struct Spec {
    now_ms: u64,
    seed: u64,
    options: RuntimeOptions,
    orchestrations: Vec<(String, String, Arc<[program::Statement]>)>,
    activities: Vec<String>,
}

impl Spec {
    fn read(command: &Value) -> Result<Spec, String> {
        let mut orchestrations = Vec::new();
        for o in list(command, "orchestrations")? {
            let name = o["name"].as_str().ok_or("orchestrations: name: want a text")?;
            let version = o["version"].as_str().ok_or("orchestrations: version: want a text")?;
            semver::Version::parse(version).map_err(|err| format!("orchestration {name}: version {version:?}: {err}"))?;
            let body = program::read(&o["body"]).map_err(|err| format!("orchestration {name}: {err}"))?;
            orchestrations.push((name.to_owned(), version.to_owned(), body));
        }
        let mut activities = Vec::new();
        for a in list(command, "activities")? {
            activities.push(a.as_str().ok_or("activities: want texts")?.to_owned());
        }
        Ok(Spec {
            now_ms: command["now_ms"].as_u64().ok_or("now_ms: want a number")?,
            seed: command["seed"].as_u64().unwrap_or_default(),
            options: options(&command["options"])?,
            orchestrations,
            activities,
        })
    }
}

fn list<'a>(command: &'a Value, field: &str) -> Result<&'a [Value], String> {
    match &command[field] {
        Value::Null => Ok(&[]),
        Value::Array(list) => Ok(list),
        _ => Err(format!("{field}: want a list")),
    }
}

/// The runtime's options; what the command leaves out has the release's own default.
fn options(given: &Value) -> Result<RuntimeOptions, String> {
    let mut o = RuntimeOptions::default();
    let Some(fields) = given.as_object() else {
        return if given.is_null() { Ok(o) } else { Err("options: want an object".to_owned()) };
    };
    for (name, value) in fields {
        let wrong = || format!("options: {name}: a wrong value {value}");
        let number = || value.as_u64().ok_or_else(wrong);
        let duration = || number().map(Duration::from_millis);
        let size = || number().and_then(|n| usize::try_from(n).map_err(|_| wrong()));
        match name.as_str() {
            "dispatcher_min_poll_interval_ms" => o.dispatcher_min_poll_interval = duration()?,
            "dispatcher_long_poll_timeout_ms" => o.dispatcher_long_poll_timeout = duration()?,
            "orchestration_concurrency" => o.orchestration_concurrency = size()?,
            "worker_concurrency" => o.worker_concurrency = size()?,
            "orchestrator_lock_timeout_ms" => o.orchestrator_lock_timeout = duration()?,
            "orchestrator_lock_renewal_buffer_ms" => o.orchestrator_lock_renewal_buffer = duration()?,
            "worker_lock_timeout_ms" => o.worker_lock_timeout = duration()?,
            "worker_lock_renewal_buffer_ms" => o.worker_lock_renewal_buffer = duration()?,
            "max_attempts" => o.max_attempts = u32::try_from(number()?).map_err(|_| wrong())?,
            "activity_cancellation_grace_period_ms" => o.activity_cancellation_grace_period = duration()?,
            "unregistered_backoff_base_ms" => {
                o.unregistered_backoff = UnregisteredBackoffConfig { base_delay: duration()?, ..o.unregistered_backoff }
            }
            "unregistered_backoff_max_ms" => {
                o.unregistered_backoff = UnregisteredBackoffConfig { max_delay: duration()?, ..o.unregistered_backoff }
            }
            "session_lock_timeout_ms" => o.session_lock_timeout = duration()?,
            "session_lock_renewal_buffer_ms" => o.session_lock_renewal_buffer = duration()?,
            "session_idle_timeout_ms" => o.session_idle_timeout = duration()?,
            "session_cleanup_interval_ms" => o.session_cleanup_interval = duration()?,
            "max_sessions_per_runtime" => o.max_sessions_per_runtime = size()?,
            "worker_node_id" => o.worker_node_id = Some(value.as_str().ok_or_else(wrong)?.to_owned()),
            "supported_replay_versions" => {
                let range = form::read_range(value).map_err(|err| format!("options: {name}: {err}"))?;
                o.supported_replay_versions = Some(range);
            }
            "worker_tag_filter" => {
                o.worker_tag_filter = form::read_tags(value).map_err(|err| format!("options: {name}: {err}"))?;
            }
            _ => return Err(format!("options: unknown option {name:?}")),
        }
    }
    Ok(o)
}

/// What lies between a node's runtime and the commands.
#[derive(Default)]
struct Seam {
    next_id: u64,
    calls: Vec<Value>,
    waiting: BTreeMap<u64, oneshot::Sender<Value>>,
    dropped: Vec<u64>,
    log: Vec<Value>,
    stopped: bool,
    /// Wakes the grant of time.
    grant: Option<Waker>,
    /// Set when the grant is over: every task waits.
    settled: bool,
    /// The next timer, if every task waits.
    next_ms: Option<u64>,
}

thread_local! {
    static SEAM: RefCell<Seam> = RefCell::default();
}

fn seam<T>(f: impl FnOnce(&mut Seam) -> T) -> T {
    SEAM.with_borrow_mut(f)
}

/// The store at the other end, which takes the runtime's calls alone.
struct Store;

#[async_trait::async_trait]
impl Transport for Store {
    async fn call(&self, method: &'static str, params: Value) -> Result<Value, ProviderError> {
        remote::result(method, ask(method, params).await)
    }

    fn managed(&self) -> bool {
        false
    }
}

/// Sends a call to the other end and waits for its answer. A caller that stops waiting is told of, too.
async fn ask(method: &'static str, params: Value) -> Value {
    let (sender, receiver) = oneshot::channel();
    let id = seam(|s| {
        s.next_id += 1;
        let id = s.next_id;
        s.calls.push(json!({ "id": id, "method": method, "params": params }));
        s.waiting.insert(id, sender);
        id
    });
    let _waiting = Waiting(id);
    receiver.await.expect("an answer is sent before its sender is dropped")
}

/// Tells of a call for which nobody waits any more.
struct Waiting(u64);

impl Drop for Waiting {
    fn drop(&mut self) {
        // At the end of the program there is nobody to tell.
        let _ = SEAM.try_with(|s| {
            if let Ok(mut s) = s.try_borrow_mut()
                && s.waiting.remove(&self.0).is_some()
            {
                s.dropped.push(self.0);
            }
        });
    }
}

/// Adds a line to the node's log.
pub fn log(line: Value) {
    let _ = SEAM.try_with(|s| {
        if let Ok(mut s) = s.try_borrow_mut() {
            s.log.push(line);
        }
    });
}

/// Called when every task waits, with the time until the next timer: the grant is over.
pub fn idle(timeout_ms: Option<u64>) {
    let waker = seam(|s| {
        s.next_ms = timeout_ms.map(|t| clock::now_ms().saturating_add(t));
        s.settled = true;
        s.grant.take()
    });
    if let Some(waker) = waker {
        waker.wake();
    }
}

/// Lets the node run until every task waits.
async fn grant() {
    seam(|s| s.settled = false);
    poll_fn(|cx| {
        seam(|s| {
            s.grant = Some(cx.waker().clone());
            if s.settled { Poll::Ready(()) } else { Poll::Pending }
        })
    })
    .await;
}

/// What a grant came to.
fn report() -> Value {
    seam(|s| {
        json!({
            "now_ms": clock::now_ms(),
            "next_ms": s.next_ms,
            "calls": std::mem::take(&mut s.calls),
            "dropped": std::mem::take(&mut s.dropped),
            "log": std::mem::take(&mut s.log),
            "stopped": s.stopped,
        })
    })
}

/// Hands an answer to who waits for it. An answer that nobody waits for is lost, as on a closed connection.
fn deliver(command: &mut Value) -> Result<(), String> {
    if command["call"].is_null() {
        return Ok(());
    }
    let id = command["call"].as_u64().ok_or("call: want a number")?;
    if let Some(sender) = seam(|s| s.waiting.remove(&id)) {
        // Who has stopped waiting in this very moment is not told.
        let _ = sender.send(command["answer"].take());
    }
    Ok(())
}

/// Starts the runtime.
async fn begin(spec: Spec) -> Arc<Runtime> {
    let mut orchestrations = OrchestrationRegistry::builder();
    for (name, version, body) in spec.orchestrations {
        orchestrations = orchestrations
            .register_versioned(name, version, move |ctx: OrchestrationContext, input: String| {
                program::run(body.clone(), ctx, input)
            });
    }
    let mut activities = ActivityRegistry::builder();
    for name in spec.activities {
        activities = activities.register(name, activity);
    }
    let store = Arc::new(Remote(Store));
    Runtime::start_with_options(store, activities.build(), orchestrations.build(), spec.options).await
}

/// Every activity is carried out at the other end, which decides how long it takes and how it ends.
async fn activity(ctx: ActivityContext, input: String) -> Result<String, String> {
    let params = json!({
        "instance": ctx.instance_id(),
        "execution_id": ctx.execution_id(),
        "orchestration": ctx.orchestration_name(),
        "id": activity_id(&ctx),
        "name": ctx.activity_name(),
        "input": input,
        "session_id": ctx.session_id(),
        "tag": ctx.tag(),
    });
    let answer = ask("run_activity", params).await;
    if let Some(text) = answer["panic"].as_str() {
        panic!("{text}");
    }
    match answer["failure"].as_str() {
        Some(message) => Err(message.to_owned()),
        None => Ok(answer["result"].as_str().unwrap_or_default().to_owned()),
    }
}

/// The number of an activity in its execution, which the context has and tells in its debugging text only.
fn activity_id(ctx: &ActivityContext) -> u64 {
    const FIELD: &str = "activity_id: ";
    let text = format!("{ctx:?}");
    let digits = text.rfind(FIELD).map_or("", |at| &text[at + FIELD.len()..]);
    let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    digits[..end].parse().expect("the context's text has the field")
}
