package sqlite

import (
	"context"
	"crypto/rand"
	"database/sql"
	_ "embed"
	"errors"
	"fmt"
	"math"
	"net/url"
	"time"

	_ "modernc.org/sqlite" // the "sqlite" driver

	"github.com/durosim/durosim/engine"
)

//go:embed schema.sql
var schema string

// Provider implements engine.Provider and engine.ProviderAdmin. It is safe for concurrent use, and several processes
// may open the same file.
type Provider struct {
	db    *sql.DB
	codec engine.Codec
	now   func() int64
	// failing is for tests. The next ack of an orchestration fails before this step, modulo the number of steps. -1
	// means that it does not fail.
	failing int
}

var (
	_ engine.Provider      = (*Provider)(nil)
	_ engine.ProviderAdmin = (*Provider)(nil)
)

// Open opens the database in a file, creating it if it does not exist. The codec determines what this node can decode.
// now returns the time in milliseconds, which must never go back; if now is nil, the wall clock is used.
func Open(ctx context.Context, file string, codec engine.Codec, now func() int64) (*Provider, error) {
	if now == nil {
		now = func() int64 { return time.Now().UnixMilli() }
	}
	options := url.Values{
		"_txlock": {"immediate"}, // every transaction may write, so no lock is ever upgraded, and transactions cannot deadlock
		"_pragma": {"busy_timeout(5000)", "journal_mode(WAL)", "synchronous(NORMAL)"},
	}
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Opaque: url.PathEscape(file), RawQuery: options.Encode()}).String())
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", file, err)
	}
	p := &Provider{db: db, codec: codec, now: now, failing: -1}
	if err := p.transact(ctx, "open", func(t *tx) error { return t.change(schema) }); err != nil {
		return nil, fmt.Errorf("open %s: %w", file, errors.Join(err, db.Close()))
	}
	return p, nil
}

// Close closes the database.
func (p *Provider) Close() error { return p.db.Close() }

// Name returns "sqlite-example".
func (p *Provider) Name() string { return "sqlite-example" }

// Version returns the schema's version.
func (p *Provider) Version() string { return "1.0.0" }

// Admin returns p.
func (p *Provider) Admin() engine.ProviderAdmin { return p }

// tx is a transaction, with the time at which it began. The call takes effect at that instant, because a transaction
// that may write excludes all others.
type tx struct {
	*sql.Tx
	ctx   context.Context
	codec engine.Codec
	now   int64
	store *Provider
}

// transact runs a call in a transaction. Any error rolls everything back. An error that is not a provider error comes
// from the storage and is retryable.
func (p *Provider) transact(ctx context.Context, op string, call func(t *tx) error) error {
	err := func() error {
		raw, err := p.db.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		t := &tx{Tx: raw, ctx: ctx, codec: p.codec, now: p.now(), store: p}
		if err := call(t); err != nil {
			return errors.Join(err, raw.Rollback())
		}
		return raw.Commit()
	}()
	var known *engine.ProviderError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &known):
		return known
	}
	return engine.Retryablef(op, "%w", err)
}

// result runs a call with a result in a transaction. If the call fails, there is none.
func result[T any](ctx context.Context, p *Provider, op string, call func(t *tx) (T, error)) (v T, err error) {
	err = p.transact(ctx, op, func(t *tx) (err error) {
		v, err = call(t)
		return err
	})
	if err != nil {
		var none T
		return none, err
	}
	return v, nil
}

// exec runs a statement and returns how many rows it changed.
func (t *tx) exec(query string, args ...any) (int64, error) {
	result, err := t.ExecContext(t.ctx, query, args...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// change is like exec, but does not return how many rows have changed.
func (t *tx) change(query string, args ...any) error {
	_, err := t.exec(query, args...)
	return err
}

// one scans the only row of a query's result. found is false if there is no row.
func (t *tx) one(query string, args []any, into ...any) (found bool, err error) {
	err = t.QueryRowContext(t.ctx, query, args...).Scan(into...)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, err
}

// many scans every row of a query's result, and column the only value of each row.
func many[T any](t *tx, query string, args []any, scan func(rows *sql.Rows, into *T) error) ([]T, error) {
	rows, err := t.QueryContext(t.ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []T
	for rows.Next() {
		var v T
		if err := scan(rows, &v); err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	return all, rows.Err()
}

func column[T any](t *tx, query string, args ...any) ([]T, error) {
	return many(t, query, args, func(rows *sql.Rows, into *T) error { return rows.Scan(into) })
}

// after returns the time d from now. It does not overflow.
func (t *tx) after(d time.Duration) int64 {
	ms := max(d.Milliseconds(), 0)
	if d%time.Millisecond > 0 {
		ms++
	}
	if t.now > math.MaxInt64-ms {
		return math.MaxInt64
	}
	return t.now + ms
}

// newToken returns a token that is never used again.
func newToken() string { return rand.Text() }

func invalidToken(op, token string) error {
	return engine.Permanentf(op, "Invalid lock token %q", token)
}
