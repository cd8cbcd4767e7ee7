// Package client is what a client of a durable-execution system does: start, signal and cancel instances, read their
// status and keys, wait for their end, delete them. It works with every [engine.Provider]:
//
//	c := client.Client{Provider: store}
//	err := c.Send(ctx, client.StartOrchestration("order-1", "ProcessOrder", "5"))
//	status, err := c.GetOrchestrationStatus(ctx, "order-1")
//
// The calls are those of docs/contract/runtime.md#r9. A message that was sent is enqueued and no more: no call checks
// that the instance exists or is free.
//
// A Client has no clock. What waits is a [Waiting], which its caller polls in whatever time it has.
package client
