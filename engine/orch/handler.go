package orch

// Handler is an orchestration's code: an ordinary function that must be deterministic. It interacts with the world only
// through its Context. If it returns an error, the execution fails with the error's text.
type Handler func(ctx *Context, input string) (string, error)
