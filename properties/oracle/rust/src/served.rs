//! Serves a provider to durosim: requests are lines, as docs/oracle-protocol.md of durosim says.

use crate::calls::{self, ADMIN_METHODS, Failure, METHODS, Params};
use crate::clock::Virtual;
use crate::factory::{Factory, Offers};
use duroxide::providers::Provider;
use serde_json::{Value, json};
use std::io::{BufRead, Write};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use tokio::runtime::Runtime;

/// The virtual clock belongs to the whole program: while one check has it, no other runs.
static PROGRAM: RwLock<()> = RwLock::new(());

/// A check's time to run: alone if it sets the clock, otherwise beside others.
#[allow(dead_code)] // held, not read
pub(crate) enum Turn {
    Alone(RwLockWriteGuard<'static, ()>),
    Beside(RwLockReadGuard<'static, ()>),
}

impl Turn {
    /// Waits until no other check stands in the way.
    pub(crate) fn wait(offers: &Offers) -> Turn {
        // A check that panicked has left nothing behind but the lock.
        if offers.virtual_clock {
            Turn::Alone(PROGRAM.write().unwrap_or_else(PoisonError::into_inner))
        } else {
            Turn::Beside(PROGRAM.read().unwrap_or_else(PoisonError::into_inner))
        }
    }
}

/// Serves the stores of a factory on standard input and output, until the input ends. A program whose `main` is this is
/// what `simrun oracle -- PROGRAM` and `simrun conformance -- PROGRAM` check.
pub fn serve<F: Factory>(factory: F) -> std::io::Result<()> {
    let turn = Turn::wait(&factory.offers());
    lines(factory, turn, std::io::stdin().lock(), std::io::stdout())
}

/// Serves the stores of a factory to whoever writes these lines. Calls in flight at the same time overlap.
pub(crate) fn lines<F: Factory>(
    factory: F,
    turn: Turn,
    input: impl BufRead,
    output: impl Write + Send + 'static,
) -> std::io::Result<()> {
    let offers = factory.offers();
    let runtime = Runtime::new()?;
    let clock = offers.virtual_clock.then(|| Virtual::start(offers.clock_from));
    let store = runtime.block_on(factory.create());
    let server = Arc::new(Server {
        factory,
        clock,
        store: Mutex::new(Some(Arc::new(store))),
        failing: AtomicBool::new(false),
        under_way: AtomicUsize::new(0),
    });
    let output = Arc::new(Mutex::new(output));
    for line in input.lines() {
        let line = line?;
        let (server, output) = (server.clone(), output.clone());
        let (id, answer) = match serde_json::from_str::<Value>(&line) {
            Err(err) => (Value::Null, Err((-32700, format!("not JSON: {err}")))),
            Ok(mut request) if request["method"].is_string() && !request["id"].is_null() => {
                let id = request["id"].take();
                let method = request["method"].as_str().unwrap_or_default().to_owned();
                let params = Params(request["params"].take());
                if let Some(answer) = server.about_the_store(&runtime, &method, &params) {
                    (id, answer)
                } else {
                    runtime.spawn(async move {
                        let answer = server.call(method, params).await;
                        // Nobody may listen any more; then the input ends, too.
                        let _ = write(&output, id, answer);
                    });
                    continue;
                }
            }
            Ok(request) => (request["id"].clone(), Err((-32600, "not a request".to_owned()))),
        };
        write(&output, id, answer)?;
    }
    // The store may need its runtime to close.
    let store = server.store.lock().expect("no call panics with this lock").take();
    runtime.block_on(async { drop(store) });
    drop((server, runtime, turn));
    Ok(())
}

/// A result, or a code and a message.
type Answer = Result<Value, (i64, String)>;

fn write(output: &Mutex<impl Write>, id: Value, answer: Answer) -> std::io::Result<()> {
    let line = match answer {
        Ok(result) => json!({ "jsonrpc": "2.0", "id": id, "result": result }),
        Err((code, message)) => json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } }),
    };
    let mut output = output.lock().expect("nobody panics while writing");
    output.write_all(format!("{line}\n").as_bytes())?;
    output.flush()
}

struct Server<F: Factory> {
    factory: F,
    clock: Option<Virtual>,
    store: Mutex<Option<Arc<F::Provider>>>,
    /// The next ack is to fail.
    failing: AtomicBool,
    /// The number of calls that have not been answered.
    under_way: AtomicUsize,
}

impl<F: Factory> Server<F> {
    fn store(&self) -> Arc<F::Provider> {
        self.store.lock().expect("no call panics with this lock").clone().expect("there is a store until the end")
    }

