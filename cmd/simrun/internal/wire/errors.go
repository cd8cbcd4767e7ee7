package wire

import (
	"errors"
	"fmt"

	"github.com/creachadair/jrpc2"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/call"
)

// CodeNotOffered is the error code for an operation that a store does not support at all. The other codes are those of
// JSON-RPC 2.0, call.CodeRetryable and call.CodePermanent.
const CodeNotOffered jrpc2.Code = 3

// notOffered is the error for an operation that a store does not support.
type notOffered struct{ what, why string }

func (e *notOffered) Error() string { return e.what + ": " + e.why }

// unsupported returns the error for a method that the provider lacks.
func unsupported(m string) error {
	return jrpc2.Errorf(CodeNotOffered, "%s: %v", m, engine.ErrUnsupported)
}

// refusal returns a server's answer to a call that could not be made.
func refusal(err error) error {
	var (
		offered *notOffered
		unknown *call.UnknownMethodError
	)
	switch {
	case errors.As(err, &offered):
		return jrpc2.Errorf(CodeNotOffered, "%s", err.Error())
	case errors.As(err, &unknown):
		return jrpc2.Errorf(jrpc2.MethodNotFound, "%s", err.Error())
	}
	return jrpc2.Errorf(jrpc2.InvalidParams, "%s", err.Error())
}

// failed returns a server's answer to a call that failed.
func failed(e *call.Error) error { return jrpc2.Errorf(jrpc2.Code(e.Code), "%s", e.Message) }

// ProtocolError reports that the other side violated the protocol: it missed the deadline, exited, or sent something
// other than an answer. What happens afterwards says nothing about the provider.
type ProtocolError struct {
	Method string
	Reason string
}

func (e *ProtocolError) Error() string { return fmt.Sprintf("%s: %s", e.Method, e.Reason) }
