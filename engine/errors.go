package engine

import (
	"errors"
	"fmt"

	"github.com/durosim/durosim/internal/eventdata"
)

// ProviderError reports that a provider's call failed (docs/contract/provider.md#p8). Retryable reports whether the same
// call may succeed later, as when storage is busy or times out. A permanent error is caused by the call itself: an
// unknown, expired or superseded token, a duplicate event, undecodable data, a refused deletion.
type ProviderError struct {
	Operation string
	Message   string
	Retryable bool
	// Err is the cause, nil if there is none.
	Err error
}

// Error returns "operation: message".
func (e *ProviderError) Error() string { return e.Operation + ": " + e.Message }

// Unwrap returns the cause.
func (e *ProviderError) Unwrap() error { return e.Err }

// Is reports whether e matches target. A target without operation and message matches every error of its retryability.
func (e *ProviderError) Is(target error) bool {
	t, ok := target.(*ProviderError)
	if !ok {
		return false
	}
	if t.Operation == "" && t.Message == "" {
		return t.Retryable == e.Retryable
	}
	return t.Operation == e.Operation && t.Message == e.Message && t.Retryable == e.Retryable
}

// The two classes of provider errors, for errors.Is.
var (
	ErrRetryable error = &ProviderError{Retryable: true}
	ErrPermanent error = &ProviderError{}
)

// ErrUnsupported is the error that a method returns, or wraps, if the provider does not support it (yet). A checker of the
// provider skips what needs the method and reports that it did; a node treats the error as permanent.
var ErrUnsupported error = &ProviderError{Operation: "call", Message: "not supported by this provider"}

// Retryablef makes a retryable provider error. The format may wrap a cause with %w.
func Retryablef(operation, format string, args ...any) *ProviderError {
	return newProviderError(operation, true, format, args)
}

// Permanentf makes a permanent provider error. The format may wrap a cause with %w.
func Permanentf(operation, format string, args ...any) *ProviderError {
	return newProviderError(operation, false, format, args)
}

func newProviderError(operation string, retryable bool, format string, args []any) *ProviderError {
	err := fmt.Errorf(format, args...)
	return &ProviderError{Operation: operation, Message: err.Error(), Retryable: retryable, Err: errors.Unwrap(err)}
}

// IsRetryable reports whether a failed provider call may be retried. An error that is not a ProviderError counts as
// retryable, since the contract retries unclassified errors; nil does not.
func IsRetryable(err error) bool {
	if err == nil {
		return false
	}
	if p, ok := err.(*ProviderError); ok { // the common case
		return p.Retryable
	}
	var p *ProviderError
	if errors.As(err, &p) {
		return p.Retryable
	}
	return true
}

// Infrastructure returns the details of an infrastructure failure that a provider call's error caused.
func Infrastructure(err error) ErrorDetails {
	var p *ProviderError
	if errors.As(err, &p) {
		return ErrorDetails{Infrastructure: &eventdata.InfrastructureError{Operation: p.Operation, Message: p.Message, Retryable: p.Retryable}}
	}
	return ErrorDetails{Infrastructure: &eventdata.InfrastructureError{Operation: "unknown", Message: err.Error(), Retryable: true}}
}
