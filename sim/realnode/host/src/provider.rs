//! A provider without a store: each call leaves the program as a line and waits for its answer.

use crate::node::ask;
use duroxide::providers::{
    DispatcherCapabilityFilter, ExecutionMetadata, KvEntry, OrchestrationItem, Provider, ProviderError,
    ScheduledActivityIdentifier, SessionFetchConfig, TagFilter, WorkItem,
};
use duroxide::Event;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::time::Duration;

pub struct Remote;

fn ms(d: Duration) -> u64 {
    u64::try_from(d.as_millis()).unwrap_or(u64::MAX)
}

/// Makes a call and waits for its result.
async fn call(method: &'static str, params: Value) -> Result<Value, ProviderError> {
    let answer = ask(method, params).await;
    let Some(error) = answer.get("error") else {
        return Ok(answer["result"].clone());
    };
    let operation = error["operation"].as_str().unwrap_or(method).to_owned();
    let message = error["message"].as_str().unwrap_or_default().to_owned();
    match error["retryable"].as_bool() {
        Some(true) => Err(ProviderError::retryable(operation, message)),
        _ => Err(ProviderError::permanent(operation, message)),
    }
}

/// Reads a value that durosim's store has sent. What this release cannot read is a permanent error, as it is where a
/// provider decodes.
fn decode<T: serde::de::DeserializeOwned>(method: &'static str, value: &Value) -> Result<T, ProviderError> {
    serde_json::from_value(value.clone())
        .map_err(|err| ProviderError::permanent(method, format!("cannot decode {value}: {err}")))
}

