#!/usr/bin/env python3
"""A provider on its first day: a queue of activities with locks, three methods. It gets a verdict on these.

    simrun oracle -- python3 first_day.py
    simrun conformance --run 'AT-|TG-|#sessions' -- python3 first_day.py

provider.py is the whole of it. With --bug forever locks do not run out.
"""

import json
import sys

METHODS = ["enqueue_for_worker", "fetch_work_item", "ack_work_item"]


class Permanent(Exception):
    """The call changed nothing, and would fail again."""


class Queue:
    def __init__(self):
        self.now, self.tokens, self.rows, self.sessions = 1_000_000, 0, [], {}

    def enqueue_for_worker(self, item):
        if "ActivityExecute" not in item:
            raise Permanent("no activity")
        self.rows.append({"item": item, "attempts": 0, "token": None, "until": 0})

    def fetch_work_item(self, lock_timeout_ms, tag_filter, session=None, poll_timeout_ms=0):
        for row in self.rows:
            activity = row["item"]["ActivityExecute"]
            wanted = activity.get("session_id")
            if row["until"] > self.now or not takes(tag_filter, activity.get("tag")):
                continue
            if wanted is not None:
                owner, until = self.sessions.get(wanted, (None, 0))
                if session is None or until > self.now and owner != session["owner_id"]:
                    continue
                self.sessions[wanted] = session["owner_id"], self.now + session["lock_timeout_ms"]
            self.tokens += 1
            row.update(attempts=row["attempts"] + 1, token="t%d" % self.tokens,
                       until=float("inf") if FOREVER else self.now + lock_timeout_ms)
            return {"item": row["item"], "lock_token": row["token"], "attempt_count": row["attempts"]}
        return None

    def ack_work_item(self, lock_token, completion=None):
        if completion is not None and not {"ActivityCompleted", "ActivityFailed"} & completion.keys():
            raise Permanent("no completion")
        for row in self.rows:
            if row["token"] == lock_token and row["until"] > self.now:
                self.rows.remove(row)  # the completion has no queue to go to yet
                return
        raise Permanent("the token is of no lock")


def takes(tag_filter, tag):
    if isinstance(tag_filter, str):
        return {"Any": True, "DefaultOnly": tag is None, "None": False}[tag_filter]
    (kind, tags), = tag_filter.items()
    return tag in tags or kind == "DefaultAnd" and tag is None


def answer(method, params):
    global queue
    if method == "describe":
        return {"protocol": 1, "name": "queue", "version": "0", "methods": METHODS, "admin": False,
                "virtual_clock": True, "corrupt_event": False}
    if method == "reset":
        queue = Queue()
    elif method == "clock_set":
        queue.now = params["now_ms"]
    elif method == "clock_advance":
        queue.now += params["by_ms"]
    elif method in METHODS:
        return getattr(queue, method)(**params)
    return queue.now if method.startswith("clock_") else None


FOREVER = sys.argv[1:] == ["--bug", "forever"]
queue = Queue()
for line in sys.stdin:
    request = json.loads(line)
    said = {"jsonrpc": "2.0", "id": request["id"]}
    try:
        said["result"] = answer(request["method"], request.get("params") or {})
    except Permanent as error:
        said["error"] = {"code": 2, "message": str(error)}
    print(json.dumps(said), flush=True)
