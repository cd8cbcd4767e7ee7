package call

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	"github.com/durosim/durosim/engine"
)

// EncodeResult encodes a method's result. The answer must be a success.
func EncodeResult(method string, a Answer) ([]byte, error) {
	form, ok := results[method]
	if !ok {
		return []byte("null"), nil
	}
	v := reflect.ValueOf(form.field(&a)).Elem()
	if form.null && v.Kind() == reflect.String && v.IsZero() {
		return []byte("null"), nil
	}
	return appendValue(nil, v)
}

// DecodeResult decodes a result into an answer. It ignores unknown fields, because a provider may return more than is
// required. For a method without a result, only null is accepted.
func DecodeResult(method string, result []byte) (Answer, error) {
	var a Answer
	form, ok := results[method]
	switch {
	case len(result) == 0:
		return a, errors.New("result: missing")
	case !ok && string(result) != "null":
		return a, fmt.Errorf("result: want null, since this call has no result, got %s", result)
	case !ok:
		return a, nil
	case string(result) == "null" && !form.null:
		return a, errors.New("result: got null, but this method always has a result")
	}
	return a, Decode(result, form.field(&a), "result", false)
}

// The codes for the reasons of a failed call.
const (
	CodeRetryable = 1
	CodePermanent = 2
	// CodeUnsupported is that of engine.ErrUnsupported.
	CodeUnsupported = 3
)

// Error is the JSON form of a failed call.
type Error struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// ErrorOf converts an error returned by a provider to its JSON form.
func ErrorOf(err error) *Error {
	e := &Error{Code: CodePermanent, Message: err.Error()}
	switch {
	case engine.IsRetryable(err):
		e.Code = CodeRetryable
	case errors.Is(err, engine.ErrUnsupported):
		e.Code = CodeUnsupported
	}
	var p *engine.ProviderError
	if errors.As(err, &p) {
		e.Message = p.Message
	}
	return e
}

// Provider returns e as an error from that provider method.
func (e *Error) Provider(method string) error {
	if e.Code == CodeUnsupported {
		return engine.ErrUnsupported
	}
	return &engine.ProviderError{Operation: method, Message: e.Message, Retryable: e.Code == CodeRetryable}
}

func (e *Error) class() string {
	if e.Code == CodeRetryable {
		return "retryable error"
	}
	return "permanent error"
}

// UnmarshalJSON decodes an error. An unknown code is an error.
func (e *Error) UnmarshalJSON(data []byte) error {
	var in struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	}
	if err := json.Unmarshal(data, &in); err != nil {
		return err
	}
	if in.Code < CodeRetryable || in.Code > CodeUnsupported {
		return fmt.Errorf("error.code: want %d (retryable), %d (permanent) or %d (not supported), got %d", CodeRetryable, CodePermanent, CodeUnsupported, in.Code)
	}
	*e = Error(in)
	return nil
}
