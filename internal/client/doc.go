// Package client provides what a client of a durable-execution system can do: start, signal and cancel instances, read
// their status and keys, wait for them to end, and delete them. It works with any [engine.Provider]:
//
//	c := client.Client{Provider: store}
//	err := c.Send(ctx, client.StartOrchestration("order-1", "ProcessOrder", "5"))
//	status, err := c.GetOrchestrationStatus(ctx, "order-1")
//
// docs/contract/runtime.md#r9 defines the calls. Sending a message only enqueues it. No call checks whether the
// instance exists or its name is free.
//
// A Client has no clock. Waiting for something returns a [Waiting], which the caller polls, passing the current time.
package client
