//! Hosts nodes that are real duroxide runtimes of one release. It reads one command a line from standard input and
//! answers each with one line on standard output; durosim's kernel at the other end owns time, network, store and faults.
//! The commands are those of package realnode, two directories up.

mod clock;
mod log;
mod node;
mod program;
mod provider;

use node::Node;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{BufRead, Write};

fn main() {
    log::install();
    let mut nodes = BTreeMap::<String, Node>::new();
    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let line = line.expect("standard input cannot be read");
        let answer = match serde_json::from_str(&line) {
            Ok(mut command) => carry_out(&mut nodes, &mut command).unwrap_or_else(|message| json!({ "error": message })),
            Err(err) => json!({ "error": format!("not JSON: {err}") }),
        };
        if writeln!(out, "{answer}").and_then(|()| out.flush()).is_err() {
            return; // nobody listens
        }
    }
}

fn carry_out(nodes: &mut BTreeMap<String, Node>, command: &mut Value) -> Result<Value, String> {
    let name = command["command"].as_str().ok_or("command: want a text")?.to_owned();
    if name == "describe" {
        return Ok(json!({ "protocol": 1, "release": release() }));
    }
    let id = &command["node"].as_str().ok_or("node: want a text")?.to_owned();
    if name == "start" {
        if nodes.contains_key(id) {
            return Err(format!("node {id} is running"));
        }
        let node = Node::start(id, command)?;
        nodes.insert(id.clone(), node);
        return Ok(json!({}));
    }
    let node = nodes.get_mut(id).ok_or_else(|| format!("node {id} is not running"))?;
    match name.as_str() {
        "run" => node.run(command),
        "shutdown" => node.shutdown(command["grace_ms"].as_u64().ok_or("grace_ms: want a number")?),
        "crash" => {
            nodes.remove(id).expect("it was there").crash();
            Ok(json!({}))
        }
        _ => Err(format!("unknown command {name:?}")),
    }
}

/// The release of duroxide in this program, as the crate itself says.
fn release() -> String {
    duroxide::providers::current_build_version().to_string()
}
