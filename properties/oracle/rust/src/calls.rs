//! The methods of the protocol, carried out on a provider.

use crate::form;
use duroxide::providers::{
    ExecutionMetadata, InstanceFilter, Provider, ProviderAdmin, ProviderError, PruneOptions, ScheduledActivityIdentifier,
    SessionFetchConfig,
};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use std::time::Duration;

/// Why a call has no result.
pub enum Failure {
    /// The provider says so.
    Provider(ProviderError),
    /// The store does not have the method, or this release of duroxide cannot read what the call brings.
    NotOffered(String),
    /// The parameters are wrong.
    Params(String),
}

impl From<ProviderError> for Failure {
    fn from(err: ProviderError) -> Self {
        Failure::Provider(err)
    }
}

/// The methods of a provider without the management surface.
pub const METHODS: [&str; 19] = [
    "enqueue_for_orchestrator", "fetch_orchestration_item", "ack_orchestration_item", "abandon_orchestration_item",
    "renew_orchestration_item_lock", "read", "read_with_execution", "append_with_execution", "enqueue_for_worker",
    "fetch_work_item", "ack_work_item", "renew_work_item_lock", "abandon_work_item", "renew_session_lock",
    "cleanup_orphaned_sessions", "get_custom_status", "get_kv_value", "get_kv_all_values", "get_instance_stats",
];

/// The methods of the management surface.
pub const ADMIN_METHODS: [&str; 18] = [
    "list_instances", "list_instances_by_status", "list_executions", "read_history_with_execution_id", "read_history",
    "latest_execution_id", "get_instance_info", "get_execution_info", "get_system_metrics", "get_queue_depths",
    "list_children", "get_parent_id", "get_instance_tree", "delete_instance", "delete_instances_atomic",
    "delete_instance_bulk", "prune_executions", "prune_executions_bulk",
];

/// The parameters of a call.
pub struct Params(pub Value);

impl Params {
    /// A field; null where it is not there.
    fn get<T: DeserializeOwned>(&self, name: &str) -> Result<T, Failure> {
        serde_json::from_value(self.0[name].clone()).map_err(|err| Failure::Params(format!("params.{name}: {err}")))
    }

    /// A field that holds items or events. What cannot be read is of another release.
    pub fn data<T: DeserializeOwned>(&self, name: &str) -> Result<T, Failure> {
        serde_json::from_value(self.0[name].clone())
            .map_err(|err| Failure::NotOffered(format!("{name}: this release cannot read it: {err}")))
    }

    pub fn text(&self, name: &str) -> Result<String, Failure> {
        self.get(name)
    }

    pub fn number(&self, name: &str) -> Result<u64, Failure> {
        self.get(name)
    }

    fn flag(&self, name: &str) -> bool {
        self.0[name].as_bool().unwrap_or(false)
    }

    /// A time in milliseconds, 0 where it is left out.
    fn time(&self, name: &str) -> Duration {
        Duration::from_millis(self.0[name].as_u64().unwrap_or(0))
    }

    /// A delay, of which 0 is none.
    fn delay(&self) -> Option<Duration> {
        Some(self.time("delay_ms")).filter(|d| !d.is_zero())
    }
}

fn json<T: serde::Serialize>(value: &T) -> Value {
    serde_json::to_value(value).expect("events and work items have a JSON form")
}

