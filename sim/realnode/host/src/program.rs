//! Carries out the programs of durosim's package sim/program over duroxide's public API. The text that a program gives is
//! defined there; this is the second reading of the same tree.

use crate::state;
use duroxide::{DurableFuture, OrchestrationContext};
use serde_json::Value;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Poll;
use std::time::Duration;

pub type Outcome = Result<String, String>;
type Branch = Pin<Box<dyn Future<Output = Outcome> + Send>>;

/// The activities of programs.
pub const CALL: &str = "program.call";
pub const FAIL: &str = "program.fail";

/// A statement.
pub struct Statement {
    pub op: String,
    pub name: String,
    pub text: String,
    session: String,
    tag: String,
    id: String,
    version: String,
    pub size: usize,
    delay: Duration,
    count: u64,
    body: Arc<[Statement]>,
    catch: Arc<[Statement]>,
}

/// Reads a list of statements from the form in which package realnode sends them.
pub fn read(value: &Value) -> Result<Arc<[Statement]>, String> {
    let Some(list) = value.as_array() else {
        return if value.is_null() { Ok(Arc::new([])) } else { Err(format!("want a list of statements, got {value}")) };
    };
    list.iter().map(statement).collect()
}

fn statement(value: &Value) -> Result<Statement, String> {
    let op = value["op"].as_str().ok_or_else(|| format!("want a statement, got {value}"))?;
    const KNOWN: &[&str] = &[
        "say", "input", "call", "call-fails", "fail", "panic", "timer", "wait", "child", "detach", "drop", "seq", "join",
        "select", "try", "repeat", "again", "dequeue", "set", "set-many", "get", "clear", "clear-all", "keys", "prune",
        "remote", "status", "status-reset", "status-get", "guid", "now",
    ];
    if !KNOWN.contains(&op) {
        return Err(format!("unknown statement {op:?}"));
    }
    if op == "wait" && !value["text"].as_str().unwrap_or_default().is_empty() && !cfg!(feature = "topics") {
        return Err("wait: this host has no events with a topic".to_owned());
    }
    let text = |field: &str| value[field].as_str().unwrap_or_default().to_owned();
    Ok(Statement {
        op: op.to_owned(),
        name: text("name"),
        text: text("text"),
        session: text("session"),
        tag: text("tag"),
        id: text("id"),
        version: text("version"),
        size: value["size"].as_u64().map_or(0, |n| usize::try_from(n).unwrap_or(usize::MAX)),
        delay: Duration::from_millis(value["delay_ms"].as_u64().unwrap_or_default()),
        count: value["count"].as_u64().unwrap_or_default(),
        body: read(&value["body"])?,
        catch: read(&value["catch"])?,
    })
}

/// Runs an execution of a program.
pub async fn run(body: Arc<[Statement]>, ctx: OrchestrationContext, input: String) -> Outcome {
    let mut carry = Carry::read(&input);
    let runner = Arc::new(Runner { ctx: ctx.clone(), input: carry.input.clone(), ids: AtomicU64::new(0) });
    for i in 0..body.len() {
        if body[i].op == "again" {
            if carry.executions < body[i].count {
                carry.executions += 1;
                if !body[i].version.is_empty() {
                    return ctx.continue_as_new_versioned(body[i].version.clone(), carry.write()).await;
                }
                return ctx.continue_as_new(carry.write()).await;
            }
            continue;
        }
        let value = runner.clone().start(&body, i).await?;
        carry.said += &value;
        carry.said.push(';');
    }
    Ok(carry.said)
}

/// What one execution hands on to the next.
struct Carry {
    executions: u64,
    input: String,
    said: String,
}

impl Carry {
    /// Reads the input of an execution. What does not read as one that was handed on is a first input.
    fn read(s: &str) -> Carry {
        let parse = || {
            let (executions, rest) = s.strip_prefix("again:")?.split_once(':')?;
            let (size, rest) = rest.split_once(':')?;
            let size: usize = size.parse().ok()?;
            let carry = Carry {
                executions: executions.parse().ok()?,
                input: rest.get(..size)?.to_owned(),
                said: rest.get(size..)?.to_owned(),
            };
            Some(carry)
        };
        parse().unwrap_or_else(|| Carry { executions: 0, input: s.to_owned(), said: String::new() })
    }

    fn write(&self) -> String {
        format!("again:{}:{}:{}{}", self.executions, self.input.len(), self.input, self.said)
    }
}

/// One turn of an execution.
struct Runner {
    ctx: OrchestrationContext,
    input: String,
    ids: AtomicU64,
}

impl Runner {
    /// What the ids begin with that the code gives: that of its instance, without the mark of automatic ids.
    fn base(&self) -> String {
        self.ctx.instance_id().replace("::sub::", "/")
    }

    /// An id that no other instance has.
    fn id(&self) -> String {
        let n = self.ids.fetch_add(1, Ordering::Relaxed) + 1;
        format!("{}/{}.{}", self.base(), self.ctx.execution_id(), n)
    }

