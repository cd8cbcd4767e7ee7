//! Values of the protocol that are not duroxide's own JSON.

use duroxide::providers::{DispatcherCapabilityFilter, SemverRange, SessionFetchConfig, TagFilter};
use serde_json::{Value, json};
use std::collections::HashSet;
use std::time::Duration;

/// A duration in milliseconds.
pub fn ms(d: Duration) -> u64 {
    u64::try_from(d.as_millis()).unwrap_or(u64::MAX)
}

/// A tag filter in the protocol's form.
pub fn tags(filter: &TagFilter) -> Value {
    let sorted = |set: &HashSet<String>| {
        let mut list: Vec<_> = set.iter().cloned().collect();
        list.sort();
        list
    };
    match filter {
        TagFilter::DefaultOnly => json!("DefaultOnly"),
        TagFilter::Any => json!("Any"),
        TagFilter::None => json!("None"),
        TagFilter::Tags(set) => json!({ "Tags": sorted(set) }),
        TagFilter::DefaultAnd(set) => json!({ "DefaultAnd": sorted(set) }),
    }
}

/// Reads a tag filter in the protocol's form.
pub fn read_tags(value: &Value) -> Result<TagFilter, String> {
    let set = |list: &Value| -> Result<HashSet<String>, String> {
        serde_json::from_value(list.clone()).map_err(|err| format!("tag_filter: {err}"))
    };
    match value.as_str() {
        Some("DefaultOnly") => return Ok(TagFilter::DefaultOnly),
        Some("Any") => return Ok(TagFilter::Any),
        Some("None") => return Ok(TagFilter::None),
        _ => {}
    }
    if let Some(list) = value.get("Tags") {
        return Ok(TagFilter::Tags(set(list)?));
    }
    match value.get("DefaultAnd") {
        Some(list) => Ok(TagFilter::DefaultAnd(set(list)?)),
        None => Err(format!("tag_filter: {value}")),
    }
}

/// A capability filter in the protocol's form.
pub fn filter(filter: &DispatcherCapabilityFilter) -> Value {
    let ranges: Vec<_> = filter
        .supported_duroxide_versions
        .iter()
        .map(|r| json!({ "min": r.min.to_string(), "max": r.max.to_string() }))
        .collect();
    json!({ "supported_duroxide_versions": ranges })
}

/// Reads a capability filter, or null, in the protocol's form.
pub fn read_filter(value: &Value) -> Result<Option<DispatcherCapabilityFilter>, String> {
    if value.is_null() {
        return Ok(None);
    }
    let ranges = value["supported_duroxide_versions"].as_array().ok_or("filter: want ranges")?;
    let ranges: Result<_, _> = ranges.iter().map(read_range).collect();
    Ok(Some(DispatcherCapabilityFilter { supported_duroxide_versions: ranges.map_err(|err| format!("filter: {err}"))? }))
}

/// Reads a range of versions in the protocol's form.
pub fn read_range(value: &Value) -> Result<SemverRange, String> {
    let version = |end: &str| {
        let text = value[end].as_str().ok_or_else(|| format!("{end}: want a version, got {}", value[end]))?;
        semver::Version::parse(text).map_err(|err| format!("{end}: {text}: {err}"))
    };
    Ok(SemverRange { min: version("min")?, max: version("max")? })
}

/// A session's lock in the protocol's form.
pub fn session(config: &SessionFetchConfig) -> Value {
    json!({ "owner_id": config.owner_id, "lock_timeout_ms": ms(config.lock_timeout) })
}
