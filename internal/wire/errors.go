package wire

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/creachadair/jrpc2"

	"github.com/durosim/durosim/engine"
)

// The codes of errors beside those of JSON-RPC 2.0 itself.
const (
	// CodeRetryable is a retryable provider error: the call changed nothing, and may succeed later.
	CodeRetryable jrpc2.Code = 1
	// CodePermanent is a permanent provider error: the call changed nothing, and will fail again.
	CodePermanent jrpc2.Code = 2
	// CodeNotOffered says that the store cannot do this at all.
	CodeNotOffered jrpc2.Code = 3
)

// errorData goes with provider errors.
type errorData struct {
	Operation string `json:"operation,omitempty"`
}

// notOffered is the error of a call that a store does not have.
type notOffered struct{ what, why string }

func (e *notOffered) Error() string { return e.what + ": " + e.why }

func errNotOffered(what, why string) error { return &notOffered{what, why} }

// wireError is what a server answers for an error of a method.
func wireError(err error) error {
	var (
		provider *engine.ProviderError
		offered  *notOffered
	)
	switch {
	case errors.As(err, &provider):
		code := CodePermanent
		if provider.Retryable {
			code = CodeRetryable
		}
		return jrpc2.Errorf(code, "%s", provider.Message).WithData(errorData{provider.Operation})
	case errors.As(err, &offered):
		return jrpc2.Errorf(CodeNotOffered, "%s", offered.Error())
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	}
	return jrpc2.Errorf(jrpc2.InvalidParams, "%s", err.Error())
}

// plainError is the provider error that an answer stands for, or nil if it is none.
func plainError(method string, answer *jrpc2.Error) *engine.ProviderError {
	if answer.Code != CodeRetryable && answer.Code != CodePermanent {
		return nil
	}
	data := errorData{Operation: method}
	if len(answer.Data) > 0 {
		_ = json.Unmarshal(answer.Data, &data) // data is optional, and only for people
	}
	return &engine.ProviderError{Operation: data.Operation, Message: answer.Message, Retryable: answer.Code == CodeRetryable}
}

// ProtocolError says that the other side broke the protocol: it was silent past the deadline, died, or answered what is
// no answer. No verdict about a provider can be built on what follows it.
type ProtocolError struct {
	Method string
	Reason string
}

func (e *ProtocolError) Error() string { return fmt.Sprintf("%s: %s", e.Method, e.Reason) }
