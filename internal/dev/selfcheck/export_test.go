package selfcheck

// Forget forgets what has been found, so that more is reported.
func (m *Monitor) Forget() { m.violations, m.count = nil, map[string]int{} }
