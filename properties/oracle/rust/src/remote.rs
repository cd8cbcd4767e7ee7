//! A provider without a store of its own: each call goes to somebody who has one.

use crate::form::{filter, ms, session, tags};
use async_trait::async_trait;
use duroxide::Event;
use duroxide::providers::{
    DeleteInstanceResult, DispatcherCapabilityFilter, ExecutionInfo, ExecutionMetadata, InstanceFilter, InstanceInfo,
    InstanceTree, KvEntry, OrchestrationItem, Provider, ProviderAdmin, ProviderError, PruneOptions, PruneResult,
    QueueDepths, ScheduledActivityIdentifier, SessionFetchConfig, SystemMetrics, TagFilter, WorkItem,
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::time::Duration;

/// Carries calls to a store: a method of durosim's protocol with its parameters, and its result.
#[async_trait]
pub trait Transport: Send + Sync + 'static {
    async fn call(&self, method: &'static str, params: Value) -> Result<Value, ProviderError>;

    /// Whether the store has the methods of the management surface.
    fn managed(&self) -> bool {
        true
    }
}

/// The result in an answer of the protocol, or its error as the one of a provider, of the method unless it names another
/// operation.
pub fn result(method: &'static str, mut answer: Value) -> Result<Value, ProviderError> {
    let Some(error) = answer.get("error") else {
        return Ok(answer["result"].take());
    };
    let (operation, message) = (error["operation"].as_str().unwrap_or(method), text(&error["message"]));
    match error["code"].as_i64() {
        Some(1) => Err(ProviderError::retryable(operation, message)),
        _ => Err(ProviderError::permanent(operation, message)),
    }
}

/// The provider at the other end of a transport.
pub struct Remote<T>(pub T);

/// Reads a value that the store has sent. What this release of duroxide cannot read is a permanent error, as it is where
/// a provider decodes.
fn decode<D: DeserializeOwned>(method: &'static str, value: &Value) -> Result<D, ProviderError> {
    serde_json::from_value(value.clone())
        .map_err(|err| ProviderError::permanent(method, format!("cannot decode {value}: {err}")))
}

fn encode<S: serde::Serialize>(value: &S) -> Value {
    serde_json::to_value(value).expect("events and work items have a JSON form")
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_default()
}

fn count(value: &Value) -> usize {
    usize::try_from(number(value)).unwrap_or(usize::MAX)
}

fn attempts(found: &Value) -> u32 {
    u32::try_from(number(&found["attempt_count"])).unwrap_or(u32::MAX)
}

impl<T: Transport> Remote<T> {
    async fn ask<D: DeserializeOwned>(&self, method: &'static str, params: Value) -> Result<D, ProviderError> {
        decode(method, &self.0.call(method, params).await?)
    }

    /// Makes a call without a result.
    async fn tell(&self, method: &'static str, params: Value) -> Result<(), ProviderError> {
        self.0.call(method, params).await.map(drop)
    }
}

#[async_trait]
impl<T: Transport> Provider for Remote<T> {
    fn name(&self) -> &str {
        "durosim"
    }

    fn as_management_capability(&self) -> Option<&dyn ProviderAdmin> {
        self.0.managed().then_some(self as &dyn ProviderAdmin)
    }

    async fn fetch_orchestration_item(
        &self,
        lock_timeout: Duration,
        poll_timeout: Duration,
        supported: Option<&DispatcherCapabilityFilter>,
    ) -> Result<Option<(OrchestrationItem, String, u32)>, ProviderError> {
        const METHOD: &str = "fetch_orchestration_item";
        let params = json!({
            "lock_timeout_ms": ms(lock_timeout),
            "poll_timeout_ms": ms(poll_timeout),
            "filter": supported.map(filter),
        });
        let found = self.0.call(METHOD, params).await?;
        if found.is_null() {
            return Ok(None);
        }
        let item = &found["item"];
        let mut kv_snapshot = HashMap::new();
        for (key, entry) in item["kv_snapshot"].as_object().into_iter().flatten() {
            let last_updated_at_ms = number(&entry["last_updated_at_ms"]);
            kv_snapshot.insert(key.clone(), KvEntry { value: text(&entry["value"]), last_updated_at_ms });
        }
        // A provider of the release itself tells by history_error what it cannot decode; so does this one, whether the
        // store found it or this release does.
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
            execution_id: number(&item["execution_id"]),
            version: text(&item["version"]),
            history,
            messages,
            history_error,
            kv_snapshot,
        };
        Ok(Some((item, text(&found["lock_token"]), attempts(&found))))
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
        self.tell("ack_orchestration_item", params).await
    }

    async fn abandon_orchestration_item(
        &self,
        lock_token: &str,
        delay: Option<Duration>,
        ignore_attempt: bool,
    ) -> Result<(), ProviderError> {
        let params = json!({ "lock_token": lock_token, "delay_ms": delay.map_or(0, ms), "ignore_attempt": ignore_attempt });
        self.tell("abandon_orchestration_item", params).await
    }

    async fn renew_orchestration_item_lock(&self, token: &str, extend_for: Duration) -> Result<(), ProviderError> {
        let params = json!({ "lock_token": token, "extend_for_ms": ms(extend_for) });
        self.tell("renew_orchestration_item_lock", params).await
    }

    async fn enqueue_for_orchestrator(&self, item: WorkItem, delay: Option<Duration>) -> Result<(), ProviderError> {
        let params = json!({ "item": encode(&item), "delay_ms": delay.map_or(0, ms) });
        self.tell("enqueue_for_orchestrator", params).await
    }

    async fn read(&self, instance: &str) -> Result<Vec<Event>, ProviderError> {
        self.ask("read", json!({ "instance": instance })).await
    }

    async fn read_with_execution(&self, instance: &str, execution_id: u64) -> Result<Vec<Event>, ProviderError> {
        self.ask("read_with_execution", json!({ "instance": instance, "execution_id": execution_id })).await
    }

    async fn append_with_execution(
        &self,
        instance: &str,
        execution_id: u64,
        new_events: Vec<Event>,
    ) -> Result<(), ProviderError> {
        let params = json!({ "instance": instance, "execution_id": execution_id, "events": encode(&new_events) });
        self.tell("append_with_execution", params).await
    }

    async fn enqueue_for_worker(&self, item: WorkItem) -> Result<(), ProviderError> {
        self.tell("enqueue_for_worker", json!({ "item": encode(&item) })).await
    }

    async fn fetch_work_item(
        &self,
        lock_timeout: Duration,
        poll_timeout: Duration,
        owner: Option<&SessionFetchConfig>,
        tag_filter: &TagFilter,
    ) -> Result<Option<(WorkItem, String, u32)>, ProviderError> {
        const METHOD: &str = "fetch_work_item";
        let params = json!({
            "lock_timeout_ms": ms(lock_timeout),
            "poll_timeout_ms": ms(poll_timeout),
            "session": owner.map(session),
            "tag_filter": tags(tag_filter),
        });
        let found = self.0.call(METHOD, params).await?;
        if found.is_null() {
            return Ok(None);
        }
        Ok(Some((decode(METHOD, &found["item"])?, text(&found["lock_token"]), attempts(&found))))
    }

    async fn ack_work_item(&self, token: &str, completion: Option<WorkItem>) -> Result<(), ProviderError> {
        let mut params = json!({ "lock_token": token });
        if let Some(item) = completion {
            params["completion"] = encode(&item);
        }
        self.tell("ack_work_item", params).await
    }

    async fn renew_work_item_lock(&self, token: &str, extend_for: Duration) -> Result<(), ProviderError> {
        self.tell("renew_work_item_lock", json!({ "lock_token": token, "extend_for_ms": ms(extend_for) })).await
    }

    async fn abandon_work_item(
        &self,
        token: &str,
        delay: Option<Duration>,
        ignore_attempt: bool,
    ) -> Result<(), ProviderError> {
        let params = json!({ "lock_token": token, "delay_ms": delay.map_or(0, ms), "ignore_attempt": ignore_attempt });
        self.tell("abandon_work_item", params).await
    }

    async fn renew_session_lock(
        &self,
        owner_ids: &[&str],
        extend_for: Duration,
        idle_timeout: Duration,
    ) -> Result<usize, ProviderError> {
        let params =
            json!({ "owner_ids": owner_ids, "extend_for_ms": ms(extend_for), "idle_timeout_ms": ms(idle_timeout) });
        self.ask("renew_session_lock", params).await
    }

    async fn cleanup_orphaned_sessions(&self, idle_timeout: Duration) -> Result<usize, ProviderError> {
        self.ask("cleanup_orphaned_sessions", json!({ "idle_timeout_ms": ms(idle_timeout) })).await
    }

    async fn get_custom_status(
        &self,
        instance: &str,
        last_seen_version: u64,
    ) -> Result<Option<(Option<String>, u64)>, ProviderError> {
        let params = json!({ "instance": instance, "last_seen_version": last_seen_version });
        let found = self.0.call("get_custom_status", params).await?;
        if found.is_null() {
            return Ok(None);
        }
        Ok(Some((found["status"].as_str().map(str::to_owned), number(&found["version"]))))
    }

    async fn get_kv_value(&self, instance: &str, key: &str) -> Result<Option<String>, ProviderError> {
        self.ask("get_kv_value", json!({ "instance": instance, "key": key })).await
    }

    async fn get_kv_all_values(&self, instance: &str) -> Result<HashMap<String, String>, ProviderError> {
        self.ask("get_kv_all_values", json!({ "instance": instance })).await
    }

    #[cfg(feature = "stats")]
    async fn get_instance_stats(&self, instance: &str) -> Result<Option<duroxide::SystemStats>, ProviderError> {
        let found = self.0.call("get_instance_stats", json!({ "instance": instance })).await?;
        if found.is_null() {
            return Ok(None);
        }
        Ok(Some(duroxide::SystemStats {
            history_event_count: number(&found["history_event_count"]),
            history_size_bytes: number(&found["history_size_bytes"]),
            queue_pending_count: number(&found["queue_pending_count"]),
            kv_user_key_count: number(&found["kv_user_key_count"]),
            kv_total_value_bytes: number(&found["kv_total_value_bytes"]),
        }))
    }
}

