package campaign

import "github.com/durosim/durosim/sim/cluster"

// DoubleCheck repeats a run that differs from another run of its seed, with each turn computed twice. It returns the
// violation that names the handler that is not deterministic; ok is false if there is none.
func DoubleCheck(cfg cluster.Config) (v cluster.Violation, ok bool) {
	cfg.DoubleCheck = true
	result, err := cluster.Run(cfg)
	if err != nil {
		return v, false
	}
	for _, v := range result.Violations {
		if v.Class == cluster.ClassHandler {
			return v, true
		}
	}
	return v, false
}
