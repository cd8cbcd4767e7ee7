//! The command simrun, which knows the contract.

use crate::factory::Factory;
use crate::served;
use std::ffi::OsString;
use std::io::BufReader;
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::Command;

/// How to get simrun, for whoever does not have it.
const HOW: &str = "The checks are made by the command simrun of durosim, which is written in Go. \
    Install it with \"go install github.com/durosim/durosim/cmd/simrun@latest\", or build it in a clone of durosim with \
    \"go build -o simrun ./cmd/simrun\"; then put it on PATH, or name it in the environment variable DUROSIM_SIMRUN.";

/// The program to run.
pub(crate) fn path() -> Result<PathBuf, String> {
    find(std::env::var_os("DUROSIM_SIMRUN"), std::env::var_os("PATH"))
}

fn find(given: Option<OsString>, path: Option<OsString>) -> Result<PathBuf, String> {
    if let Some(given) = given {
        let given = PathBuf::from(given);
        if !given.is_file() {
            return Err(format!("DUROSIM_SIMRUN names {}, which is no file.\n{HOW}", given.display()));
        }
        return Ok(given);
    }
    std::env::split_paths(&path.unwrap_or_default())
        .map(|dir| dir.join("simrun"))
        .find(|file| file.is_file())
        .ok_or_else(|| format!("There is no simrun on PATH.\n{HOW}"))
}

/// What simrun says about a provider.
pub(crate) struct Verdict {
    pub status: Option<i32>,
    pub said: String,
}

/// Runs simrun with these arguments, which may read "--connect ADDRESS" at the end, against the stores of a factory.
pub(crate) fn check<F: Factory>(factory: F, arguments: Vec<String>) -> Result<Verdict, String> {
    let program = path()?;
    // Only then: simrun does not wait long for an answer.
    let turn = served::Turn::wait(&factory.offers());
    let listener = TcpListener::bind("127.0.0.1:0").map_err(|err| format!("no address to listen at: {err}"))?;
    let address = listener.local_addr().map_err(|err| format!("no address to listen at: {err}"))?;
    let child = std::thread::spawn(move || {
        Command::new(&program)
            .args(arguments)
            .arg("--connect")
            .arg(format!("tcp:{address}"))
            .output()
            .map_err(|err| format!("{}: {err}", program.display()))
            // If it ended without a connection, one of ours ends the wait for it.
            .inspect(|_| drop(std::net::TcpStream::connect(address)))
    });
    let (connection, _) = listener.accept().map_err(|err| format!("simrun did not connect: {err}"))?;
    let output = connection.try_clone().map_err(|err| err.to_string())?;
    let served = served::lines(factory, turn, BufReader::new(connection), output);
    let ended = child.join().map_err(|_| "simrun could not be waited for".to_owned())??;
    let said = format!("{}{}", String::from_utf8_lossy(&ended.stdout), String::from_utf8_lossy(&ended.stderr));
    let said = in_rust(&said, &format!("--connect tcp:{address}"));
    if let Err(err) = served {
        return Err(format!("the connection to simrun broke: {err}\n{said}"));
    }
    Ok(Verdict { status: ended.status.code(), said })
}

/// What simrun says, in the words of this crate. A command that names our address, at which nobody listens any more,
/// becomes what does the same in the test.
fn in_rust(said: &str, connect: &str) -> String {
    let mut lines = Vec::new();
    for line in said.lines() {
        let mut words = line.split_whitespace().skip_while(|word| !["--seed", "--seeds"].contains(word)).skip(1);
        lines.push(match words.next() {
            Some(seeds) if line.contains(connect) => {
                let (first, last) = seeds.split_once("..").unwrap_or((seeds, seeds));
                format!("in the test: .seeds({first}..={last})")
            }
            _ => WORDS.iter().fold(line.to_owned(), |line, (theirs, ours)| line.replace(theirs, ours)),
        });
    }
    lines.join("\n") + "\n"
}

/// How the protocol says that something is not offered, and how this crate does.
const WORDS: [(&str, &str); 4] = [
    (": virtual_clock is false", ": there is no virtual clock under the provider"),
    (": corrupt_event is false", ": Offers has no corrupt_event"),
    (": corrupt_message is false", ": Offers has no corrupt_message"),
    (": admin is false", ": as_management_capability is None"),
];

#[cfg(test)]
mod tests {
    use super::{find, in_rust};

    #[test]
    fn commands_become_what_the_test_says() {
        let connect = "--connect tcp:127.0.0.1:39811";
        for (theirs, ours) in [
            (format!("/bin/simrun oracle --seed 30 --deny F9 {connect}\n"), "in the test: .seeds(30..=30)\n"),
            (format!("a\n\nsimrun oracle --seeds 7..1000 --keep-going {connect}\n"), "a\n\nin the test: .seeds(7..=1000)\n"),
            ("no --seed 1 of ours\n".to_owned(), "no --seed 1 of ours\n"),
            ("not checked   it: admin is false\n".to_owned(), "not checked   it: as_management_capability is None\n"),
        ] {
            assert_eq!(in_rust(&theirs, connect), ours);
        }
    }

    #[test]
    fn a_missing_simrun_is_told_with_how_to_get_it() {
        for (given, path, want) in [
            (None, Some("/no/such/directory"), "There is no simrun on PATH."),
            (None, None, "There is no simrun on PATH."),
            (Some("/no/such/file"), None, "DUROSIM_SIMRUN names /no/such/file, which is no file."),
        ] {
            let told = find(given.map(Into::into), path.map(Into::into)).expect_err("there is none");
            assert!(told.starts_with(want) && told.contains("go install"), "{told}");
        }
    }
}
