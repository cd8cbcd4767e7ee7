package main

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"
)

// exporter exports one database.
type exporter struct {
	tx       *sql.Tx
	out      io.Writer
	complain io.Writer
	redact   bool
	skipped  int
	missing  []string // tables
	lines    int
}

// row maps column names to values of type nil, int64, float64, string or []byte.
type row map[string]any

var errNoHistory = errors.New("it has no table \"history\": expected a database of duroxide")

// all writes every table that simrun plan reads.
func (e *exporter) all(now time.Time) error {
	have, err := e.columns("history")
	if err != nil {
		return err
	}
	if len(have) == 0 {
		return errNoHistory
	}
	if err := e.write(map[string]any{"table": "store", "taken_at_ms": now.UnixMilli(), "has_end": true}); err != nil {
		return err
	}
	for _, t := range tables {
		if err := e.each(t); err != nil {
			return err
		}
	}
	end := map[string]any{"table": "end", "lines": e.lines}
	if len(e.missing) > 0 {
		end["missing"] = e.missing
	}
	return e.write(end)
}

// table is a table that simrun plan reads: its rows come in that order, a message names a row by key, and line returns the
// line for a row, or why there is none.
type table struct {
	name, order, key string
	line             func(r row) (map[string]any, error)
}

var tables = []table{
	{"instances", "instance_id", "instance_id", func(r row) (map[string]any, error) {
		return map[string]any{
			"instance_id": r["instance_id"], "orchestration_name": r["orchestration_name"], "orchestration_version": r["orchestration_version"],
			"current_execution_id": r["current_execution_id"], "parent_instance_id": r["parent_instance_id"],
		}, nil
	}},
	{"executions", "instance_id, execution_id", "instance_id", func(r row) (map[string]any, error) {
		line := map[string]any{"instance_id": r["instance_id"], "execution_id": r["execution_id"], "status": r["status"], "output": r["output"]}
		if major, ok := r["duroxide_version_major"].(int64); ok {
			minor, _ := r["duroxide_version_minor"].(int64)
			patch, _ := r["duroxide_version_patch"].(int64)
			line["pinned_version"] = fmt.Sprintf("%d.%d.%d", major, minor, patch)
		}
		return line, nil
	}},
	{"history", "instance_id, execution_id, event_id", "instance_id", func(r row) (map[string]any, error) {
		line := map[string]any{"instance_id": r["instance_id"], "execution_id": r["execution_id"], "event_id": r["event_id"]}
		data, _ := r["event_data"].(string)
		line["event_data"] = data // as stored; what is not valid JSON, as a string
		if json.Valid([]byte(data)) {
			line["event_data"] = json.RawMessage(data)
		}
		return line, nil
	}},
	{"orchestrator_queue", "id", "id", message},
	{"worker_queue", "id", "id", message},
}

func message(r row) (map[string]any, error) {
	data, _ := r["work_item"].(string)
	if !json.Valid([]byte(data)) {
		return nil, errors.New("work_item is not JSON")
	}
	visible, _ := r["visible_at"].(int64)
	attempts, _ := r["attempt_count"].(int64)
	return map[string]any{"work_item": json.RawMessage(data), "visible_at_ms": visible, "attempt_count": attempts}, nil
}

// each writes the rows of a table. It skips the rows for which there is no line.
func (e *exporter) each(t table) error {
	return e.rows(t.name, t.order, func(r row) error {
		l, err := t.line(r)
		if err != nil {
			e.skipped++
			fmt.Fprintf(e.complain, "duroxide-export: %s, %s %v: %v\n", t.name, t.key, r[t.key], err)
			return nil
		}
		l["table"] = t.name
		return e.write(l)
	})
}

// rows calls do with each row of a table, sorted by order. If the table does not exist, it says so.
func (e *exporter) rows(table, order string, do func(r row) error) error {
	names, err := e.columns(table)
	if err != nil {
		return err
	}
	if len(names) == 0 {
		e.missing = append(e.missing, table)
		fmt.Fprintf(e.complain, "duroxide-export: it has no table %q: the export is incomplete\n", table)
		return nil
	}
	result, err := e.tx.Query(`SELECT * FROM ` + table + ` ORDER BY ` + order)
	if err != nil {
		return fmt.Errorf("%s: %w", table, err)
	}
	defer result.Close()
	columns, err := result.Columns()
	if err != nil {
		return err
	}
	values := make([]any, len(columns))
	targets := make([]any, len(columns))
	for i := range values {
		targets[i] = &values[i]
	}
	for result.Next() {
		if err := result.Scan(targets...); err != nil {
			return fmt.Errorf("%s: %w", table, err)
		}
		r := row{}
		for i, c := range columns {
			if raw, ok := values[i].([]byte); ok {
				values[i] = string(raw)
			}
			if at, ok := values[i].(time.Time); ok {
				values[i] = at.UnixMilli()
			}
			r[c] = values[i]
		}
		if err := do(r); err != nil {
			return err
		}
	}
	return result.Err()
}

// columns returns the column names of a table, or none if the table does not exist.
func (e *exporter) columns(table string) ([]string, error) {
	result, err := e.tx.Query(`SELECT name FROM pragma_table_info(?)`, table)
	if err != nil {
		return nil, err
	}
	defer result.Close()
	var names []string
	for result.Next() {
		var name string
		if err := result.Scan(&name); err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	return names, result.Err()
}

func (e *exporter) write(line map[string]any) error {
	if e.redact {
		if err := redact(line); err != nil {
			return err
		}
	}
	data, err := json.Marshal(line)
	if err != nil {
		return err
	}
	e.lines++
	_, err = fmt.Fprintf(e.out, "%s\n", data)
	return err
}