#[async_trait]
impl<T: Transport> ProviderAdmin for Remote<T> {
    async fn list_instances(&self) -> Result<Vec<String>, ProviderError> {
        self.ask("list_instances", json!({})).await
    }

    async fn list_instances_by_status(&self, status: &str) -> Result<Vec<String>, ProviderError> {
        self.ask("list_instances_by_status", json!({ "status": status })).await
    }

    async fn list_executions(&self, instance: &str) -> Result<Vec<u64>, ProviderError> {
        self.ask("list_executions", json!({ "instance": instance })).await
    }

    async fn read_history_with_execution_id(
        &self,
        instance: &str,
        execution_id: u64,
    ) -> Result<Vec<Event>, ProviderError> {
        let params = json!({ "instance": instance, "execution_id": execution_id });
        self.ask("read_history_with_execution_id", params).await
    }

    async fn read_history(&self, instance: &str) -> Result<Vec<Event>, ProviderError> {
        self.ask("read_history", json!({ "instance": instance })).await
    }

    async fn latest_execution_id(&self, instance: &str) -> Result<u64, ProviderError> {
        self.ask("latest_execution_id", json!({ "instance": instance })).await
    }

    async fn get_instance_info(&self, instance: &str) -> Result<InstanceInfo, ProviderError> {
        let i = self.0.call("get_instance_info", json!({ "instance": instance })).await?;
        Ok(InstanceInfo {
            instance_id: text(&i["instance_id"]),
            orchestration_name: text(&i["orchestration_name"]),
            orchestration_version: text(&i["orchestration_version"]),
            current_execution_id: number(&i["current_execution_id"]),
            status: text(&i["status"]),
            output: i["output"].as_str().map(str::to_owned),
            created_at: number(&i["created_at"]),
            updated_at: number(&i["updated_at"]),
            parent_instance_id: i["parent_instance_id"].as_str().map(str::to_owned),
        })
    }

