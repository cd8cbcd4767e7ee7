//! The contract's cases, each a test.

use crate::factory::Factory;
use crate::simrun;
use std::path::Path;

/// Asks one case of the stores of a factory: what a test made by [conformance!](crate::conformance!) does.
///
/// A case that needs what the provider does not offer passes, and prints why it was left out. A case that fails and that
/// the file of known mistakes lists passes, too, and prints the reason.
///
/// # Panics
/// If the case fails, with its calls and what was expected; if there is no simrun, with how to get it; if the provider
/// could not be judged.
#[track_caller]
pub fn ask<F: Factory>(factory: F, id: &str, known: Option<&Path>) {
    match verdict(factory, &format!("^{id} "), known) {
        Ok(said) => println!("{said}"),
        Err(said) => panic!("{said}"),
    }
}

/// Asks the cases whose line "ID name #tag…" matches a regular expression, and returns what simrun says: Ok if none
/// failed but for what is known, otherwise an error.
pub fn verdict<F: Factory>(factory: F, pattern: &str, known: Option<&Path>) -> Result<String, String> {
    let mut arguments = vec!["conformance".to_owned(), "--keep-going".to_owned(), "--run".to_owned(), pattern.to_owned()];
    if let Some(file) = known {
        arguments.extend(["--known".to_owned(), file.display().to_string()]);
    }
    let verdict = simrun::check(factory, arguments)?;
    if verdict.status == Some(0) { Ok(verdict.said) } else { Err(verdict.said) }
}

/// Makes a `#[test]` of each case of the contract, named by its id: `at_01`, `bp_155`.
///
/// The argument is an expression that makes a [Factory]: a closure or a value. `known: FILE` names a file of known
/// mistakes. Use it in a module, or a test target, of its own.
///
/// ```ignore
/// durosim::conformance!(|| async { MyProvider::new().await });
/// durosim::conformance!(Mine::default(), known: "tests/known.toml");
/// ```
#[macro_export]
macro_rules! conformance {
    ($factory:expr) => {
        $crate::each_case!($factory, None);
    };
    ($factory:expr, known: $file:expr) => {
        $crate::each_case!($factory, Some(::std::path::Path::new($file)));
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! tests_of_cases {
    ($factory:expr, $known:expr, $($name:ident $id:literal)*) => {
        $(
            #[test]
            fn $name() {
                $crate::ask($factory, $id, $known);
            }
        )*
    };
}
