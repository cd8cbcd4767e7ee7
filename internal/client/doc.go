// Package client provides the operations of a client of a durable-execution system: starting, signalling and cancelling
// instances, reading their status and keys, waiting for their end, deleting them. It works with every [engine.Provider]:
//
//	c := client.Client{Provider: store}
//	err := c.Send(ctx, client.StartOrchestration("order-1", "ProcessOrder", "5"))
//	status, err := c.GetOrchestrationStatus(ctx, "order-1")
//
// docs/contract/runtime.md#r9 defines the calls. Sending a message only enqueues it: no call checks that the instance
// exists or is free.
//
// A Client has no clock. A wait is a [Waiting], which the caller polls, passing the current time.
package client
