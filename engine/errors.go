package engine

import (
	"errors"
	"fmt"

	"github.com/durosim/durosim/engine/eventdata"
)

// ProviderError reports that a provider call failed (docs/contract/provider.md#p8). Retryable reports whether the same
// call may succeed later, for example after a timeout or when the storage is busy. A permanent error is the fault of
// the call itself: an unknown, expired or superseded token, a duplicate event, undecodable data, or a deletion that is
// not allowed.
type ProviderError struct {
	Operation string
	Message   string
	Retryable bool
	// Err is the cause, or nil.
	Err error
}

// Error returns "operation: message".
func (e *ProviderError) Error() string { return e.Operation + ": " + e.Message }

// Unwrap returns the cause.
func (e *ProviderError) Unwrap() error { return e.Err }

// Is reports whether e matches target. A target without an operation and message matches every error with the same
// Retryable value.
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

// ErrRetryable and ErrPermanent match the two classes of provider errors in errors.Is.
var (
	ErrRetryable error = &ProviderError{Retryable: true}
	ErrPermanent error = &ProviderError{}
)

// ErrUnsupported is returned, possibly wrapped, by methods that a provider does not support (yet). A checker skips
// whatever needs the method and reports that it did so; a node treats the error as permanent.
var ErrUnsupported error = &ProviderError{Operation: "call", Message: "not supported by this provider"}

// ErrEnded and ErrForm are wrapped by errors that say that the process of a provider has ended, or that an answer of it
// is none of the protocol's. If that was during a call, it is a mistake of the provider.
var (
	ErrEnded = errors.New("the provider's process ended")
	ErrForm  = errors.New("the answer has the wrong form")
)

// Mistaken reports whether an error says that a provider has made such a mistake.
func Mistaken(err error) bool { return errors.Is(err, ErrEnded) || errors.Is(err, ErrForm) }

// Retryablef returns a retryable provider error. The format may wrap a cause with %w.
func Retryablef(operation, format string, args ...any) *ProviderError {
	return newProviderError(operation, true, format, args)
}

// Permanentf returns a permanent provider error. The format may wrap a cause with %w.
func Permanentf(operation, format string, args ...any) *ProviderError {
	return newProviderError(operation, false, format, args)
}

func newProviderError(operation string, retryable bool, format string, args []any) *ProviderError {
	err := fmt.Errorf(format, args...)
	return &ProviderError{Operation: operation, Message: err.Error(), Retryable: retryable, Err: errors.Unwrap(err)}
}

// IsRetryable reports whether a failed provider call may be retried. Errors of other types count as retryable, because
// the contract retries unclassified errors. A nil error does not.
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

// Infrastructure returns the error details of an infrastructure failure caused by a failed provider call.
func Infrastructure(err error) ErrorDetails {
	var p *ProviderError
	if errors.As(err, &p) {
		return ErrorDetails{Infrastructure: &eventdata.InfrastructureError{Operation: p.Operation, Message: p.Message, Retryable: p.Retryable}}
	}
	return ErrorDetails{Infrastructure: &eventdata.InfrastructureError{Operation: "unknown", Message: err.Error(), Retryable: true}}
}