    /// Schedules an activity, where it may run.
    fn call(&self, s: &Statement) -> DurableFuture<Outcome> {
        let call = match s.session.as_str() {
            "" => self.ctx.schedule_activity(CALL, s.text.clone()),
            session => self.ctx.schedule_activity_on_session(CALL, s.text.clone(), session),
        };
        match s.tag.as_str() {
            "" => call,
            tag => call.with_tag(tag),
        }
    }

    /// Schedules a child.
    fn child(&self, s: &Statement) -> DurableFuture<Outcome> {
        let id = match s.id.as_str() {
            "" if self.ctx.execution_id() == 1 => None,
            // Automatic ids count events, so that a later execution would ask for a child that an earlier one had.
            "" => Some(self.id()),
            id => Some(format!("{}/{id}", self.base())),
        };
        let version = (!s.version.is_empty()).then(|| s.version.clone());
        let (name, input) = (s.name.clone(), s.text.clone());
        match id {
            None => self.ctx.schedule_sub_orchestration_versioned(name, version, input),
            Some(id) => self.ctx.schedule_sub_orchestration_versioned_with_id(name, version, id, input),
        }
    }

    /// Begins statement i of a list: what the API can schedule is scheduled now, anything else when it is polled.
    fn start(self: Arc<Self>, list: &Arc<[Statement]>, i: usize) -> Branch {
        let ctx = &self.ctx;
        let s = &list[i];
        match s.op.as_str() {
            "call" => Box::pin(self.call(s)),
            "call-fails" => Box::pin(ctx.schedule_activity(FAIL, s.text.clone())),
            "timer" => {
                let timer = ctx.schedule_timer(s.delay);
                Box::pin(async move {
                    timer.await;
                    Ok(String::new())
                })
            }
            "wait" => {
                #[cfg(feature = "topics")]
                if !s.text.is_empty() {
                    let wait = ctx.schedule_wait2(s.name.clone(), s.text.clone());
                    return Box::pin(async move { Ok(wait.await) });
                }
                let wait = ctx.schedule_wait(s.name.clone());
                Box::pin(async move { Ok(wait.await) })
            }
            "dequeue" => {
                let message = ctx.dequeue_event(s.name.clone());
                Box::pin(async move { Ok(message.await) })
            }
            "child" => Box::pin(self.child(s)),
            _ => {
                let list = list.clone();
                Box::pin(async move { self.carry_out(&list, i).await })
            }
        }
    }

    /// Carries out what [Runner::start] cannot schedule.
    async fn carry_out(self: Arc<Self>, list: &Arc<[Statement]>, i: usize) -> Outcome {
        let s = &list[i];
        match s.op.as_str() {
            "say" => Ok(s.text.clone()),
            "input" => Ok(self.input.clone()),
            "fail" => Err(s.text.clone()),
            "panic" => panic!("{}", s.text),
            "detach" => {
                match s.version.as_str() {
                    "" => self.ctx.schedule_orchestration(s.name.clone(), self.id(), s.text.clone()),
                    version => {
                        let version = Some(version.to_owned());
                        self.ctx.schedule_orchestration_versioned(s.name.clone(), version, self.id(), s.text.clone());
                    }
                }
                Ok(String::new())
            }
            "drop" => {
                for k in 0..s.body.len() {
                    drop(self.clone().start(&s.body, k));
                }
                Ok(String::new())
            }
            "seq" => self.sequence(&s.body, 1).await,
            "repeat" => self.sequence(&s.body, s.count).await,
            "join" => {
                let branches = self.start_all(&s.body);
                let mut out = String::from("(");
                for outcome in self.ctx.join(branches).await {
                    match outcome {
                        Ok(value) => out += &value,
                        Err(message) => {
                            out.push('!');
                            out += &message;
                        }
                    }
                    out.push('|');
                }
                out.push(')');
                Ok(out)
            }
            "select" => {
                let mut branches = self.start_all(&s.body);
                let (winner, outcome) = poll_fn(|cx| {
                    for (k, branch) in branches.iter_mut().enumerate() {
                        if let Poll::Ready(outcome) = branch.as_mut().poll(cx) {
                            return Poll::Ready((k, outcome));
                        }
                    }
                    Poll::Pending
                })
                .await;
                drop(branches);
                Ok(format!("{winner}:{}", outcome?))
            }
            "try" => match self.clone().sequence(&s.body, 1).await {
                Ok(value) => Ok(value),
                Err(message) => {
                    let other = self.sequence(&s.catch, 1).await?;
                    Ok(format!("~{message}>{other}"))
                }
            },
            _ => state::carry_out(&self.ctx, s).await,
        }
    }

    fn start_all(self: &Arc<Self>, list: &Arc<[Statement]>) -> Vec<Branch> {
        (0..list.len()).map(|k| self.clone().start(list, k)).collect()
    }

    /// Carries statements out one after the other, so many times.
    fn sequence<'a>(
        self: &'a Arc<Self>,
        list: &'a Arc<[Statement]>,
        times: u64,
    ) -> Pin<Box<dyn Future<Output = Outcome> + Send + 'a>> {
        Box::pin(async move {
            let mut out = String::from("{");
            for _ in 0..times {
                for i in 0..list.len() {
                    out += &self.clone().start(list, i).await?;
                    out.push(';');
                }
            }
            out.push('}');
            Ok(out)
        })
    }
}
