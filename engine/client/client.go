package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/durosim/durosim/engine"
)

// Client makes client calls on a provider. Every error returned by its methods is an *Error.
type Client struct{ Provider engine.Provider }

// Error reports a failed client call.
type Error struct {
	Kind ErrorKind
	Err  error // the provider's error, or nil if the provider was not called
}

// ErrorKind classifies the reason for a failed client call.
type ErrorKind string

// The kinds of errors.
const (
	ErrProvider                     ErrorKind = "Provider"
	ErrManagementNotAvailable       ErrorKind = "ManagementNotAvailable"
	ErrInvalidInput                 ErrorKind = "InvalidInput"
	ErrTimeout                      ErrorKind = "Timeout"
	ErrInstanceStillRunning         ErrorKind = "InstanceStillRunning"
	ErrCannotDeleteSubOrchestration ErrorKind = "CannotDeleteSubOrchestration"
	ErrInstanceNotFound             ErrorKind = "InstanceNotFound"
)

// Error returns the kind, followed by the underlying error, if any.
func (e *Error) Error() string {
	if e.Err == nil {
		return string(e.Kind)
	}
	return string(e.Kind) + ": " + e.Err.Error()
}

// Unwrap returns the underlying error.
func (e *Error) Unwrap() error { return e.Err }

// Retryable reports whether the same call may succeed if repeated.
func (e *Error) Retryable() bool {
	return e.Kind == ErrTimeout || e.Kind == ErrProvider && engine.IsRetryable(e.Err)
}

func providerError(err error) error {
	if err == nil {
		return nil
	}
	return &Error{Kind: ErrProvider, Err: err}
}

// deletionError classifies a rejected deletion by the error's text, as the contract does.
func deletionError(err error) error {
	if err == nil {
		return nil
	}
	text, kind := strings.ToLower(err.Error()), ErrProvider
	switch {
	case strings.Contains(text, "not found"):
		kind = ErrInstanceNotFound
	case strings.Contains(text, "still running"):
		kind = ErrInstanceStillRunning
	case strings.Contains(text, "sub-orchestration"), strings.Contains(text, "delete the root"):
		kind = ErrCannotDeleteSubOrchestration
	}
	return &Error{Kind: kind, Err: err}
}

// Send enqueues a message built by StartOrchestration, RaiseEvent, EnqueueEvent or CancelInstance. The message is
// visible immediately. A nil error means only that the message has been enqueued.
func (c Client) Send(ctx context.Context, item engine.WorkItem) error {
	return providerError(c.Provider.EnqueueForOrchestrator(ctx, item, 0))
}

// GetOrchestrationStatus reads the status of an instance's latest execution. It fails if the history cannot be decoded.
// An unreadable custom status counts as absent.
func (c Client) GetOrchestrationStatus(ctx context.Context, instance string) (Status, error) {
	history, err := c.Provider.Read(ctx, instance)
	if err != nil {
		return Status{}, providerError(err)
	}
	custom, err := c.Provider.GetCustomStatus(ctx, instance, 0)
	if err != nil {
		custom = nil
	}
	return statusFromHistory(history, custom), nil
}

// GetKVValue reads a key's current value. It returns nil if the instance has no such key.
func (c Client) GetKVValue(ctx context.Context, instance, key string) (*string, error) {
	value, err := c.Provider.GetKVValue(ctx, instance, key)
	return value, providerError(err)
}

// GetKVAllValues reads all current keys and values, sorted by key.
func (c Client) GetKVAllValues(ctx context.Context, instance string) ([]engine.KVPair, error) {
	values, err := c.Provider.GetKVAllValues(ctx, instance)
	return values, providerError(err)
}

// Management returns the provider's management methods. It fails with ErrManagementNotAvailable if there are none.
func (c Client) Management() (engine.ProviderAdmin, error) {
	if admin := c.Provider.Admin(); admin != nil {
		return admin, nil
	}
	return nil, &Error{Kind: ErrManagementNotAvailable}
}

// DeleteInstance deletes a root instance and its descendants. It deletes a running instance only if force is set.
func (c Client) DeleteInstance(ctx context.Context, instance string, force bool) (*engine.DeleteInstanceResult, error) {
	if instance == "" {
		return nil, &Error{Kind: ErrInvalidInput, Err: errors.New("expected an instance id")}
	}
	admin, err := c.Management()
	if err != nil {
		return nil, err
	}
	result, err := admin.DeleteInstance(ctx, instance, force)
	return result, deletionError(err)
}

// Waiting represents a client's wait for a condition. Call Poll once, and again after each pause that it returns.
type Waiting[T any] struct {
	read    func(ctx context.Context) (T, bool, error)
	timeout time.Duration
	pause   time.Duration
	fixed   bool // the caller chose the interval, stored in pause
	begun   bool
	sinceMs int64
}

// WaitForOrchestration waits until an instance has Completed or Failed.
func (c Client) WaitForOrchestration(instance string, timeout time.Duration) *Waiting[Status] {
	return c.waitStatus(instance, timeout, Status.Ended)
}

// WaitForStatusChange waits until an instance has ended or has a custom status version greater than seen. It polls once
// per interval.
func (c Client) WaitForStatusChange(instance string, seen uint64, interval, timeout time.Duration) *Waiting[Status] {
	w := c.waitStatus(instance, timeout, func(s Status) bool { return s.changed(seen) })
	w.pause, w.fixed = max(interval, time.Millisecond), true
	return w
}

// WaitForKVValue waits until an instance has a key, and returns the key's value.
func (c Client) WaitForKVValue(instance, key string, timeout time.Duration) *Waiting[string] {
	return &Waiting[string]{timeout: timeout, read: func(ctx context.Context) (string, bool, error) {
		value, err := c.GetKVValue(ctx, instance, key)
		if err != nil || value == nil {
			return "", false, err
		}
		return *value, true, nil
	}}
}

func (c Client) waitStatus(instance string, timeout time.Duration, done func(Status) bool) *Waiting[Status] {
	return &Waiting[Status]{timeout: timeout, read: func(ctx context.Context) (Status, bool, error) {
		s, err := c.GetOrchestrationStatus(ctx, instance)
		return s, err == nil && done(s), err
	}}
}

// Poll reads once, even if the timeout is 0. If again is positive, the wait continues, and again is the time until the
// next poll. A provider error ends the wait immediately. Once the timeout has elapsed, the wait ends with ErrTimeout.
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
		return value, 0, &Error{Kind: ErrTimeout}
	}
	if !w.fixed {
		w.pause = nextWaitPoll(w.pause)
	}
	return value, max(min(w.pause, left), time.Millisecond), nil
}

// EncodeTyped encodes a value for use as an input, output or event. A string is left unchanged; anything else becomes
// JSON.
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

// DecodeTyped is the inverse of EncodeTyped. If T is string, text that is not valid JSON for a string is returned
// unchanged.
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
