package wire

import (
	"errors"
	"fmt"

	"github.com/creachadair/jrpc2"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/properties/oracle/callform"
)

// CodeNotOffered is the code of the error that says that a store cannot do this at all. It stands beside the codes of
// JSON-RPC 2.0 itself, callform.CodeRetryable and callform.CodePermanent.
const CodeNotOffered jrpc2.Code = 3

// notOffered is the error of a call that a store does not have.
type notOffered struct{ what, why string }

func (e *notOffered) Error() string { return e.what + ": " + e.why }

// unsupported is the answer of a provider that does not have the method.
func unsupported(m string) error {
	return jrpc2.Errorf(CodeNotOffered, "%s: %v", m, engine.ErrUnsupported)
}

// refusal is what a server answers when a call could not be made.
func refusal(err error) error {
	var (
		offered *notOffered
		unknown *callform.UnknownMethodError
	)
	switch {
	case errors.As(err, &offered):
		return jrpc2.Errorf(CodeNotOffered, "%s", err.Error())
	case errors.As(err, &unknown):
		return jrpc2.Errorf(jrpc2.MethodNotFound, "%s", err.Error())
	}
	return jrpc2.Errorf(jrpc2.InvalidParams, "%s", err.Error())
}

// failed is what a server answers when a call failed.
func failed(e *callform.Error) error { return jrpc2.Errorf(jrpc2.Code(e.Code), "%s", e.Message) }

// ProtocolError says that the other side broke the protocol: it was silent past the deadline, died, or answered what is
// no answer. No verdict about a provider can be built on what follows it.
type ProtocolError struct {
	Method string
	Reason string
}

func (e *ProtocolError) Error() string { return fmt.Sprintf("%s: %s", e.Method, e.Reason) }
