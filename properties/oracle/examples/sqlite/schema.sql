-- The tables of docs/contract/provider.md#p3.1. Times are integers in milliseconds, everywhere.

CREATE TABLE IF NOT EXISTS instances (
    instance_id           TEXT PRIMARY KEY,
    orchestration_name    TEXT NOT NULL,
    orchestration_version TEXT,
    current_execution_id  INTEGER NOT NULL DEFAULT 1,
    parent_instance_id    TEXT,
    -- With them a corrupted child can tell its parent; the reference has the instance only.
    parent_execution_id   INTEGER NOT NULL DEFAULT 0,
    parent_event_id       INTEGER NOT NULL DEFAULT 0,
    custom_status         TEXT,
    custom_status_version INTEGER NOT NULL DEFAULT 0,
    created_at            INTEGER NOT NULL,
    updated_at            INTEGER NOT NULL
);
CREATE INDEX IF NOT EXISTS instances_by_parent ON instances (parent_instance_id);

CREATE TABLE IF NOT EXISTS executions (
    instance_id  TEXT NOT NULL,
    execution_id INTEGER NOT NULL,
    status       TEXT NOT NULL DEFAULT 'Running',
    output       TEXT,
    started_at   INTEGER NOT NULL,
    completed_at INTEGER,
    -- The pin, all three or none.
    pin_major    INTEGER,
    pin_minor    INTEGER,
    pin_patch    INTEGER,
    PRIMARY KEY (instance_id, execution_id)
);

CREATE TABLE IF NOT EXISTS history (
    instance_id  TEXT NOT NULL,
    execution_id INTEGER NOT NULL,
    event_id     INTEGER NOT NULL CHECK (event_id > 0),
    event_type   TEXT NOT NULL,
    event_data   BLOB NOT NULL,
    created_at   INTEGER NOT NULL,
    PRIMARY KEY (instance_id, execution_id, event_id)
);

CREATE TABLE IF NOT EXISTS orchestrator_queue (
    id            INTEGER PRIMARY KEY AUTOINCREMENT,
    instance_id   TEXT NOT NULL,
    kind          TEXT NOT NULL,
    work_item     BLOB NOT NULL,
    visible_at    INTEGER NOT NULL,
    lock_token    TEXT, -- the fetch that took it last
    attempt_count INTEGER NOT NULL DEFAULT 0 CHECK (attempt_count >= 0)
);
CREATE INDEX IF NOT EXISTS orchestrator_queue_by_instance ON orchestrator_queue (instance_id, visible_at);

-- This row, not the marks in the queue, is the lock.
CREATE TABLE IF NOT EXISTS instance_locks (
    instance_id  TEXT PRIMARY KEY,
    lock_token   TEXT NOT NULL UNIQUE,
    locked_until INTEGER NOT NULL,
    locked_at    INTEGER NOT NULL
);

CREATE TABLE IF NOT EXISTS worker_queue (
    id            INTEGER PRIMARY KEY AUTOINCREMENT,
    work_item     BLOB NOT NULL,
    visible_at    INTEGER NOT NULL,
    lock_token    TEXT UNIQUE,
    locked_until  INTEGER,
    attempt_count INTEGER NOT NULL DEFAULT 0 CHECK (attempt_count >= 0),
    -- What an ack's cancelled activities name.
    instance_id   TEXT,
    execution_id  INTEGER,
    activity_id   INTEGER,
    session_id    TEXT,
    tag           TEXT
);
CREATE INDEX IF NOT EXISTS worker_queue_by_identity ON worker_queue (instance_id, execution_id, activity_id);
CREATE INDEX IF NOT EXISTS worker_queue_by_session ON worker_queue (session_id);

CREATE TABLE IF NOT EXISTS sessions (
    session_id       TEXT PRIMARY KEY,
    worker_id        TEXT NOT NULL,
    locked_until     INTEGER NOT NULL,
    last_activity_at INTEGER NOT NULL
);

-- The state at the last boundary of an execution.
CREATE TABLE IF NOT EXISTS kv_store (
    instance_id        TEXT NOT NULL,
    key                TEXT NOT NULL,
    value              TEXT NOT NULL,
    last_updated_at_ms INTEGER NOT NULL,
    PRIMARY KEY (instance_id, key)
);

-- What changed since; a value of NULL is a tombstone.
CREATE TABLE IF NOT EXISTS kv_delta (
    instance_id        TEXT NOT NULL,
    key                TEXT NOT NULL,
    value              TEXT,
    last_updated_at_ms INTEGER NOT NULL,
    PRIMARY KEY (instance_id, key)
);
