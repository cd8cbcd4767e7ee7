//! A store for the tests of orchestrations: durosim's in-memory provider, with faults drawn from a seed.

use crate::clock;
use crate::form::ms;
use crate::remote::{self, Remote, Transport};
use crate::simrun;
use async_trait::async_trait;
use duroxide::providers::{Provider, ProviderError};
use serde_json::{Value, json};
use std::collections::{BTreeSet, HashMap};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, RwLock, mpsc};
use std::time::Duration;
use tokio::sync::{Notify, oneshot};

/// How much goes wrong with the calls of nodes. What clients call never fails.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Faults {
    #[default]
    None,
    /// Now and then a call or its answer is lost, is late, or the store is busy.
    Light,
    /// The same more often, and refusals for good, outages and lost renewals.
    Full,
}

/// A store that is being prepared.
#[derive(Debug, Default)]
#[must_use = "there is no store before start is called"]
pub struct Builder {
    arguments: Vec<String>,
    live: bool,
}

impl Builder {
    /// Lets calls of nodes fail, at a level, as this seed draws it.
    pub fn faults(mut self, level: Faults, seed: u64) -> Self {
        let level = match level {
            Faults::None => "none",
            Faults::Light => "light",
            Faults::Full => "full",
        };
        self.arguments.extend(["--faults".to_owned(), level.to_owned(), "--seed".to_owned(), seed.to_string()]);
        self
    }

    /// Breaks a rule of the store, such as `"provider/filter-ignored"`: whoever tests a provider sees what notices that.
    /// May be called several times. A name that the store does not know ends it when it starts.
    pub fn bug(mut self, id: &str) -> Self {
        self.arguments.extend(["--bug".to_owned(), id.to_owned()]);
        self
    }

    /// Starts the store. The error says how to get simrun if there is none. In virtual time it is called inside tokio's
    /// runtime.
    pub fn start(self) -> Result<Store, String> {
        let program = simrun::path()?;
        let mut command = Command::new(&program);
        command.arg("serve").args(&self.arguments).stdin(Stdio::piped()).stdout(Stdio::piped());
        if self.live {
            command.arg("--live");
        }
        let mut child = command.spawn().map_err(|err| format!("{}: {err}", program.display()))?;
        let input = child.stdin.take().expect("it was piped");
        let output = BufReader::new(child.stdout.take().expect("it was piped"));
        let waiting = Arc::new(Mutex::new(Some(HashMap::new())));
        let mut wire = Wire {
            input: Mutex::new(input),
            waiting: waiting.clone(),
            ids: AtomicU64::new(1),
            clock: None,
            agenda: Agenda::default(),
        };
        std::thread::spawn(move || Wire::listen(&waiting, output));
        wire.result("describe", &json!({}))?;
        if !self.live {
            wire.clock = Some(VirtualClock::join());
        }
        Ok(Store { provider: Arc::new(Remote(wire)), child })
    }
}

/// durosim's store, empty at first, in a process of its own that ends with this value. [Store::provider] is what a
/// runtime and a client are started with.
pub struct Store {
    provider: Arc<Remote<Wire>>,
    child: Child,
}

impl Store {
    /// A store in real time: fetches wait for work, and any number of calls overlap.
    pub fn live() -> Builder {
        Builder { live: true, ..Builder::default() }
    }

    /// A store in virtual time, for a test with `#[tokio::test(start_paused = true)]`: its clock, and the wall clock of
    /// this program, show what tokio's clock shows. Hours pass in milliseconds. Stores of one test share the time. Only
    /// one test of a program can do so at a time.
    pub fn virtual_time() -> Builder {
        Builder::default()
    }

    /// The store as a provider, with the whole management surface. After the store is dropped its calls fail.
    pub fn provider(&self) -> Arc<dyn Provider> {
        self.provider.clone()
    }

