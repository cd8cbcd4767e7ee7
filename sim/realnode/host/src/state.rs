//! The statements of programs about the instance's state, and those that ask the runtime.

use crate::program::{Outcome, Statement};
use duroxide::OrchestrationContext;

/// What stands for a key or a custom status that does not exist.
const NONE: &str = "-";

fn or_none(value: Option<String>) -> String {
    value.unwrap_or_else(|| NONE.to_owned())
}

/// What a key or the custom status is set to: the text, filled up with dots.
fn value(s: &Statement) -> String {
    let mut out = s.text.clone();
    out.extend(std::iter::repeat_n('.', s.size.saturating_sub(out.len())));
    out
}

/// Carries out a statement.
pub async fn carry_out(ctx: &OrchestrationContext, s: &Statement) -> Outcome {
    match s.op.as_str() {
        "set" => ctx.set_kv_value(s.name.clone(), value(s)),
        "set-many" => (1..=s.size).for_each(|i| ctx.set_kv_value(format!("many-{i}"), "v")),
        "get" => return Ok(or_none(ctx.get_kv_value(&s.name))),
        "clear" => ctx.clear_kv_value(s.name.clone()),
        "clear-all" => ctx.clear_all_kv_values(),
        "keys" => {
            let mut all: Vec<_> = ctx.get_kv_all_values().into_iter().collect();
            all.sort();
            return Ok(all.iter().map(|(key, value)| format!("{key}={value},")).collect());
        }
        "prune" => return Ok(ctx.prune_kv_values_updated_before(i64::MAX as u64).to_string()),
        "remote" => return Ok(or_none(ctx.get_kv_value_from_instance(ctx.instance_id(), s.name.clone()).await?)),
        "status" => ctx.set_custom_status(value(s)),
        "status-reset" => ctx.reset_custom_status(),
        "status-get" => return Ok(or_none(ctx.get_custom_status())),
        "guid" => {
            let id = ctx.new_guid().await?;
            return Ok(if id.len() == "00000000-0000-0000-0000-000000000000".len() { "guid".to_owned() } else { id });
        }
        "now" => {
            ctx.utc_now().await?;
            return Ok("now".to_owned());
        }
        op => unreachable!("{op} was read, and cannot be carried out"),
    }
    Ok(String::new())
}