    async fn get_execution_info(&self, instance: &str, execution_id: u64) -> Result<ExecutionInfo, ProviderError> {
        let params = json!({ "instance": instance, "execution_id": execution_id });
        let e = self.0.call("get_execution_info", params).await?;
        Ok(ExecutionInfo {
            execution_id: number(&e["execution_id"]),
            status: text(&e["status"]),
            output: e["output"].as_str().map(str::to_owned),
            started_at: number(&e["started_at"]),
            completed_at: e["completed_at"].as_u64(),
            event_count: count(&e["event_count"]),
        })
    }

    async fn get_system_metrics(&self) -> Result<SystemMetrics, ProviderError> {
        let m = self.0.call("get_system_metrics", json!({})).await?;
        Ok(SystemMetrics {
            total_instances: number(&m["total_instances"]),
            total_executions: number(&m["total_executions"]),
            running_instances: number(&m["running_instances"]),
            completed_instances: number(&m["completed_instances"]),
            failed_instances: number(&m["failed_instances"]),
            total_events: number(&m["total_events"]),
        })
    }

    async fn get_queue_depths(&self) -> Result<QueueDepths, ProviderError> {
        let d = self.0.call("get_queue_depths", json!({})).await?;
        Ok(QueueDepths {
            orchestrator_queue: count(&d["orchestrator_queue"]),
            worker_queue: count(&d["worker_queue"]),
            timer_queue: count(&d["timer_queue"]),
        })
    }

