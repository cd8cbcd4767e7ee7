// Package timeline records a run as intervals and marks over virtual time, for visualization. It shows when each node
// ran which work, what happened to each instance, and when steps, faults and violations occurred. Every mark includes
// the step of the run at which it was made.
//
//	c := timeline.New(plan)
//	cfg.Narrator = c.Tell
//	monitor := cfg.Monitor
//	cfg.Monitor = func(w *cluster.World) cluster.Monitor { return c.Watch(w, monitor(w)) }
//	result, err := cluster.Run(cfg)
//	t := c.Timeline(result)
//
// Page.Write writes a self-contained HTML file with a run, a rollback map or totals of a campaign.
package timeline
