#!/usr/bin/env python3
"""A storage provider in memory that speaks the protocol of docs/oracle-protocol.md.

It uses the standard library only, and is written to be read: state in dictionaries and lists, one function for each
call. Check it with

    simrun oracle -- python3 provider.py

With --store FILE it keeps its state in a file, and may be killed at any moment. With --bug NAME it breaks one rule, for
those who want to see what being caught looks like.
"""

import argparse
import json
import os
import pickle
import sys

BUGS = {
    "filter-ignored": "a filtered fetch hands out work of every pin",
    "attempt-count-lost": "an abandon resets the counts of its batch",
    "ack-without-lock": "a work ack succeeds although the lock has expired",
    "saved-in-pairs": "with --store, the state is saved after every second call only",
    "locks-in-memory": "with --store, locks of instances do not survive a restart",
}

TERMINAL = ("Completed", "Failed", "ContinuedAsNew")


class Permanent(Exception):
    """A permanent provider error: the call changed nothing, and would fail again."""


def triple(version):
    """The three numbers of a version. Pre-release and build parts play no role in a comparison."""
    core = version.split("+")[0].split("-")[0]
    return tuple(int(part) for part in core.split("."))


class Provider:
    def __init__(self, bug=None):
        self.bug = bug
        self.now = 0
        self.tokens = 0
        self.rows = 0
        self.instances = {}   # id -> row: name, version, current, parent, custom status and its version
        self.executions = {}  # (instance, execution) -> status, output, pin
        self.history = {}     # (instance, execution) -> {event id: event}
        self.messages = []    # orchestrator queue, in the order of arrival
        self.locks = {}       # instance -> token, until
        self.work = []        # worker queue, in the order of arrival
        self.sessions = {}    # session id -> owner, until, active
        self.kv_store = {}    # instance -> {key: (value, updated)}: the state at the last boundary
        self.kv_delta = {}    # the same since then; a value of None is a tombstone

    # Small helpers

    def token(self):
        self.tokens += 1
        return "token-%d" % self.tokens

    def current(self, instance):
        row = self.instances.get(instance)
        return row["current"] if row else self.latest(instance)

    def latest(self, instance):
        return max((e for i, e in self.executions if i == instance), default=1)

    def events(self, instance, execution):
        stored = self.history.get((instance, execution), {})
        return [stored[i] for i in sorted(stored)]

    def decoded(self, instance, execution):
        events = self.events(instance, execution)
        if None in events:  # corrupt_event leaves None
            raise Permanent("event cannot be decoded")
        return events

    def lock_of(self, token):
        """The instance that this token holds now."""
        for instance, lock in self.locks.items():
            if lock["token"] == token and lock["until"] > self.now:
                return instance
        raise Permanent("Invalid lock token %s" % token)

    def work_of(self, token):
        for row in self.work:
            if row["token"] == token:
                if row["until"] > self.now or self.bug == "ack-without-lock":
                    return row
        raise Permanent("Invalid lock token %s" % token)

    def enqueue(self, item, visible):
        kind, body = next(iter(item.items()))
        if kind == "ActivityExecute":
            raise Permanent("an ActivityExecute belongs into the worker queue")
        target = body["parent_instance"] if kind.startswith("SubOrch") else body["instance"]
        self.rows += 1
        self.messages.append({"id": self.rows, "instance": target, "kind": kind, "item": item, "visible": visible,
                              "count": 0, "mark": None})

    def enqueue_work(self, item):
        body = item.get("ActivityExecute", {})
        self.rows += 1
        self.work.append({"id": self.rows, "item": item, "visible": self.now, "count": 0, "token": None, "until": 0,
                          "identity": (body.get("instance"), body.get("execution_id"), body.get("id")),
                          "session": body.get("session_id"), "tag": body.get("tag")})

    def touch(self, session):
        """Work on a session's activity counts as activity of the session while it is owned."""
        row = self.sessions.get(session)
        if row and row["until"] > self.now:
            row["active"] = self.now

    # Orchestrations

    def enqueue_for_orchestrator(self, item, delay_ms=0):
        self.enqueue(item, self.now + delay_ms)

    def admits(self, filter, instance):
        if filter is None or self.bug == "filter-ignored":
            return True
        ranges = filter["supported_duroxide_versions"]
        if not ranges:
            return False
        execution = self.executions.get((instance, self.current(instance)))
        if instance not in self.instances or execution is None or execution["pin"] is None:
            return True
        first = ranges[0]  # only the first range counts
        return triple(first["min"]) <= execution["pin"] <= triple(first["max"])

    def fetch_orchestration_item(self, lock_timeout_ms, poll_timeout_ms=0, filter=None):
        seen = set()
        for message in list(self.messages):
            instance = message["instance"]
            if message["visible"] > self.now or instance in seen:
                continue
            seen.add(instance)
            lock = self.locks.get(instance)
            if lock and lock["until"] > self.now or not self.admits(filter, instance):
                continue
            batch = [m for m in self.messages if m["instance"] == instance and m["visible"] <= self.now]
            context = self.context(instance, batch)
            if context is None:
                starts = any(m["instance"] == instance and m["kind"] in ("StartOrchestration", "ContinueAsNew") for m in self.messages)
                if not starts and all(m["kind"] == "QueueMessage" for m in batch):  # orphans
                    self.messages = [m for m in self.messages if m not in batch]
                continue
            token = self.token()
            self.locks[instance] = {"token": token, "until": self.now + lock_timeout_ms}
            for m in batch:
                m["mark"], m["count"] = token, m["count"] + 1
            name, version, execution, begun = context
            item = {"instance": instance, "orchestration_name": name, "version": version, "execution_id": execution,
                    "messages": [m["item"] for m in batch], "history": []}
            try:
                item["history"] = self.decoded(instance, begun) if begun else []
            except Permanent as e:
                item["history_error"] = str(e)
            item["kv_snapshot"] = {key: {"value": value, "last_updated_at_ms": at}
                                   for key, (value, at) in self.kv_store.get(instance, {}).items()}
            return {"item": item, "lock_token": token, "attempt_count": max(m["count"] for m in batch)}
        return None

    def context(self, instance, batch):
        """Name, version, execution, and the execution whose history goes with them, None if it has not begun.

        They come from the instance's row, else from the history of an instance that never got one, else from a start."""
        row = self.instances.get(instance)
        if row:
            return row["name"], row["version"], row["current"], row["current"]
        latest = self.latest(instance)
        for event in self.events(instance, latest):
            if event is None:  # it may have been the start; the history's error says more
                return "unknown", "unknown", 1, latest
            if event["type"] == "OrchestrationStarted":
                return event["name"], event["version"], 1, latest
        for message in batch:
            if message["kind"] in ("StartOrchestration", "ContinueAsNew"):
                start = message["item"][message["kind"]]
                return start["orchestration"], start.get("version") or "unknown", 1, None
        return None

    def ack_orchestration_item(self, lock_token, execution_id, history_delta, worker_items, orchestrator_items,
                               metadata, cancelled_activities):
        instance = self.lock_of(lock_token)
        key = (instance, execution_id)
        stored = self.history.get(key, {})
        added = {}
        if any("ActivityExecute" in item for item in orchestrator_items):
            raise Permanent("an ActivityExecute belongs into the worker queue")
        for event in history_delta:  # everything that can fail comes before the first change
            if event["event_id"] == 0:
                raise Permanent("an event without an id")
            if event["event_id"] in stored or event["event_id"] in added:
                raise Permanent("event %d is there already" % event["event_id"])
            added[event["event_id"]] = event
        self.messages = [m for m in self.messages if m["mark"] != lock_token]
        name, version = metadata.get("orchestration_name"), metadata.get("orchestration_version")
        if name is not None and version is not None:
            row = self.instances.setdefault(instance, {
                "current": execution_id, "parent": metadata.get("parent_instance_id"), "status": None, "status_version": 0})
            row["name"], row["version"] = name, version
        execution = self.executions.setdefault(key, {"status": "Running", "output": None, "pin": None})
        if metadata.get("pinned_duroxide_version") is not None:
            execution["pin"] = triple(metadata["pinned_duroxide_version"])
        if instance in self.instances:
            row = self.instances[instance]
            row["current"] = max(row["current"], execution_id)
        self.history.setdefault(key, {}).update(added)
        if metadata.get("status") is not None:
            execution["status"], execution["output"] = metadata["status"], metadata.get("output")
        self.materialise(instance, history_delta, metadata.get("status"))
        for item in worker_items:
            self.enqueue_work(item)
        cancelled = {(c["instance"], c["execution_id"], c["activity_id"]) for c in cancelled_activities}
        self.work = [row for row in self.work if row["identity"] not in cancelled]
        for item in orchestrator_items:
            self.enqueue(item, item["TimerFired"]["fire_at_ms"] if "TimerFired" in item else self.now)
        del self.locks[instance]

    def materialise(self, instance, events, status):
        """Custom status and key-value pairs are what the events of an ack say."""
        row = self.instances.get(instance)
        statuses = [e["status"] for e in events if e["type"] == "CustomStatusUpdated"]
        if row and statuses:
            row["status"] = statuses[-1]
            row["status_version"] += 1
        store, delta = self.kv_store.setdefault(instance, {}), self.kv_delta.setdefault(instance, {})
        for event in events:
            if event["type"] == "KeyValueSet":
                delta[event["key"]] = (event["value"], event.get("last_updated_at_ms", 0))
            elif event["type"] == "KeyValueCleared":
                delta[event["key"]] = (None, 0)
            elif event["type"] == "KeyValuesCleared":
                for key in set(store) | set(delta):
                    delta[key] = (None, 0)
        if status in TERMINAL:
            store.update(delta)
            for key in [k for k, (value, _) in store.items() if value is None]:
                del store[key]
            delta.clear()

    def abandon_orchestration_item(self, lock_token, delay_ms=0, ignore_attempt=False):
        instance = self.lock_of(lock_token)
        for message in self.messages:
            if message["mark"] == lock_token:
                message["mark"] = None
                if delay_ms:
                    message["visible"] = self.now + delay_ms
                if ignore_attempt:
                    message["count"] = max(0, message["count"] - 1)
                if self.bug == "attempt-count-lost":
                    message["count"] = 0
        del self.locks[instance]

    def renew_orchestration_item_lock(self, lock_token, extend_for_ms):
        self.locks[self.lock_of(lock_token)]["until"] = self.now + extend_for_ms

    def read(self, instance):
        return self.decoded(instance, self.latest(instance))

    def read_with_execution(self, instance, execution_id):
        return self.decoded(instance, execution_id)

    def append_with_execution(self, instance, execution_id, events):
        stored = self.history.setdefault((instance, execution_id), {})
        ids = [event["event_id"] for event in events]
        if 0 in ids or len(set(ids)) < len(ids) or any(i in stored for i in ids):
            raise Permanent("an event is there already")
        stored.update(zip(ids, events))

    # Activities

    def enqueue_for_worker(self, item):
        self.enqueue_work(item)

    def fetch_work_item(self, lock_timeout_ms, tag_filter, poll_timeout_ms=0, session=None):
        for row in self.work:
            if row["visible"] > self.now or row["token"] and row["until"] > self.now:
                continue
            if not self.takes(tag_filter, row["tag"]):
                continue
            if row["session"] is not None:
                owned = self.sessions.get(row["session"])
                if session is None or owned and owned["until"] > self.now and owned["owner"] != session["owner_id"]:
                    continue
                self.sessions[row["session"]] = {"owner": session["owner_id"], "active": self.now,
                                                 "until": self.now + session["lock_timeout_ms"]}
            row["token"], row["until"], row["count"] = self.token(), self.now + lock_timeout_ms, row["count"] + 1
            return {"item": row["item"], "lock_token": row["token"], "attempt_count": row["count"]}
        return None

    @staticmethod
    def takes(tag_filter, tag):
        if tag_filter == "Any":
            return True
        if tag_filter == "None":
            return False
        if tag_filter == "DefaultOnly":
            return tag is None
        (mode, tags), = tag_filter.items()
        return tag in tags or mode == "DefaultAnd" and tag is None

    def ack_work_item(self, lock_token, completion=None):
        row = self.work_of(lock_token)
        if completion is not None:
            if next(iter(completion)) not in ("ActivityCompleted", "ActivityFailed"):
                raise Permanent("not the completion of an activity")
            self.enqueue(completion, self.now)
        self.touch(row["session"])
        self.work.remove(row)

    def renew_work_item_lock(self, lock_token, extend_for_ms):
        row = self.work_of(lock_token)
        row["until"] = self.now + extend_for_ms
        self.touch(row["session"])

    def abandon_work_item(self, lock_token, delay_ms=0, ignore_attempt=False):
        row = self.work_of(lock_token)
        row["token"], row["until"], row["visible"] = None, 0, self.now + delay_ms
        if ignore_attempt:
            row["count"] = max(0, row["count"] - 1)

    def renew_session_lock(self, owner_ids, extend_for_ms, idle_timeout_ms):
        changed = 0
        for session in self.sessions.values():
            idle = session["active"] <= self.now - idle_timeout_ms
            if session["owner"] in owner_ids and session["until"] > self.now and not idle:
                session["until"] = self.now + extend_for_ms
                changed += 1
        return changed

    def cleanup_orphaned_sessions(self, idle_timeout_ms):
        busy = {row["session"] for row in self.work}
        gone = [s for s, row in self.sessions.items() if row["until"] < self.now and s not in busy]
        for session in gone:
            del self.sessions[session]
        return len(gone)

    # What clients read

    def get_custom_status(self, instance, last_seen_version):
        row = self.instances.get(instance)
        if row is None or row["status_version"] <= last_seen_version:
            return None
        return {"status": row["status"], "version": row["status_version"]}

    def get_kv_all_values(self, instance):
        merged = {**self.kv_store.get(instance, {}), **self.kv_delta.get(instance, {})}
        return {key: value for key, (value, _) in merged.items() if value is not None}

    def get_kv_value(self, instance, key):
        return self.get_kv_all_values(instance).get(key)

    def get_instance_stats(self, instance):
        row = self.instances.get(instance)
        if row is None:
            return None
        events = self.events(instance, row["current"])
        pending = 0
        if events and self.history[(instance, row["current"])].get(1, {}) is None:
            raise Permanent("event 1 cannot be decoded")
        for event in events:
            if event and event["event_id"] == 1 and event["type"] == "OrchestrationStarted":
                pending = len(event.get("carry_forward_events") or [])
        values = self.get_kv_all_values(instance)
        return {"history_event_count": len(events), "queue_pending_count": pending,
                "history_size_bytes": sum(len(json.dumps(e)) for e in events),
                "kv_user_key_count": len(values), "kv_total_value_bytes": sum(len(v.encode()) for v in values.values())}


