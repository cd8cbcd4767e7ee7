// Package client provides the operations of a client of a durable-execution system: starting, signaling and cancelling
// instances, reading their status and keys, waiting for them to end, and deleting them. It works with any
// [engine.Provider]:
//
//	c := client.Client{Provider: store}
//	err := c.Send(ctx, client.StartOrchestration("order-1", "ProcessOrder", "5"))
//	status, err := c.GetOrchestrationStatus(ctx, "order-1")
//
// docs/contract/runtime.md#r9 defines the calls. Sending a message only enqueues it. No call checks whether the
// instance exists or its name is free.
//
// A Client has no clock. To wait for something, the caller obtains a [Waiting] and polls it, passing the current time.
package client
