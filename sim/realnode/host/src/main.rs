//! Hosts a node that is a real duroxide runtime of one release. It reads one command a line from standard input and
//! answers each with one line on standard output; durosim's kernel at the other end owns time, network, store and faults.
//! The commands are those of package realnode, two directories up. A crash of the node is the end of this program.

mod clock;
mod log;
mod node;
mod program;
mod state;

use node::Node;
use serde_json::{Value, json};
use std::io::{BufRead, Write};

fn main() {
    clock::install();
    log::install();
    let mut node = None;
    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let line = line.expect("standard input cannot be read");
        let answer = match serde_json::from_str(&line) {
            Ok(mut command) => carry_out(&mut node, &mut command).unwrap_or_else(|message| json!({ "error": message })),
            Err(err) => json!({ "error": format!("not JSON: {err}") }),
        };
        let mut line = answer.to_string();
        line.push('\n');
        if out.write_all(line.as_bytes()).and_then(|()| out.flush()).is_err() {
            return; // nobody listens
        }
    }
}

fn carry_out(node: &mut Option<Node>, command: &mut Value) -> Result<Value, String> {
    let name = command["command"].as_str().ok_or("command: want a text")?.to_owned();
    match (name.as_str(), &node) {
        ("describe", _) => Ok(json!({ "protocol": 4, "release": release() })),
        ("start", Some(_)) => Err("the node is running".to_owned()),
        ("start", None) => {
            *node = Some(Node::start(command)?);
            Ok(json!({}))
        }
        ("run" | "shutdown", None) => Err("the node is not running".to_owned()),
        ("run", Some(node)) => node.run(command),
        ("shutdown", Some(node)) => {
            node.shutdown(command["grace_ms"].as_u64().ok_or("grace_ms: want a number")?);
            Ok(json!({}))
        }
        _ => Err(format!("unknown command {name:?}")),
    }
}

/// The release of duroxide in this program, as the crate itself says.
fn release() -> String {
    duroxide::providers::current_build_version().to_string()
}
