//! What the crate offers to authors of providers, on the SQLite provider of the release: every case as a test, and the
//! oracle, behind what is known.

#[allow(dead_code)] // the program makes more of it
#[path = "../src/sqlite.rs"]
mod sqlite;

use sqlite::Sqlite;

const KNOWN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../known.toml");

mod every_case {
    durosim::conformance!(super::Sqlite::in_memory(), known: super::KNOWN);
}

#[test]
fn oracle() {
    durosim::oracle(Sqlite::in_memory().whole_messages()).seeds(1..=60).known(KNOWN).run();
}

#[test]
fn oracle_in_files() {
    let files = Sqlite::in_memory().in_files().expect("a directory");
    durosim::oracle(files.whole_messages()).seeds(1..=20).known(KNOWN).run();
}

#[test]
fn a_freedom_that_is_denied_is_a_finding() {
    let denied = || durosim::oracle(Sqlite::in_memory().whole_messages()).seeds(1..=20).deny("F4");
    let said = denied().verdict().expect_err("it needs the freedom");
    assert!(said.contains("REFUSED  seed ") && said.contains("nothing was found although something is eligible"), "{said}");
    let said = denied().known(KNOWN).verdict().expect("it is known");
    assert!(said.contains("makes every fetch find nothing"), "{said}");
}
