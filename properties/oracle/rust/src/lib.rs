#![cfg_attr(doc, doc = include_str!("../README.md"))]

mod calls;
mod cases;
pub mod clock;
pub mod conformance;
mod factory;
pub mod form;
mod oracle;
pub mod remote;
mod served;
mod simrun;
mod store;

pub use conformance::ask;
pub use factory::{Factory, Offers};
pub use oracle::{Oracle, oracle};
pub use served::serve;
pub use store::{Builder, Faults, Store};
