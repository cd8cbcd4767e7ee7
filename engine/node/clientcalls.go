package node

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/durosim/durosim/engine"
)

// Client is what a client does with a provider (contract/runtime.md section 9). It has no clock: its waits are polled by
// whoever has one. Every error is a *ClientError.
type Client struct{ Provider engine.Provider }

// ClientError is how a client call fails.
type ClientError struct {
	Kind ClientErrorKind
	Err  error // the provider's error, nil if it was never asked
}

// ClientErrorKind is why a client call failed.
type ClientErrorKind string

// Why client calls fail.
const (
	ClientProvider                     ClientErrorKind = "Provider"
	ClientManagementNotAvailable       ClientErrorKind = "ManagementNotAvailable"
	ClientInvalidInput                 ClientErrorKind = "InvalidInput"
	ClientTimeout                      ClientErrorKind = "Timeout"
	ClientInstanceStillRunning         ClientErrorKind = "InstanceStillRunning"
	ClientCannotDeleteSubOrchestration ClientErrorKind = "CannotDeleteSubOrchestration"
	ClientInstanceNotFound             ClientErrorKind = "InstanceNotFound"
)

// Error is the kind, with the provider's error if there is one.
func (e *ClientError) Error() string {
	if e.Err == nil {
		return string(e.Kind)
	}
	return string(e.Kind) + ": " + e.Err.Error()
}

// Unwrap returns the provider's error.
func (e *ClientError) Unwrap() error { return e.Err }

// Retryable says whether the same call may succeed later.
func (e *ClientError) Retryable() bool {
	return e.Kind == ClientTimeout || e.Kind == ClientProvider && engine.IsRetryable(e.Err)
}

func clientError(err error) error {
	if err == nil {
		return nil
	}
	return &ClientError{Kind: ClientProvider, Err: err}
}

// deletionError recognises the refusals of a deletion by their text, as the contract does.
func deletionError(err error) error {
	if err == nil {
		return nil
	}
	text, kind := strings.ToLower(err.Error()), ClientProvider
	switch {
	case strings.Contains(text, "not found"):
		kind = ClientInstanceNotFound
	case strings.Contains(text, "still running"):
		kind = ClientInstanceStillRunning
	case strings.Contains(text, "sub-orchestration"), strings.Contains(text, "delete the root"):
		kind = ClientCannotDeleteSubOrchestration
	}
	return &ClientError{Kind: kind, Err: err}
}

// Send enqueues what StartOrchestration, RaiseEvent, EnqueueEvent or CancelInstance has made, visible at once. No error
// means "enqueued" and no more.
func (c Client) Send(ctx context.Context, item engine.WorkItem) error {
	return clientError(c.Provider.EnqueueForOrchestrator(ctx, item, 0))
}

// GetOrchestrationStatus reads an instance's latest execution. A history that cannot be decoded is an error; a custom status
// that cannot be read is none.
func (c Client) GetOrchestrationStatus(ctx context.Context, instance string) (OrchestrationStatus, error) {
	history, err := c.Provider.Read(ctx, instance)
	if err != nil {
		return OrchestrationStatus{}, clientError(err)
	}
	custom, err := c.Provider.GetCustomStatus(ctx, instance, 0)
	if err != nil {
		custom = nil
	}
	return StatusFromHistory(history, custom), nil
}

// GetKVValue reads the live value of a key, nil if the instance has no such key.
func (c Client) GetKVValue(ctx context.Context, instance, key string) (*string, error) {
	value, err := c.Provider.GetKVValue(ctx, instance, key)
	return value, clientError(err)
}

// GetKVAllValues reads all live values, sorted by key.
func (c Client) GetKVAllValues(ctx context.Context, instance string) ([]engine.KVPair, error) {
	values, err := c.Provider.GetKVAllValues(ctx, instance)
	return values, clientError(err)
}

// Management is the provider's management surface, or the error that it has none.
func (c Client) Management() (engine.ProviderAdmin, error) {
	if admin := c.Provider.Admin(); admin != nil {
		return admin, nil
	}
	return nil, &ClientError{Kind: ClientManagementNotAvailable}
}