/// Carries a call out.
pub async fn perform(provider: &dyn Provider, method: &str, p: &Params) -> Result<Value, Failure> {
    let token = || p.text("lock_token");
    let done = |()| Value::Null;
    Ok(match method {
        "enqueue_for_orchestrator" => provider.enqueue_for_orchestrator(p.data("item")?, p.delay()).await.map(done)?,
        "fetch_orchestration_item" => fetch_orchestration(provider, p).await?,
        "ack_orchestration_item" => ack_orchestration(provider, p).await?,
        "abandon_orchestration_item" => {
            provider.abandon_orchestration_item(&token()?, p.delay(), p.flag("ignore_attempt")).await.map(done)?
        }
        "renew_orchestration_item_lock" => {
            provider.renew_orchestration_item_lock(&token()?, p.time("extend_for_ms")).await.map(done)?
        }
        "read" => json(&provider.read(&p.text("instance")?).await?),
        "read_with_execution" => {
            json(&provider.read_with_execution(&p.text("instance")?, p.number("execution_id")?).await?)
        }
        "append_with_execution" => {
            let (instance, execution) = (p.text("instance")?, p.number("execution_id")?);
            provider.append_with_execution(&instance, execution, p.data("events")?).await.map(done)?
        }
        "enqueue_for_worker" => provider.enqueue_for_worker(p.data("item")?).await.map(done)?,
        "fetch_work_item" => fetch_work(provider, p).await?,
        "ack_work_item" => provider.ack_work_item(&token()?, p.data("completion")?).await.map(done)?,
        "renew_work_item_lock" => provider.renew_work_item_lock(&token()?, p.time("extend_for_ms")).await.map(done)?,
        "abandon_work_item" => {
            provider.abandon_work_item(&token()?, p.delay(), p.flag("ignore_attempt")).await.map(done)?
        }
        "renew_session_lock" => {
            let owners: Vec<String> = p.get("owner_ids")?;
            let owners: Vec<&str> = owners.iter().map(String::as_str).collect();
            json(&provider.renew_session_lock(&owners, p.time("extend_for_ms"), p.time("idle_timeout_ms")).await?)
        }
        "cleanup_orphaned_sessions" => json(&provider.cleanup_orphaned_sessions(p.time("idle_timeout_ms")).await?),
        "get_custom_status" => {
            match provider.get_custom_status(&p.text("instance")?, p.number("last_seen_version")?).await? {
                Some((status, version)) => json!({ "status": status, "version": version }),
                None => Value::Null,
            }
        }
        "get_kv_value" => json(&provider.get_kv_value(&p.text("instance")?, &p.text("key")?).await?),
        "get_kv_all_values" => json(&provider.get_kv_all_values(&p.text("instance")?).await?),
        #[cfg(feature = "stats")]
        "get_instance_stats" => match provider.get_instance_stats(&p.text("instance")?).await? {
            Some(s) => json!({
                "history_event_count": s.history_event_count,
                "history_size_bytes": s.history_size_bytes,
                "queue_pending_count": s.queue_pending_count,
                "kv_user_key_count": s.kv_user_key_count,
                "kv_total_value_bytes": s.kv_total_value_bytes,
            }),
            None => Value::Null,
        },
        _ => match provider.as_management_capability() {
            Some(admin) if ADMIN_METHODS.contains(&method) => manage(admin, method, p).await?,
            _ => return Err(Failure::NotOffered(format!("{method}: this provider does not have it"))),
        },
    })
}

async fn fetch_orchestration(provider: &dyn Provider, p: &Params) -> Result<Value, Failure> {
    let filter = form::read_filter(&p.0["filter"]).map_err(Failure::Params)?;
    let (lock, poll) = (p.time("lock_timeout_ms"), p.time("poll_timeout_ms"));
    let Some((item, token, attempts)) = provider.fetch_orchestration_item(lock, poll, filter.as_ref()).await? else {
        return Ok(Value::Null);
    };
    let mut fields = json!({
        "instance": item.instance,
        "orchestration_name": item.orchestration_name,
        "execution_id": item.execution_id,
        "version": item.version,
        "history": json(&item.history),
        "messages": json(&item.messages),
    });
    if let Some(error) = item.history_error {
        fields["history_error"] = json!(error);
    }
    let snapshot: Map<_, _> = item
        .kv_snapshot
        .into_iter()
        .map(|(key, e)| (key, json!({ "value": e.value, "last_updated_at_ms": e.last_updated_at_ms })))
        .collect();
    if !snapshot.is_empty() {
        fields["kv_snapshot"] = Value::Object(snapshot);
    }
    Ok(json!({ "item": fields, "lock_token": token, "attempt_count": attempts }))
}

async fn ack_orchestration(provider: &dyn Provider, p: &Params) -> Result<Value, Failure> {
    let given = &p.0["metadata"];
    let text = |name: &str| given[name].as_str().map(str::to_owned);
    let pinned_duroxide_version = match given["pinned_duroxide_version"].as_str() {
        Some(text) => Some(semver::Version::parse(text).map_err(|err| Failure::Params(err.to_string()))?),
        None => None,
    };
    let metadata = ExecutionMetadata {
        status: text("status"),
        output: text("output"),
        orchestration_name: text("orchestration_name"),
        orchestration_version: text("orchestration_version"),
        parent_instance_id: text("parent_instance_id"),
        pinned_duroxide_version,
    };
    let mut cancelled = Vec::new();
    for id in p.0["cancelled_activities"].as_array().into_iter().flatten() {
        let id = Params(id.clone());
        cancelled.push(ScheduledActivityIdentifier {
            instance: id.text("instance")?,
            execution_id: id.number("execution_id")?,
            activity_id: id.number("activity_id")?,
        });
    }
    provider
        .ack_orchestration_item(
            &p.text("lock_token")?,
            p.number("execution_id")?,
            p.data("history_delta")?,
            p.data("worker_items")?,
            p.data("orchestrator_items")?,
            metadata,
            cancelled,
        )
        .await?;
    Ok(Value::Null)
}

