package campaign

import "github.com/durosim/durosim/sim/cluster"

// DoubleCheck repeats a run whose digest was not reproducible, this time computing each turn twice. It returns the
// violation that names the nondeterministic handler. ok is false if no handler is found to be nondeterministic.
func DoubleCheck(cfg cluster.Config) (v cluster.Violation, ok bool) {
	cfg.DoubleCheck = true
	result, err := cluster.Run(cfg)
	if err != nil {
		return v, false
	}
	for _, v := range result.Violations {
		if v.Unsteady() {
			return v, true
		}
	}
	return v, false
}