    async fn list_children(&self, instance_id: &str) -> Result<Vec<String>, ProviderError> {
        self.ask("list_children", json!({ "instance": instance_id })).await
    }

    async fn get_parent_id(&self, instance_id: &str) -> Result<Option<String>, ProviderError> {
        self.ask("get_parent_id", json!({ "instance": instance_id })).await
    }

    async fn get_instance_tree(&self, instance_id: &str) -> Result<InstanceTree, ProviderError> {
        let t = self.0.call("get_instance_tree", json!({ "instance": instance_id })).await?;
        Ok(InstanceTree { root_id: text(&t["root_id"]), all_ids: decode("get_instance_tree", &t["all_ids"])? })
    }

    async fn delete_instances_atomic(&self, ids: &[String], force: bool) -> Result<DeleteInstanceResult, ProviderError> {
        let params = json!({ "instances": ids, "force": force });
        Ok(deleted(&self.0.call("delete_instances_atomic", params).await?))
    }

    async fn delete_instance(&self, instance_id: &str, force: bool) -> Result<DeleteInstanceResult, ProviderError> {
        let params = json!({ "instance": instance_id, "force": force });
        Ok(deleted(&self.0.call("delete_instance", params).await?))
    }

    async fn delete_instance_bulk(&self, which: InstanceFilter) -> Result<DeleteInstanceResult, ProviderError> {
        let params = json!({ "filter": instances(&which) });
        Ok(deleted(&self.0.call("delete_instance_bulk", params).await?))
    }

    async fn prune_executions(&self, instance_id: &str, options: PruneOptions) -> Result<PruneResult, ProviderError> {
        let params = json!({ "instance": instance_id, "options": kept(&options) });
        Ok(pruned(&self.0.call("prune_executions", params).await?))
    }

    async fn prune_executions_bulk(
        &self,
        which: InstanceFilter,
        options: PruneOptions,
    ) -> Result<PruneResult, ProviderError> {
        let params = json!({ "filter": instances(&which), "options": kept(&options) });
        Ok(pruned(&self.0.call("prune_executions_bulk", params).await?))
    }
}

fn instances(filter: &InstanceFilter) -> Value {
    json!({
        "instance_ids": filter.instance_ids,
        "completed_before": filter.completed_before,
        "limit": filter.limit,
    })
}

fn kept(options: &PruneOptions) -> Value {
    json!({ "keep_last": options.keep_last, "completed_before": options.completed_before })
}

fn deleted(r: &Value) -> DeleteInstanceResult {
    DeleteInstanceResult {
        instances_deleted: number(&r["instances_deleted"]),
        executions_deleted: number(&r["executions_deleted"]),
        events_deleted: number(&r["events_deleted"]),
        queue_messages_deleted: number(&r["queue_messages_deleted"]),
    }
}

fn pruned(r: &Value) -> PruneResult {
    PruneResult {
        instances_processed: number(&r["instances_processed"]),
        executions_deleted: number(&r["executions_deleted"]),
        events_deleted: number(&r["events_deleted"]),
    }
}