fn encode<T: serde::Serialize>(value: &T) -> Value {
    serde_json::to_value(value).expect("events and work items can be encoded")
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn tags(filter: &TagFilter) -> Value {
    let sorted = |set: &std::collections::HashSet<String>| {
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

#[async_trait::async_trait]
impl Provider for Remote {
    fn name(&self) -> &str {
        "durosim"
    }

    async fn fetch_orchestration_item(
        &self,
        lock_timeout: Duration,
        poll_timeout: Duration,
        filter: Option<&DispatcherCapabilityFilter>,
    ) -> Result<Option<(OrchestrationItem, String, u32)>, ProviderError> {
        const METHOD: &str = "fetch_orchestration_item";
        let filter = filter.map(|f| {
            let ranges: Vec<_> = f
                .supported_duroxide_versions
                .iter()
                .map(|r| json!({ "min": r.min.to_string(), "max": r.max.to_string() }))
                .collect();
            json!({ "supported_duroxide_versions": ranges })
        });
        let params =
            json!({ "lock_timeout_ms": ms(lock_timeout), "poll_timeout_ms": ms(poll_timeout), "filter": filter });
        let found = call(METHOD, params).await?;
        if found.is_null() {
            return Ok(None);
        }
        let item = &found["item"];
        let mut kv_snapshot = HashMap::new();
        if let Some(entries) = item["kv_snapshot"].as_object() {
            for (key, entry) in entries {
                let last_updated_at_ms = entry["last_updated_at_ms"].as_u64().unwrap_or_default();
                kv_snapshot.insert(key.clone(), KvEntry { value: text(&entry["value"]), last_updated_at_ms });
            }
        }
        // A provider of the release itself tells an undecodable history by history_error; so does this one, whether
        // durosim's store found it or this release does.
        let mut history_error = item["history_error"].as_str().map(str::to_owned);
        let messages = decode(METHOD, &item["messages"]).unwrap_or_else(|err: ProviderError| {
            history_error.get_or_insert(err.message);
            Vec::new()
        });
        let mut history = Vec::new();
        if history_error.is_none() {
            match decode::<Vec<Event>>(METHOD, &item["history"]) {
                Ok(events) => history = events,
                Err(err) => history_error = Some(err.message),
            }
        }
        let item = OrchestrationItem {
            instance: text(&item["instance"]),
            orchestration_name: text(&item["orchestration_name"]),
            execution_id: item["execution_id"].as_u64().unwrap_or_default(),
            version: text(&item["version"]),
            history,
            messages,
            history_error,
            kv_snapshot,
        };
        let attempts = found["attempt_count"].as_u64().unwrap_or_default();
        Ok(Some((item, text(&found["lock_token"]), u32::try_from(attempts).unwrap_or(u32::MAX))))
    }

    async fn ack_orchestration_item(
        &self,
        lock_token: &str,
        execution_id: u64,
        history_delta: Vec<Event>,
        worker_items: Vec<WorkItem>,
        orchestrator_items: Vec<WorkItem>,
        metadata: ExecutionMetadata,
        cancelled_activities: Vec<ScheduledActivityIdentifier>,
    ) -> Result<(), ProviderError> {
        let mut fields = serde_json::Map::new();
        let mut put = |name: &str, value: Option<String>| {
            if let Some(value) = value {
                fields.insert(name.to_owned(), json!(value));
            }
        };
        put("status", metadata.status);
        put("output", metadata.output);
        put("orchestration_name", metadata.orchestration_name);
        put("orchestration_version", metadata.orchestration_version);
        put("parent_instance_id", metadata.parent_instance_id);
        put("pinned_duroxide_version", metadata.pinned_duroxide_version.map(|v| v.to_string()));
        let cancelled: Vec<_> = cancelled_activities
            .iter()
            .map(|a| json!({ "instance": a.instance, "execution_id": a.execution_id, "activity_id": a.activity_id }))
            .collect();
        let params = json!({
            "lock_token": lock_token,
            "execution_id": execution_id,
            "history_delta": encode(&history_delta),
            "worker_items": encode(&worker_items),
            "orchestrator_items": encode(&orchestrator_items),
            "metadata": fields,
            "cancelled_activities": cancelled,
        });
        call("ack_orchestration_item", params).await.map(drop)
    }

    async fn abandon_orchestration_item(
        &self,
        lock_token: &str,
        delay: Option<Duration>,
        ignore_attempt: bool,
    ) -> Result<(), ProviderError> {
        let params = json!({ "lock_token": lock_token, "delay_ms": delay.map_or(0, ms), "ignore_attempt": ignore_attempt });
        call("abandon_orchestration_item", params).await.map(drop)
    }

    async fn renew_orchestration_item_lock(&self, token: &str, extend_for: Duration) -> Result<(), ProviderError> {
        let params = json!({ "lock_token": token, "extend_for_ms": ms(extend_for) });
        call("renew_orchestration_item_lock", params).await.map(drop)
    }

    async fn enqueue_for_orchestrator(&self, item: WorkItem, delay: Option<Duration>) -> Result<(), ProviderError> {
        let params = json!({ "item": encode(&item), "delay_ms": delay.map_or(0, ms) });
        call("enqueue_for_orchestrator", params).await.map(drop)
    }

    async fn read(&self, instance: &str) -> Result<Vec<Event>, ProviderError> {
        decode("read", &call("read", json!({ "instance": instance })).await?)
    }

    async fn read_with_execution(&self, instance: &str, execution_id: u64) -> Result<Vec<Event>, ProviderError> {
        const METHOD: &str = "read_with_execution";
        decode(METHOD, &call(METHOD, json!({ "instance": instance, "execution_id": execution_id })).await?)
    }

    async fn append_with_execution(
        &self,
        instance: &str,
        execution_id: u64,
        new_events: Vec<Event>,
    ) -> Result<(), ProviderError> {
        let params = json!({ "instance": instance, "execution_id": execution_id, "events": encode(&new_events) });
        call("append_with_execution", params).await.map(drop)
    }

    async fn enqueue_for_worker(&self, item: WorkItem) -> Result<(), ProviderError> {
        call("enqueue_for_worker", json!({ "item": encode(&item) })).await.map(drop)
    }

    async fn fetch_work_item(
        &self,
        lock_timeout: Duration,
        poll_timeout: Duration,
        session: Option<&SessionFetchConfig>,
        tag_filter: &TagFilter,
    ) -> Result<Option<(WorkItem, String, u32)>, ProviderError> {
        const METHOD: &str = "fetch_work_item";
        let session = session.map(|s| json!({ "owner_id": s.owner_id, "lock_timeout_ms": ms(s.lock_timeout) }));
        let params = json!({
            "lock_timeout_ms": ms(lock_timeout),
            "poll_timeout_ms": ms(poll_timeout),
            "session": session,
            "tag_filter": tags(tag_filter),
        });
        let found = call(METHOD, params).await?;
        if found.is_null() {
            return Ok(None);
        }
        let attempts = found["attempt_count"].as_u64().unwrap_or_default();
        Ok(Some((
            decode(METHOD, &found["item"])?,
            text(&found["lock_token"]),
            u32::try_from(attempts).unwrap_or(u32::MAX),
        )))
    }

    async fn ack_work_item(&self, token: &str, completion: Option<WorkItem>) -> Result<(), ProviderError> {
        let mut params = json!({ "lock_token": token });
        if let Some(item) = completion {
            params["completion"] = encode(&item);
        }
        call("ack_work_item", params).await.map(drop)
    }

    async fn renew_work_item_lock(&self, token: &str, extend_for: Duration) -> Result<(), ProviderError> {
        let params = json!({ "lock_token": token, "extend_for_ms": ms(extend_for) });
        call("renew_work_item_lock", params).await.map(drop)
    }

    async fn abandon_work_item(
        &self,
        token: &str,
        delay: Option<Duration>,
        ignore_attempt: bool,
    ) -> Result<(), ProviderError> {
        let params = json!({ "lock_token": token, "delay_ms": delay.map_or(0, ms), "ignore_attempt": ignore_attempt });
        call("abandon_work_item", params).await.map(drop)
    }

    async fn renew_session_lock(
        &self,
        owner_ids: &[&str],
        extend_for: Duration,
        idle_timeout: Duration,
    ) -> Result<usize, ProviderError> {
        const METHOD: &str = "renew_session_lock";
        let params =
            json!({ "owner_ids": owner_ids, "extend_for_ms": ms(extend_for), "idle_timeout_ms": ms(idle_timeout) });
        decode(METHOD, &call(METHOD, params).await?)
    }

    async fn cleanup_orphaned_sessions(&self, idle_timeout: Duration) -> Result<usize, ProviderError> {
        const METHOD: &str = "cleanup_orphaned_sessions";
        decode(METHOD, &call(METHOD, json!({ "idle_timeout_ms": ms(idle_timeout) })).await?)
    }

    async fn get_custom_status(
        &self,
        instance: &str,
        last_seen_version: u64,
    ) -> Result<Option<(Option<String>, u64)>, ProviderError> {
        const METHOD: &str = "get_custom_status";
        let found = call(METHOD, json!({ "instance": instance, "last_seen_version": last_seen_version })).await?;
        if found.is_null() {
            return Ok(None);
        }
        Ok(Some((found["status"].as_str().map(str::to_owned), found["version"].as_u64().unwrap_or_default())))
    }

    async fn get_kv_value(&self, instance: &str, key: &str) -> Result<Option<String>, ProviderError> {
        decode("get_kv_value", &call("get_kv_value", json!({ "instance": instance, "key": key })).await?)
    }

    async fn get_kv_all_values(&self, instance: &str) -> Result<HashMap<String, String>, ProviderError> {
        decode("get_kv_all_values", &call("get_kv_all_values", json!({ "instance": instance })).await?)
    }

    #[cfg(feature = "stats")]
    async fn get_instance_stats(&self, instance: &str) -> Result<Option<duroxide::SystemStats>, ProviderError> {
        let found = call("get_instance_stats", json!({ "instance": instance })).await?;
        if found.is_null() {
            return Ok(None);
        }
        let number = |name: &str| found[name].as_u64().unwrap_or_default();
        Ok(Some(duroxide::SystemStats {
            history_event_count: number("history_event_count"),
            history_size_bytes: number("history_size_bytes"),
            queue_pending_count: number("queue_pending_count"),
            kv_user_key_count: number("kv_user_key_count"),
            kv_total_value_bytes: number("kv_total_value_bytes"),
        }))
    }
}
