-- What a PostgreSQL database of duroxide-pg 0.1.38 holds, as JSON lines for simrun plan:
--
--     psql -X -q -A -t -v schema=public -f postgres.sql postgres://... > store.jsonl
--
-- It reads one snapshot, and writes nothing.
\set ON_ERROR_STOP on
begin isolation level repeatable read read only;
set local search_path to :schema;
select json_build_object('table', 'store', 'taken_at_ms', (extract(epoch from now()) * 1000)::bigint, 'has_end', true);
select json_build_object('table', 'instances', 'instance_id', instance_id, 'orchestration_name', orchestration_name,
    'orchestration_version', orchestration_version, 'current_execution_id', current_execution_id, 'parent_instance_id', parent_instance_id)
  from instances order by instance_id;
select json_build_object('table', 'executions', 'instance_id', instance_id, 'execution_id', execution_id, 'status', status, 'output', output,
    'pinned_version', duroxide_version_major || '.' || duroxide_version_minor || '.' || duroxide_version_patch)
  from executions order by instance_id, execution_id;
select json_build_object('table', 'history', 'instance_id', instance_id, 'execution_id', execution_id, 'event_id', event_id, 'event_data', event_data::json)
  from history order by instance_id, execution_id, event_id;
select json_build_object('table', 'orchestrator_queue', 'work_item', work_item::json,
    'visible_at_ms', (extract(epoch from visible_at) * 1000)::bigint, 'attempt_count', attempt_count)
  from orchestrator_queue order by id;
select json_build_object('table', 'worker_queue', 'work_item', work_item::json,
    'visible_at_ms', (extract(epoch from visible_at) * 1000)::bigint, 'attempt_count', attempt_count)
  from worker_queue order by id;
select json_build_object('table', 'end', 'lines', 1 + (select count(*) from instances) + (select count(*) from executions)
    + (select count(*) from history) + (select count(*) from orchestrator_queue) + (select count(*) from worker_queue));
commit;
