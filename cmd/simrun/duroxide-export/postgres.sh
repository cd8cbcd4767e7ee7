#!/usr/bin/env bash
# Tries postgres.sql on a PostgreSQL server of its own, which it starts in a temporary directory and stops: simrun plan must
# say the same of what it writes as of the SQLite export of the same rows. Needs Go and Debian's package postgresql, which
# it installs if it is root.
set -euo pipefail
cd "$(dirname "$0")"

newest() { find /usr/lib/postgresql -name initdb -path '*/bin/*' 2>/dev/null | sort -V | tail -n 1; }
if [ -z "$(newest)" ] && [ "$(id -u)" = 0 ]; then
  apt-get install --yes --no-install-recommends postgresql >/dev/null 2>&1 ||
    { apt-get update && apt-get install --yes --no-install-recommends postgresql; } >/dev/null
fi
if [ -z "$(newest)" ]; then
  echo "There is no PostgreSQL below /usr/lib/postgresql. On Debian and Ubuntu: sudo apt-get install postgresql" >&2
  exit 1
fi
bin=$(dirname "$(newest)")
tmp=$(mktemp -d)
chmod 755 "$tmp"
mkdir "$tmp/pg"
as=()
if [ "$(id -u)" = 0 ]; then
  chown postgres "$tmp/pg"
  as=(runuser -u postgres --)
fi
server() { (cd "$tmp" && "${as[@]}" "$bin/pg_ctl" --pgdata "$tmp/pg/data" "$@" >/dev/null); }
trap 'server --mode immediate stop 2>/dev/null || true; rm -rf "$tmp"' EXIT
(cd "$tmp" && "${as[@]}" "$bin/initdb" --pgdata "$tmp/pg/data" --username durosim --auth trust --no-sync >/dev/null)
server --log "$tmp/pg/log" --wait --options "-c listen_addresses='' -c fsync=off -k $tmp/pg" start
query() { "$bin/psql" -X -q -A -t -v ON_ERROR_STOP=1 "postgres://durosim@localhost/postgres?host=$tmp/pg" "$@"; }

# The columns that the export reads, as the migrations of duroxide-pg 0.1.38 leave them, with the rows of orders.jsonl.
query <<'SQL'
create table instances (instance_id text, orchestration_name text, orchestration_version text, current_execution_id bigint, parent_instance_id text);
create table executions (instance_id text, execution_id bigint, status text, output text, duroxide_version_major int, duroxide_version_minor int, duroxide_version_patch int);
create table history (instance_id text, execution_id bigint, event_id bigint, event_data text);
create table orchestrator_queue (id bigserial, work_item text, visible_at timestamptz, attempt_count int);
create table worker_queue (id bigserial, work_item text, visible_at timestamptz, attempt_count int);
create table lines (n bigserial, line text);
SQL
query -c "\copy lines (line) from 'testdata/orders.jsonl' with (format csv, delimiter E'\x02', quote E'\x01')"
query <<'SQL'
create view l as select n, line::jsonb as j, line::jsonb ->> 'table' as t from lines;
insert into instances select j->>'instance_id', j->>'orchestration_name', j->>'orchestration_version', (j->>'current_execution_id')::bigint, j->>'parent_instance_id' from l where t = 'instances';
insert into executions select j->>'instance_id', (j->>'execution_id')::bigint, j->>'status', j->>'output', split_part(j->>'pinned_version', '.', 1)::int, split_part(j->>'pinned_version', '.', 2)::int, split_part(j->>'pinned_version', '.', 3)::int from l where t = 'executions';
insert into history select j->>'instance_id', (j->>'execution_id')::bigint, (j->>'event_id')::bigint, (j->'event_data')::text from l where t = 'history';
insert into orchestrator_queue (work_item, visible_at, attempt_count) select (j->'work_item')::text, to_timestamp((j->>'visible_at_ms')::numeric / 1000), (j->>'attempt_count')::int from l where t = 'orchestrator_queue' order by n;
insert into worker_queue (work_item, visible_at, attempt_count) select (j->'work_item')::text, to_timestamp((j->>'visible_at_ms')::numeric / 1000), (j->>'attempt_count')::int from l where t = 'worker_queue' order by n;
SQL
query -v schema=public -f postgres.sql >"$tmp/store.jsonl"
# The export was taken when the other was.
sed -i "s/\"taken_at_ms\" : [0-9]*/$(head -n 1 testdata/orders.jsonl | grep -o '"taken_at_ms":[0-9]*')/" "$tmp/store.jsonl"

cp testdata/orders.jsonl "$tmp/sqlite.jsonl"
go -C ../../.. build -o "$tmp/simrun" ./cmd/simrun
for store in sqlite store; do
  status=0
  "$tmp/simrun" plan ../../../docs/my-upgrade.txt --seeds 5 --store "$tmp/$store.jsonl" >"$tmp/out" || status=$?
  sed "s,$tmp/$store,STORE,; s/ in [0-9.]*s)/)/" "$tmp/out" >"$tmp/$store.txt"
  case $status in 0 | 1 | 3 | 7) ;; *) cat "$tmp/out"; exit 1 ;; esac
done
diff "$tmp/sqlite.txt" "$tmp/store.txt" || { echo "simrun plan says something else of the PostgreSQL export" >&2; exit 1; }
grep '^store' "$tmp/store.txt"
