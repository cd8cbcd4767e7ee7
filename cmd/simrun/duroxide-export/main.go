package main

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"strings"
	"time"

	_ "modernc.org/sqlite"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run exports the database named by the arguments and returns the exit status.
func run(args []string, stdout, stderr io.Writer) int {
	const usage = `usage: duroxide-export [--redact] [--without-wal] DATABASE > EXPORT.jsonl
Writes what an SQLite database of duroxide holds, as JSON lines for simrun plan.

  --redact       without inputs, outputs, results, errors, data of events, keys and statuses: what is left are
                 the ids of instances and sessions, the names, versions, tags and topics by which work is
                 routed, kinds, numbers and times
  --without-wal  even if the database is in WAL mode and its -wal is not there`
	flags := flag.NewFlagSet("duroxide-export", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	redact, withoutWAL := flags.Bool("redact", false, ""), flags.Bool("without-wal", false, "")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprintln(stdout, usage)
		return 0
	case err != nil:
		fmt.Fprintf(stderr, "duroxide-export: %v\n%s\n", err, usage)
		return 2
	case flags.NArg() != 1:
		fmt.Fprintln(stderr, usage)
		return 2
	}
	file := flags.Arg(0)
	out := bufio.NewWriter(stdout)
	skipped, err := export(context.Background(), file, *redact, *withoutWAL, out, stderr)
	if err == nil {
		err = out.Flush()
	}
	if err != nil {
		fmt.Fprintf(stderr, "duroxide-export: %s: %v\n", file, err)
		return 2
	}
	if skipped > 0 {
		return 1
	}
	return 0
}

// withoutLog reports whether a database is in WAL mode (bytes 18 and 19 of its header) but its -wal, which has what was
// written last, is not there, or empty: reading a file without one makes an empty one.
func withoutLog(file string) bool {
	f, err := os.Open(file)
	if err != nil {
		return false
	}
	defer f.Close()
	header := make([]byte, 20)
	if _, err := io.ReadFull(f, header); err != nil || header[18] != 2 && header[19] != 2 {
		return false
	}
	log, err := os.Stat(file + "-wal")
	return errors.Is(err, fs.ErrNotExist) || err == nil && log.Size() == 0
}

// export writes the database as JSON lines and returns the number of rows and tables that are missing from them.
func export(ctx context.Context, file string, redact, withoutWAL bool, out, complain io.Writer) (skipped int, err error) {
	switch info, err := os.Stat(file); {
	case err != nil:
		return 0, err
	case info.IsDir():
		return 0, errors.New("a directory: expected a database file")
	}
	const noLog, remedy = "the file is in WAL mode and its -wal is not beside it, or empty: ", "copy that, too, or checkpoint first (PRAGMA wal_checkpoint)"
	cut := withoutLog(file)
	if cut && !withoutWAL {
		return 0, fmt.Errorf("%swhat was written last may be missing; %s; or, if every program had closed the database before it was copied, say --without-wal", noLog, remedy)
	}
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Opaque: url.PathEscape(file), RawQuery: "mode=ro&_pragma=busy_timeout(5000)"}).String())
	if err != nil {
		return 0, err
	}
	defer db.Close()
	tx, err := db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return 0, err
	}
	defer tx.Rollback()
	e := &exporter{tx: tx, out: out, complain: complain, redact: redact}
	if err := e.all(time.Now()); err != nil {
		if cut && errors.Is(err, errNoHistory) {
			return 0, fmt.Errorf("%w; %s%s", err, noLog, remedy)
		}
		if strings.Contains(err.Error(), "malformed") {
			err = fmt.Errorf("%w: is the file whole?", err)
		}
		return 0, err
	}
	if cut {
		fmt.Fprintf(complain, "duroxide-export: %s: %sif it is a copy of a database in use, what was written last is missing; %s\n", file, noLog, remedy)
	}
	if e.skipped > 0 {
		fmt.Fprintf(complain, "duroxide-export: %d rows are left out\n", e.skipped)
	}
	return e.skipped + len(e.missing), nil
}
