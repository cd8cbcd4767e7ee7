package orch

import (
	"encoding/json"
	"fmt"
)

// JSON returns a Handler for code with typed input and output, which are stored as JSON. Empty input is the zero value.
// Input that is not of the type In fails the execution.
func JSON[In, Out any](code func(ctx *Context, in In) (Out, error)) Handler {
	return func(ctx *Context, input string) (string, error) {
		return Typed(input, func(in In) (Out, error) { return code(ctx, in) })
	}
}

// Typed calls code with input decoded from JSON, and encodes its result.
func Typed[In, Out any](input string, code func(in In) (Out, error)) (string, error) {
	var in In
	if input != "" {
		if err := json.Unmarshal([]byte(input), &in); err != nil {
			return "", fmt.Errorf("the input %q is no %T: %w", input, in, err)
		}
	}
	out, err := code(in)
	if err != nil {
		return "", err
	}
	return Encode(out), nil
}

// Encode returns a value as JSON, for an input, an event or a status. It panics if the value has no JSON.
func Encode(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic("orch: " + err.Error())
	}
	return string(text)
}

// Decode decodes a result from JSON, unless err is set, which it then returns:
//
//	receipt, err := orch.Decode[Receipt](ctx.ScheduleActivity("Charge", orch.Encode(order)).Await())
func Decode[T any](text string, err error) (T, error) {
	var v T
	if err != nil {
		return v, err
	}
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		return v, fmt.Errorf("the result %q is no %T: %w", text, v, err)
	}
	return v, nil
}
