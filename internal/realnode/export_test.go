package realnode

import "time"

// SetPatience sets the time limit for an answer of a host.
func SetPatience(h *Hosts, d time.Duration) { h.patience = d }
