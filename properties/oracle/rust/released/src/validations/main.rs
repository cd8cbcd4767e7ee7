//! Runs the validations that duroxide offers to authors of providers against durosim's store.

mod list;
mod store;

use durosim::Store;
use list::Validation;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::sync::mpsc;
use std::time::Duration;
use store::Durosim;

const USAGE: &str = "\
Runs the validations that duroxide offers to authors of providers against durosim's store, one after the other.

  --bug ID       break a rule of the store
  --first        stop at the first that fails
  --list         print their names
  NAME...        run these only

Exit status: 0 all passed, 1 one failed, 2 usage.";

/// How long a validation may take. Time that it waits for passes at once.
const PATIENCE: Duration = Duration::from_secs(30);

#[derive(Default)]
struct Arguments {
    bug: Option<String>,
    first: bool,
    list: bool,
    names: Vec<String>,
}

fn arguments() -> Result<Arguments, String> {
    let mut given = Arguments::default();
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        match word.as_str() {
            "--bug" => given.bug = Some(words.next().ok_or("--bug: an id is missing")?),
            "--first" => given.first = true,
            "--list" => given.list = true,
            name if !name.starts_with('-') => given.names.push(word),
            other => return Err(format!("unknown argument {other:?}")),
        }
    }
    Ok(given)
}

fn chosen(names: &[String]) -> Result<Vec<Validation>, String> {
    let all = list::all();
    if let Some(unknown) = names.iter().find(|name| !all.iter().any(|v| v.name == **name)) {
        return Err(format!("no validation is named {unknown:?}"));
    }
    Ok(all.into_iter().filter(|v| names.is_empty() || names.iter().any(|name| v.name == *name)).collect())
}

/// Runs a validation on a new store. The error says what it has found.
fn run(validation: &Validation, bug: Option<&str>) -> Result<(), String> {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    builder.enable_all().start_paused(!validation.real_time);
    let runtime = builder.build().map_err(|err| err.to_string())?;
    let made = catch_unwind(AssertUnwindSafe(|| {
        runtime.block_on(async {
            let prepare = || {
                let store = if validation.real_time { Store::live() } else { Store::virtual_time() };
                bug.into_iter().fold(store, durosim::Builder::bug)
            };
            (validation.run)(&Durosim::new(&prepare)).await;
            Ok(())
        })
    }));
    made.unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        Err(text.or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string)).unwrap_or_default())
    })
}

/// Runs a validation with a limit. None says that it did not end.
fn in_time(validation: Validation, bug: Option<String>) -> Option<Result<(), String>> {
    let (told, end) = mpsc::channel();
    std::thread::spawn(move || told.send(run(&validation, bug.as_deref())));
    end.recv_timeout(PATIENCE).ok()
}

fn main() -> ExitCode {
    let (given, validations) = match arguments().and_then(|given| chosen(&given.names).map(|list| (given, list))) {
        Ok(both) => both,
        Err(why) => {
            eprintln!("{why}\n\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    if given.list {
        validations.iter().for_each(|v| println!("{}", v.name));
        return ExitCode::SUCCESS;
    }
    std::panic::set_hook(Box::new(|_| {})); // what fails is told below
    if std::env::var_os("RUST_LOG").is_none() {
        // SAFETY: there is no other thread yet.
        unsafe { std::env::set_var("RUST_LOG", "off") }; // runtimes that validations start would log to standard output
    }
    let (mut passed, mut failed) = (0, 0);
    for validation in validations {
        let name = validation.name;
        let end = in_time(validation, given.bug.clone());
        match &end {
            Some(Ok(())) => passed += 1,
            Some(Err(why)) => println!("FAILED {name}: {}", why.replace('\n', " ")),
            None => println!("FAILED {name}: no end within {PATIENCE:?}; what follows was not run"),
        }
        failed += usize::from(!matches!(end, Some(Ok(()))));
        if end.is_none() || given.first && failed > 0 {
            break;
        }
    }
    println!("{passed} passed, {failed} failed");
    if failed > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
