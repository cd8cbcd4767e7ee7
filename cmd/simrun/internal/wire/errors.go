package wire

import (
	"errors"
	"fmt"

	"github.com/durosim/durosim/engine/call"
)

// CodeNotOffered is the error code for an operation that a store does not support at all. The other codes are those of
// JSON-RPC 2.0, call.CodeRetryable and call.CodePermanent.
const CodeNotOffered = call.CodeUnsupported

// The codes of JSON-RPC 2.0.
const (
	codeParseError     = -32700
	codeInvalidRequest = -32600
	codeMethodNotFound = -32601
	codeInvalidParams  = -32602
	codeInternalError  = -32603
)

// Error is an answer that says why there is no result.
type Error call.Error

func (e *Error) Error() string { return fmt.Sprintf("[%d] %s", e.Code, e.Message) }

func errorf(code int, format string, args ...any) error {
	return &Error{code, fmt.Sprintf(format, args...)}
}

// notOffered returns the error for an operation that a store does not support.
func notOffered(what, why string) error { return errorf(CodeNotOffered, "%s: %s", what, why) }

// refusal returns a server's answer to a call that was not made.
func refusal(err error) error {
	var coded *Error
	var unknown *call.UnknownMethodError
	switch {
	case errors.As(err, &coded):
		return coded
	case errors.As(err, &unknown):
		return errorf(codeMethodNotFound, "%v", err)
	}
	return errorf(codeInvalidParams, "%v", err)
}

// ProtocolError reports that the other side violated the protocol: it missed the deadline, exited, or sent something
// other than an answer. What happens afterwards says nothing about the provider.
type ProtocolError struct {
	Method string
	Reason string
	// Form is set if a method of the provider gave an answer, and its form is wrong.
	Form bool
}

func (e *ProtocolError) Error() string { return fmt.Sprintf("%s: %s", e.Method, e.Reason) }