async fn fetch_work(provider: &dyn Provider, p: &Params) -> Result<Value, Failure> {
    let tags = form::read_tags(&p.0["tag_filter"]).map_err(Failure::Params)?;
    let session = match &p.0["session"] {
        Value::Null => None,
        given => {
            let given = Params(given.clone());
            Some(SessionFetchConfig { owner_id: given.text("owner_id")?, lock_timeout: given.time("lock_timeout_ms") })
        }
    };
    let (lock, poll) = (p.time("lock_timeout_ms"), p.time("poll_timeout_ms"));
    Ok(match provider.fetch_work_item(lock, poll, session.as_ref(), &tags).await? {
        Some((item, token, attempts)) => json!({ "item": json(&item), "lock_token": token, "attempt_count": attempts }),
        None => Value::Null,
    })
}

async fn manage(admin: &dyn ProviderAdmin, method: &str, p: &Params) -> Result<Value, Failure> {
    let instance = || p.text("instance");
    let execution = || p.number("execution_id");
    let force = p.flag("force");
    let deleted = |r: duroxide::providers::DeleteInstanceResult| {
        json!({
            "instances_deleted": r.instances_deleted,
            "executions_deleted": r.executions_deleted,
            "events_deleted": r.events_deleted,
            "queue_messages_deleted": r.queue_messages_deleted,
        })
    };
    let pruned = |r: duroxide::providers::PruneResult| {
        json!({
            "instances_processed": r.instances_processed,
            "executions_deleted": r.executions_deleted,
            "events_deleted": r.events_deleted,
        })
    };
    Ok(match method {
        "list_instances" => json(&admin.list_instances().await?),
        "list_instances_by_status" => json(&admin.list_instances_by_status(&p.text("status")?).await?),
        "list_executions" => json(&admin.list_executions(&instance()?).await?),
        "read_history_with_execution_id" => {
            json(&admin.read_history_with_execution_id(&instance()?, execution()?).await?)
        }
        "read_history" => json(&admin.read_history(&instance()?).await?),
        "latest_execution_id" => json(&admin.latest_execution_id(&instance()?).await?),
        "get_instance_info" => {
            let i = admin.get_instance_info(&instance()?).await?;
            let mut fields = json!({
                "instance_id": i.instance_id,
                "orchestration_name": i.orchestration_name,
                "orchestration_version": i.orchestration_version,
                "current_execution_id": i.current_execution_id,
                "status": i.status,
                "output": i.output,
                "created_at": i.created_at,
                "updated_at": i.updated_at,
            });
            if let Some(parent) = i.parent_instance_id {
                fields["parent_instance_id"] = json!(parent);
            }
            fields
        }
        "get_execution_info" => {
            let e = admin.get_execution_info(&instance()?, execution()?).await?;
            json!({
                "execution_id": e.execution_id,
                "status": e.status,
                "output": e.output,
                "started_at": e.started_at,
                "completed_at": e.completed_at,
                "event_count": e.event_count,
            })
        }
        "get_system_metrics" => {
            let m = admin.get_system_metrics().await?;
            json!({
                "total_instances": m.total_instances,
                "total_executions": m.total_executions,
                "running_instances": m.running_instances,
                "completed_instances": m.completed_instances,
                "failed_instances": m.failed_instances,
                "total_events": m.total_events,
            })
        }
        "get_queue_depths" => {
            let d = admin.get_queue_depths().await?;
            json!({
                "orchestrator_queue": d.orchestrator_queue,
                "worker_queue": d.worker_queue,
                "timer_queue": d.timer_queue,
            })
        }
        "list_children" => json(&admin.list_children(&instance()?).await?),
        "get_parent_id" => json(&admin.get_parent_id(&instance()?).await?),
        "get_instance_tree" => {
            let t = admin.get_instance_tree(&instance()?).await?;
            json!({ "root_id": t.root_id, "all_ids": t.all_ids })
        }
        "delete_instance" => deleted(admin.delete_instance(&instance()?, force).await?),
        "delete_instances_atomic" => {
            let ids: Vec<String> = p.get("instances")?;
            deleted(admin.delete_instances_atomic(&ids, force).await?)
        }
        "delete_instance_bulk" => deleted(admin.delete_instance_bulk(instances(p)?).await?),
        "prune_executions" => pruned(admin.prune_executions(&instance()?, options(p)?).await?),
        "prune_executions_bulk" => pruned(admin.prune_executions_bulk(instances(p)?, options(p)?).await?),
        _ => return Err(Failure::NotOffered(format!("{method}: unknown"))),
    })
}

fn instances(p: &Params) -> Result<InstanceFilter, Failure> {
    let given = Params(p.0["filter"].clone());
    Ok(InstanceFilter {
        instance_ids: given.get("instance_ids")?,
        completed_before: given.get("completed_before")?,
        limit: given.get("limit")?,
    })
}

fn options(p: &Params) -> Result<PruneOptions, Failure> {
    let given = Params(p.0["options"].clone());
    Ok(PruneOptions { keep_last: given.get("keep_last")?, completed_before: given.get("completed_before")? })
}
