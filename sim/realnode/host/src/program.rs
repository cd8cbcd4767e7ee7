//! Carries out the programs of durosim's package internal/program over duroxide's public API. The text that a program gives is
//! defined there; this is the second reading of the same tree.

use duroxide::OrchestrationContext;
use serde_json::Value;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Poll;
use std::time::Duration;

type Outcome = Result<String, String>;
type Branch = Pin<Box<dyn Future<Output = Outcome> + Send>>;

/// The activities of programs.
pub const CALL: &str = "program.call";
pub const FAIL: &str = "program.fail";

/// A statement.
pub struct Statement {
    op: String,
    name: String,
    text: String,
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
        "select", "try", "repeat", "again",
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
    /// An id that no other instance has, without the mark of automatic ids.
    fn id(&self) -> String {
        let n = self.ids.fetch_add(1, Ordering::Relaxed) + 1;
        format!("{}/{}.{}", self.ctx.instance_id().replace("::sub::", "/"), self.ctx.execution_id(), n)
    }

    /// Begins statement i of a list: what the API can schedule is scheduled now, anything else when it is polled.
    fn start(self: Arc<Self>, list: &Arc<[Statement]>, i: usize) -> Branch {
        let ctx = &self.ctx;
        let s = &list[i];
        match s.op.as_str() {
            "call" => Box::pin(ctx.schedule_activity(CALL, s.text.clone())),
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
            "child" if ctx.execution_id() == 1 => {
                Box::pin(ctx.schedule_sub_orchestration(s.name.clone(), s.text.clone()))
            }
            "child" => {
                Box::pin(ctx.schedule_sub_orchestration_with_id(s.name.clone(), self.id(), s.text.clone()))
            }
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
                self.ctx.schedule_orchestration(s.name.clone(), self.id(), s.text.clone());
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
            op => unreachable!("{op} was read, and cannot be carried out"),
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