    /// Replaces a stored event by bytes that cannot be decoded. The error says that there is no such event.
    pub fn corrupt_event(&self, instance: &str, execution: u64, event: u64) -> Result<(), String> {
        let params = json!({ "instance": instance, "execution_id": execution, "event_id": event });
        self.provider.0.result("corrupt_event", &params).map(drop)
    }

    /// Ends the faults: what is under way must come to its end now.
    ///
    /// # Panics
    /// If the store has no faults, or has ended.
    pub fn calm(&self) {
        self.provider.0.result("set_faults", &json!({ "on": false })).expect("a store with faults");
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        if self.provider.0.clock.is_some() {
            VirtualClock::leave();
        }
        // It holds nothing that would be lost, and may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// tokio's clock, as the time since 1970.
#[derive(Clone, Copy)]
struct VirtualClock {
    base_ms: u64,
    started: tokio::time::Instant,
}

/// When virtual time starts: in November 2023. Earlier, dates of tests would not have passed; after today, what another
/// test of the program asks of a store in real time would come in years.
const START_MS: u64 = 1_700_000_000_000;

/// The clock that this program shows instead of the kernel's, and how many stores follow it.
static FOLLOWED: RwLock<Option<(VirtualClock, usize)>> = RwLock::new(None);

impl VirtualClock {
    /// The clock of the stores that there are, or a new one.
    fn join() -> VirtualClock {
        // Read before the lock is taken: that is a reading of the clock that is replaced.
        let started = tokio::time::Instant::now();
        let mut followed = FOLLOWED.write().expect("nobody panics with this lock");
        let (clock, stores) = followed.unwrap_or((VirtualClock { base_ms: START_MS, started }, 0));
        *followed = Some((clock, stores + 1));
        drop(followed);
        clock::replace(|which| {
            if which != clock::Clock::Wall {
                return None;
            }
            match *FOLLOWED.try_read().ok()? {
                Some((followed, _)) => u64::try_from(followed.now().as_nanos()).ok(),
                None => clock::virtual_wall(which),
            }
        });
        clock
    }

    /// Ends the clock with the last store that follows it.
    fn leave() {
        let mut followed = FOLLOWED.write().expect("nobody panics with this lock");
        *followed = followed.filter(|(_, stores)| *stores > 1).map(|(clock, stores)| (clock, stores - 1));
    }

    fn now(&self) -> Duration {
        Duration::from_millis(self.base_ms) + self.started.elapsed()
    }

    fn now_ms(&self) -> u64 {
        ms(self.now())
    }
}

enum Waiter {
    Task(oneshot::Sender<Value>),
    Thread(mpsc::Sender<Value>),
}

/// Who waits for the answer to which request; None once nobody answers any more.
type Waiting = Mutex<Option<HashMap<u64, Waiter>>>;

/// The lines to and from the store.
struct Wire {
    input: Mutex<ChildStdin>,
    waiting: Arc<Waiting>,
    ids: AtomicU64,
    clock: Option<VirtualClock>,
    agenda: Agenda,
}

/// When, in virtual time, a fetch that has found nothing looks again.
#[derive(Default)]
struct Agenda {
    /// Tells that a call has changed the store.
    changed: Notify,
    /// The times at which delays, timers and locks end.
    due: Mutex<BTreeSet<u64>>,
}

impl Agenda {
    /// Notes what a call that was made now may bring about later.
    fn note(&self, now_ms: u64, params: &Value) {
        let mut due = self.due.lock().expect("nobody panics with this lock");
        let session = &params["session"]["lock_timeout_ms"];
        for after in [&params["delay_ms"], &params["lock_timeout_ms"], &params["extend_for_ms"], session] {
            due.extend(after.as_u64().map(|after| now_ms.saturating_add(after)));
        }
        for item in params["orchestrator_items"].as_array().into_iter().flatten() {
            due.extend(item["TimerFired"]["fire_at_ms"].as_u64());
        }
    }

    /// The next time at which something may have become ready.
    fn next(&self, now_ms: u64) -> u64 {
        let mut due = self.due.lock().expect("nobody panics with this lock");
        *due = due.split_off(&(now_ms + 1));
        due.first().copied().unwrap_or(u64::MAX)
    }
}

const ENDED: &str = "the store has ended";

impl Wire {
    /// Hands answers on until there are no more.
    fn listen(waiting: &Waiting, output: impl BufRead) {
        for line in output.lines().map_while(Result::ok) {
            let Ok(answer) = serde_json::from_str::<Value>(&line) else { break };
            let waiter = answer["id"].as_u64().and_then(|id| waiting.lock().ok()?.as_mut()?.remove(&id));
            // Whoever asked may have given up.
            match waiter {
                Some(Waiter::Task(answered)) => drop(answered.send(answer)),
                Some(Waiter::Thread(answered)) => drop(answered.send(answer)),
                None => {}
            }
        }
        // Whoever waits is told by the end of its channel.
        *waiting.lock().expect("nobody panics with this lock") = None;
    }

    fn send(&self, method: &str, params: &Value, waiter: Waiter) -> Result<(), String> {
        let id = self.ids.fetch_add(1, Ordering::Relaxed);
        self.waiting.lock().expect("nobody panics with this lock").as_mut().ok_or(ENDED)?.insert(id, waiter);
        let line = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        let mut input = self.input.lock().expect("nobody panics with this lock");
        writeln!(input, "{line}").and_then(|()| input.flush()).map_err(|err| format!("{ENDED}: {err}"))
    }

    /// Makes a call and blocks the thread, so that no virtual time passes meanwhile.
    fn now(&self, method: &str, params: &Value) -> Result<Value, String> {
        let (answered, answer) = mpsc::channel();
        self.send(method, params, Waiter::Thread(answered))?;
        answer.recv().map_err(|_| ENDED.to_owned())
    }

    /// Makes a call in virtual time. A fetch that finds nothing waits up to its poll timeout.
    async fn in_virtual_time(&self, clock: &VirtualClock, method: &str, params: &Value) -> Result<Value, String> {
        let last = clock.now_ms() + params["poll_timeout_ms"].as_u64().unwrap_or(0);
        loop {
            let now = clock.now_ms();
            self.result("clock_set", &json!({ "now_ms": now }))?;
            let answer = self.now(method, params)?;
            let nothing = method.starts_with("fetch_") && answer.get("error").is_none() && answer["result"].is_null();
            let reads = ["read", "get_", "list_"].iter().any(|reading| method.starts_with(reading));
            if !nothing && !reads {
                self.agenda.note(now, params);
                self.agenda.changed.notify_waiters();
            }
            if !nothing || now >= last {
                return Ok(answer);
            }
            let wait = self.agenda.next(now).min(last) - now;
            // Whether it is time or a change, the store has the answer.
            let _ = tokio::time::timeout(Duration::from_millis(wait), self.agenda.changed.notified()).await;
        }
    }

    /// Makes a call that must have a result.
    fn result(&self, method: &str, params: &Value) -> Result<Value, String> {
        let mut answer = self.now(method, params)?;
        match answer.get("error") {
            Some(err) => Err(format!("{method}: {err}")),
            None => Ok(answer["result"].take()),
        }
    }
}

#[async_trait]
impl Transport for Wire {
    async fn call(&self, method: &'static str, params: Value) -> Result<Value, ProviderError> {
        let failed = |why: String| ProviderError::permanent(method, why);
        let answer = if let Some(clock) = &self.clock {
            self.in_virtual_time(clock, method, &params).await.map_err(failed)?
        } else {
            let (answered, answer) = oneshot::channel();
            self.send(method, &params, Waiter::Task(answered)).map_err(failed)?;
            answer.await.map_err(|_| failed(ENDED.to_owned()))?
        };
        remote::result(method, answer)
    }
}
