package campaign

import "github.com/durosim/durosim/sim/cluster"

// DoubleCheck carries out a run that differs from another of its seed once more, with each turn computed twice. It returns
// the violation that names the handler which is not deterministic; ok is false if that does not show it.
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
