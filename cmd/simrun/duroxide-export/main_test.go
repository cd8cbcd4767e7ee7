package main

import (
	"bytes"
	"compress/gzip"
	"database/sql"
	"flag"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite testdata/orders.jsonl")

var takenAt = regexp.MustCompile(`"taken_at_ms":\d+`)

// TestExport exports orders.db, which was written by two releases of duroxide, one after the other (testdata/writer).
func TestExport(t *testing.T) {
	before := database(t)
	file := filepath.Join(t.TempDir(), "orders of today.db")
	if err := os.WriteFile(file, before, 0o444); err != nil {
		t.Fatal(err)
	}
	var out, complaints bytes.Buffer
	if status := run([]string{file}, &out, &complaints); status != 0 || complaints.Len() > 0 {
		t.Fatalf("status %d: %s", status, &complaints)
	}
	got := takenAt.ReplaceAllString(out.String(), `"taken_at_ms":1795328028000`)
	const golden = "testdata/orders.jsonl"
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want := must(os.ReadFile(golden))(t)
	if got != string(want) {
		t.Errorf("the export differs from %s; go test -update rewrites it", golden)
	}
	if after, err := os.ReadFile(file); err != nil || !bytes.Equal(after, before) {
		t.Errorf("the database has changed (%v)", err)
	}
}

// TestBadRows checks that invalid rows are reported and everything else is written.
func TestBadRows(t *testing.T) {
	file := orders(t)
	change(t, file, `UPDATE history SET event_data = 'no JSON' WHERE instance_id = 'order-2' AND event_id = 3`)
	change(t, file, `UPDATE worker_queue SET work_item = '{' WHERE instance_id = 'render-1'`)
	var out, complaints bytes.Buffer
	status := run([]string{file}, &out, &complaints)
	want := must(os.ReadFile("testdata/orders.jsonl"))(t)
	if lines := strings.Count(string(want), "\n"); status != 1 || strings.Count(out.String(), "\n") != lines-1 {
		t.Errorf("status %d, %d lines; want 1, and one line less than %d", status, strings.Count(out.String(), "\n"), lines)
	}
	if !strings.Contains(out.String(), `"event_data":"no JSON"`) {
		t.Error("what is stored as an event is not written as it is")
	}
	if !regexp.MustCompile(`^duroxide-export: worker_queue, id \d+: work_item is not JSON\n.*1 rows are left out\n$`).MatchString(complaints.String()) {
		t.Errorf("complaints: %s", &complaints)
	}
}

func TestNoDatabase(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "empty.db")
	change(t, empty, `CREATE TABLE other (id INTEGER)`)
	text := filepath.Join(t.TempDir(), "text.db")
	if err := os.WriteFile(text, []byte(strings.Repeat("no database ", 100)), 0o644); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{
		empty:                                    `it has no table "history": expected a database of duroxide`,
		text:                                     "file is not a database",
		t.TempDir():                              "a directory: expected a database file",
		filepath.Join(t.TempDir(), "missing.db"): "no such file",
	} {
		var out, complaints bytes.Buffer
		if status := run([]string{file}, &out, &complaints); status != 2 || !strings.Contains(complaints.String(), want) || out.Len() > 0 {
			t.Errorf("status %d, output %q, complaints %q; want 2, nothing, %q", status, &out, &complaints, want)
		}
	}
	if status := run(nil, &bytes.Buffer{}, &bytes.Buffer{}); status != 2 {
		t.Errorf("without arguments: status %d", status)
	}
}

