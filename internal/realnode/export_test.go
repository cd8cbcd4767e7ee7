package realnode

import "time"

// SetPatience sets how long an answer of a host may take.
func SetPatience(h *Hosts, d time.Duration) { h.patience = d }
