//! Serves the SQLite provider of a release of duroxide to durosim.

mod sqlite;

use sqlite::Sqlite;

const USAGE: &str = "\
Serves the SQLite provider of a release of duroxide to durosim, on standard input and output.

  --file               each store is a file of its own; without it, in memory
  --whole-messages     do not offer to damage queued messages
  --at-once            make a call while transactions that the one before has dropped are rolled back";

fn main() -> std::io::Result<()> {
    let mut store = Sqlite::in_memory();
    for argument in std::env::args().skip(1) {
        store = match argument.as_str() {
            "--file" => store.in_files()?,
            "--whole-messages" => store.whole_messages(),
            "--at-once" => store.at_once(),
            "--help" => {
                println!("{USAGE}");
                return Ok(());
            }
            other => {
                eprintln!("unknown argument {other:?}\n\n{USAGE}");
                std::process::exit(2);
            }
        };
    }
    durosim::serve(store)
}
