package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"strings"
	"time"

	"database/sql"

	_ "modernc.org/sqlite"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run exports the database named by the arguments and returns the exit status.
func run(args []string, stdout, stderr io.Writer) int {
	if len(args) != 1 || args[0] == "-h" || args[0] == "--help" {
		fmt.Fprintln(stderr, "usage: duroxide-export DATABASE > EXPORT.jsonl\nWrites what an SQLite database of duroxide holds, as JSON lines for simrun plan.")
		return 2
	}
	out := bufio.NewWriter(stdout)
	skipped, err := export(context.Background(), args[0], out, stderr)
	if err == nil {
		err = out.Flush()
	}
	if err != nil {
		fmt.Fprintf(stderr, "duroxide-export: %s: %v\n", args[0], err)
		return 2
	}
	if skipped > 0 {
		fmt.Fprintf(stderr, "duroxide-export: %d rows are left out\n", skipped)
		return 1
	}
	return 0
}

// export writes the database as JSON lines and returns the number of rows skipped.
func export(ctx context.Context, file string, out, complain io.Writer) (skipped int, err error) {
	switch info, err := os.Stat(file); {
	case err != nil:
		return 0, err
	case info.IsDir():
		return 0, errors.New("a directory: expected a database file")
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
	e := &exporter{tx: tx, out: out, complain: complain}
	if err := e.all(time.Now()); err != nil {
		if strings.Contains(err.Error(), "malformed") {
			err = fmt.Errorf("%w: is the file whole?", err)
		}
		return 0, err
	}
	return e.skipped, nil
}