// TestWithoutItsLog copies a database in WAL mode without the -wal that has what was written last. Only the header of
// the copy shows that.
func TestWithoutItsLog(t *testing.T) {
	live := orders(t)
	empty := filepath.Join(t.TempDir(), "empty.db")
	const refused = "the file is in WAL mode and its -wal is not beside it, or empty: what was written last may be missing; copy that, too, or checkpoint first (PRAGMA wal_checkpoint); or, if"
	for _, c := range []struct {
		file, statement, flag string
		status                int
		want                  string
	}{
		{empty, `CREATE TABLE history (id INTEGER)`, "", 2, refused},
		{empty, `DELETE FROM history`, "--without-wal", 2, `it has no table "history": expected a database of duroxide; the file is in WAL mode`},
		{live, `DELETE FROM worker_queue`, "", 2, refused},
		{live, `DELETE FROM worker_queue`, "--without-wal", 0, "if it is a copy of a database in use, what was written last is missing; copy that, too, or checkpoint first"},
	} {
		db := must(sql.Open("sqlite", c.file))(t)
		defer db.Close()
		for _, statement := range []string{`PRAGMA journal_mode = WAL`, c.statement} {
			must(db.Exec(statement))(t)
		}
		copied := copyOf(t, c.file)
		for range 2 { // the first try must not leave a -wal that silences the second
			var out, complaints bytes.Buffer
			args := []string{copied}
			if c.flag != "" {
				args = []string{c.flag, copied}
			}
			if status := run(args, &out, &complaints); status != c.status || !strings.Contains(complaints.String(), c.want) {
				t.Errorf("status %d, complaints %q; want %d, %q", status, &complaints, c.status, c.want)
			}
		}
		var out, complaints bytes.Buffer
		if run([]string{c.file}, &out, &complaints); strings.Contains(complaints.String(), "WAL") {
			t.Errorf("with its -wal: %s", &complaints)
		}
	}
}

// TestRedacted checks that a redacted export has no text that orchestrations process, and is else the same.
func TestRedacted(t *testing.T) {
	var plain, out, complaints bytes.Buffer
	file := orders(t)
	if run([]string{file}, &plain, &complaints) != 0 || run([]string{"--redact", file}, &out, &complaints) != 0 {
		t.Fatal(complaints.String())
	}
	for _, text := range []string{`"input":"order-1"`, `"waits for approval"`, `"reserving"`, `"reserved"`, `"enough"`, `"yes"`, `"two"`} {
		if !strings.Contains(plain.String(), text) || strings.Contains(out.String(), text) {
			t.Errorf("%s: in the export %v, in the redacted one %v", text, strings.Contains(plain.String(), text), strings.Contains(out.String(), text))
		}
	}
	if a, b := strings.Count(plain.String(), "\n"), strings.Count(out.String(), "\n"); a != b {
		t.Errorf("%d lines, and %d redacted", a, b)
	}
}

// TestMissingTables checks that a table that is not there is named, and that the export says so, too.
func TestMissingTables(t *testing.T) {
	file := orders(t)
	change(t, file, `DROP TABLE executions`)
	change(t, file, `DROP TABLE worker_queue`)
	var out, complaints bytes.Buffer
	if status := run([]string{file}, &out, &complaints); status != 1 {
		t.Errorf("status %d, want 1", status)
	}
	if want := "duroxide-export: it has no table \"executions\": the export is incomplete\nduroxide-export: it has no table \"worker_queue\": the export is incomplete\n"; complaints.String() != want {
		t.Errorf("complaints %q, want %q", &complaints, want)
	}
	if end := `"missing":["executions","worker_queue"],"table":"end"}`; !strings.Contains(out.String(), end) {
		t.Errorf("the export does not end with %s", end)
	}
}

func TestHelp(t *testing.T) {
	var out, complaints bytes.Buffer
	if status := run([]string{"--help"}, &out, &complaints); status != 0 || complaints.Len() > 0 || !strings.HasPrefix(out.String(), "usage: duroxide-export [--redact]") {
		t.Errorf("status %d, output %q, complaints %q", status, &out, &complaints)
	}
}

// must returns what a call has returned. An error ends the test.
func must[T any](v T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func database(t *testing.T) []byte {
	t.Helper()
	packed := must(os.Open("testdata/orders.db.gz"))(t)
	defer packed.Close()
	unpacked := must(gzip.NewReader(packed))(t)
	return must(io.ReadAll(unpacked))(t)
}

func orders(t *testing.T) string {
	t.Helper()
	return write(t, database(t))
}

func copyOf(t *testing.T, name string) string {
	t.Helper()
	return write(t, must(os.ReadFile(name))(t))
}

func write(t *testing.T, data []byte) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "copy.db")
	if err := os.WriteFile(file, data, 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

func change(t *testing.T, file, statement string) {
	t.Helper()
	db := must(sql.Open("sqlite", file))(t)
	defer db.Close()
	must(db.Exec(statement))(t)
}
