package realnode

import "time"

// SetPatience sets how long a host may take to answer.
func SetPatience(h *Hosts, d time.Duration) { h.patience = d }