    /// Answers what is not asked of the provider, one after the other, or returns None.
    fn about_the_store(&self, runtime: &Runtime, method: &str, params: &Params) -> Option<Answer> {
        let answer = match method {
            "describe" => Ok(self.describe()),
            "reset" => {
                if let Some(clock) = &self.clock {
                    clock.restart(self.factory.offers().clock_from);
                }
                self.failing.store(false, Ordering::SeqCst);
                runtime.block_on(async {
                    let old = self.store.lock().expect("no call panics with this lock").take();
                    drop(old);
                    let new = Arc::new(self.factory.create().await);
                    *self.store.lock().expect("no call panics with this lock") = Some(new);
                });
                Ok(Value::Null)
            }
            "clock_now" => Ok(json!(self.now_ms())),
            "clock_set" => self.set_clock(params.number("now_ms")),
            "clock_advance" => self.set_clock(params.number("by_ms").map(|by| self.now_ms() + by)),
            "corrupt_event" if self.factory.offers().corrupt_event => runtime.block_on(self.corrupt_event(params)),
            "corrupt_message" if self.factory.offers().corrupt_message => runtime.block_on(async {
                let item = params.data("item").map_err(coded)?;
                self.factory.corrupt_message(&self.store(), &item).await.map(|()| Value::Null).map_err(|err| (2, err))
            }),
            "fail_ack_step" if self.factory.offers().fail_ack_step => runtime.block_on(async {
                let step = params.number("step").map_err(coded)?;
                if self.failing.swap(true, Ordering::SeqCst) {
                    self.factory.fail_ack_step(&self.store(), None).await.map_err(|err| (-32603, err))?;
                }
                self.factory.fail_ack_step(&self.store(), Some(step)).await.map(|()| Value::Null).map_err(|err| (2, err))
            }),
            _ => return None,
        };
        Some(answer)
    }

    fn describe(&self) -> Value {
        let store = self.store();
        let admin = store.as_management_capability().is_some();
        let offers = self.factory.offers();
        let mut lacks = offers.lacks.clone();
        if cfg!(not(feature = "stats")) {
            lacks.push("get_instance_stats");
        }
        let mut fields = json!({
            "protocol": 2,
            "overlapping": !offers.sequential,
            "long_polls": offers.long_polls,
            "fail_ack_step": offers.fail_ack_step,
            "name": store.name(),
            "version": store.version(),
            "admin": admin,
            "virtual_clock": self.clock.is_some(),
            "corrupt_event": offers.corrupt_event,
            "corrupt_message": offers.corrupt_message,
        });
        if !lacks.is_empty() {
            let all = METHODS.iter().chain(if admin { &ADMIN_METHODS[..] } else { &[] });
            fields["methods"] = all.filter(|m| !lacks.contains(m)).copied().collect();
        }
        fields
    }

    fn now_ms(&self) -> u64 {
        match &self.clock {
            Some(clock) => clock.now_ms(),
            None => std::time::SystemTime::now()
                .duration_since(std::time::UNIX_EPOCH)
                .map_or(0, |d| u64::try_from(d.as_millis()).unwrap_or(u64::MAX)),
        }
    }

    fn set_clock(&self, to: Result<u64, Failure>) -> Answer {
        let to = to.map_err(coded)?;
        match &self.clock {
            None => Err((3, "this store follows the real clock".to_owned())),
            Some(clock) if to < clock.now_ms() => {
                Err((-32602, format!("params: the clock stands at {} and does not go back to {to}", clock.now_ms())))
            }
            Some(clock) => {
                clock.set(to);
                Ok(json!(clock.now_ms()))
            }
        }
    }

    async fn corrupt_event(&self, p: &Params) -> Answer {
        let instance = p.text("instance").map_err(coded)?;
        let (execution, event) = (p.number("execution_id").map_err(coded)?, p.number("event_id").map_err(coded)?);
        let done = self.factory.corrupt_event(&self.store(), &instance, execution, event).await;
        done.map(|()| Value::Null).map_err(|err| (2, err))
    }

    /// Makes a call of the provider. A panic of it is a permanent error, and so a finding.
    async fn call(&self, method: String, params: Params) -> Answer {
        if !METHODS.contains(&method.as_str()) && !ADMIN_METHODS.contains(&method.as_str()) {
            return Err((-32601, format!("unknown method {method:?}")));
        }
        if self.factory.offers().lacks.contains(&method.as_str()) {
            return Err((3, format!("{method}: this provider does not have it")));
        }
        let store = self.store();
        let is_ack = method == "ack_orchestration_item";
        self.under_way.fetch_add(1, Ordering::SeqCst);
        let called = store.clone();
        let made = tokio::spawn(async move {
            let provider: &dyn Provider = &*called;
            calls::perform(provider, &method, &params).await
        });
        let answer = match made.await {
            Ok(answer) => answer.map_err(coded),
            Err(panic) => Err((2, format!("the provider panicked: {panic}"))),
        };
        let healed = if is_ack && self.failing.swap(false, Ordering::SeqCst) {
            self.factory.fail_ack_step(&store, None).await.map_err(|err| (-32603, err))
        } else {
            Ok(())
        };
        if self.under_way.fetch_sub(1, Ordering::SeqCst) == 1 {
            self.factory.settle(&store).await;
        }
        healed.and(answer)
    }
}

fn coded(failure: Failure) -> (i64, String) {
    match failure {
        Failure::Provider(err) if err.is_retryable() => (1, err.to_string()),
        Failure::Provider(err) => (2, err.to_string()),
        Failure::NotOffered(why) => (3, why),
        Failure::Params(why) => (-32602, why),
    }
}
