package orch

// Handler is an orchestration's code: an ordinary function that must be deterministic. It reaches the world only
// through its Context. A returned error fails the execution with the error's text.
type Handler func(ctx *Context, input string) (string, error)