// DeleteInstance removes a root instance with its tree; a running one only by force.
func (c Client) DeleteInstance(ctx context.Context, instance string, force bool) (*engine.DeleteInstanceResult, error) {
	if instance == "" {
		return nil, &ClientError{Kind: ClientInvalidInput, Err: errors.New("expected an instance id")}
	}
	admin, err := c.Management()
	if err != nil {
		return nil, err
	}
	result, err := admin.DeleteInstance(ctx, instance, force)
	return result, deletionError(err)
}

// Waiting is a client that waits, in whatever time its driver has: Poll it now, and again after each pause that it names.
type Waiting[T any] struct {
	read    func(ctx context.Context) (T, bool, error)
	timeout time.Duration
	pause   time.Duration
	fixed   bool // the pause is the caller's interval
	begun   bool
	sinceMs int64
}

// WaitForOrchestration waits until an instance has Completed or Failed.
func (c Client) WaitForOrchestration(instance string, timeout time.Duration) *Waiting[OrchestrationStatus] {
	return c.waitStatus(instance, timeout, OrchestrationStatus.Ended)
}

// WaitForStatusChange waits until an instance's custom status is newer than seen, or the instance has ended, and looks
// every interval.
func (c Client) WaitForStatusChange(instance string, seen uint64, interval, timeout time.Duration) *Waiting[OrchestrationStatus] {
	w := c.waitStatus(instance, timeout, func(s OrchestrationStatus) bool { return s.Changed(seen) })
	w.pause, w.fixed = max(interval, time.Millisecond), true
	return w
}

// WaitForKVValue waits until an instance has a key.
func (c Client) WaitForKVValue(instance, key string, timeout time.Duration) *Waiting[string] {
	return &Waiting[string]{timeout: timeout, read: func(ctx context.Context) (string, bool, error) {
		value, err := c.GetKVValue(ctx, instance, key)
		if err != nil || value == nil {
			return "", false, err
		}
		return *value, true, nil
	}}
}

func (c Client) waitStatus(instance string, timeout time.Duration, done func(OrchestrationStatus) bool) *Waiting[OrchestrationStatus] {
	return &Waiting[OrchestrationStatus]{timeout: timeout, read: func(ctx context.Context) (OrchestrationStatus, bool, error) {
		s, err := c.GetOrchestrationStatus(ctx, instance)
		return s, err == nil && done(s), err
	}}
}

// Poll reads once, also when the timeout is 0. If again is positive, nothing is decided yet, and the next poll is due after
// it. A provider error ends the wait at once; when the time is over the error is a Timeout.
func (w *Waiting[T]) Poll(ctx context.Context, nowMs int64) (value T, again time.Duration, err error) {
	if !w.begun {
		w.begun, w.sinceMs = true, nowMs
	}
	value, done, err := w.read(ctx)
	if done || err != nil {
		return value, 0, err
	}
	left := w.timeout - time.Duration(nowMs-w.sinceMs)*time.Millisecond
	if left <= 0 {
		return value, 0, &ClientError{Kind: ClientTimeout}
	}
	if !w.fixed {
		w.pause = NextWaitPoll(w.pause)
	}
	return value, max(min(w.pause, left), time.Millisecond), nil
}

// EncodeTyped is a value as inputs, outputs and events carry it: JSON, but a string as it is.
func EncodeTyped(v any) (string, error) {
	if text, ok := v.(string); ok {
		return text, nil
	}
	data, err := json.Marshal(v)
	if err != nil {
		return "", fmt.Errorf("typed value: %w", err)
	}
	return string(data), nil
}

// DecodeTyped reads what EncodeTyped has written: JSON, or for a string the text itself if it is not.
func DecodeTyped[T any](text string) (T, error) {
	var value T
	err := json.Unmarshal([]byte(text), &value)
	if raw, ok := any(&value).(*string); ok && err != nil {
		*raw = text
		return value, nil
	}
	if err != nil {
		return value, fmt.Errorf("typed value: %w", err)
	}
	return value, nil
}