CALLS = [
    "enqueue_for_orchestrator", "fetch_orchestration_item", "ack_orchestration_item", "abandon_orchestration_item",
    "renew_orchestration_item_lock", "read", "read_with_execution", "append_with_execution", "enqueue_for_worker",
    "fetch_work_item", "ack_work_item", "renew_work_item_lock", "abandon_work_item", "renew_session_lock",
    "cleanup_orphaned_sessions", "get_custom_status", "get_kv_value", "get_kv_all_values", "get_instance_stats",
]


class Server:
    """The calls that are about the store as a whole, and JSON-RPC: one request a line, one answer a line."""

    def __init__(self, bug, store):
        self.bug = bug
        self.store = store
        self.calls = 0
        self.provider = Provider(bug)
        if store and os.path.exists(store):
            with open(store, "rb") as file:
                self.provider = pickle.load(file)
            if bug == "locks-in-memory":
                self.provider.locks = {}

    def save(self):
        """Replaces the file as a whole: a kill leaves the state before a call or the one after it."""
        self.calls += 1
        if self.bug == "saved-in-pairs" and self.calls % 2:
            return
        with open(self.store + ".new", "wb") as file:
            pickle.dump(self.provider, file)
        os.replace(self.store + ".new", self.store)

    def describe(self):
        return {"protocol": 2, "name": "python-example", "version": "1.0.0", "admin": False, "virtual_clock": True,
                "corrupt_event": True, "durable": bool(self.store)}

    def reset(self):
        self.provider = Provider(self.bug)

    def clock_now(self):
        return self.provider.now

    def clock_set(self, now_ms):
        self.provider.now = now_ms
        return now_ms

    def clock_advance(self, by_ms):
        self.provider.now += by_ms
        return self.provider.now

    def corrupt_event(self, instance, execution_id, event_id):
        events = self.provider.history.get((instance, execution_id), {})
        if event_id not in events:
            raise Permanent("no such event")
        events[event_id] = None

    def handle(self, line):
        request_id = None
        try:
            request = json.loads(line)
            request_id = request["id"]
            name, params = request["method"], request.get("params") or {}
            if name in CALLS:
                result = getattr(self.provider, name)(**params)
            elif name in ("describe", "reset", "clock_now", "clock_set", "clock_advance", "corrupt_event"):
                result = getattr(self, name)(**params)
            else:
                return self.error(request_id, -32601, "no such method: %s" % name)
            if self.store:
                self.save()
        except Permanent as e:
            return self.error(request_id, 2, str(e))
        except json.JSONDecodeError as e:
            return self.error(None, -32700, str(e))
        except (KeyError, TypeError, ValueError) as e:
            return self.error(request_id, -32602, "%s: %s" % (type(e).__name__, e))
        return {"jsonrpc": "2.0", "id": request_id, "result": result}

    @staticmethod
    def error(request_id, code, message):
        return {"jsonrpc": "2.0", "id": request_id, "error": {"code": code, "message": message}}


def main():
    parser = argparse.ArgumentParser(description="A storage provider on standard input and output.")
    parser.add_argument("--bug", choices=BUGS)
    parser.add_argument("--store", metavar="FILE")
    options = parser.parse_args()
    server = Server(options.bug, options.store)
    for line in sys.stdin:
        if line.strip():
            print(json.dumps(server.handle(line)), flush=True)


if __name__ == "__main__":
    main()
