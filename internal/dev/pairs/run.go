package pairs

import (
	"fmt"
	"slices"

	"github.com/durosim/durosim"
	"github.com/durosim/durosim/internal/dev/selfcheck"
	"github.com/durosim/durosim/properties"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/scenario"
)

// Run runs one seed of a plan with these parts, with every check but those that judge the plan. It returns the first
// violation, or nil, and the coverage, with the features that faults met if matrix is set.
func Run(parts []Part, seed uint64, matrix bool) (v *cluster.Violation, points []cluster.Point, err error) {
	defer func() {
		if p := recover(); p != nil {
			v = &cluster.Violation{Property: "panic", Message: fmt.Sprint(p)}
		}
	}()
	s, err := scenario.Parse("pairs", []byte(Text(parts)))
	if err != nil {
		return nil, nil, err
	}
	p, err := s.Expand(seed, scenario.Overrides{})
	if err != nil {
		return nil, nil, err
	}
	var without []string
	for _, p := range properties.Catalogue() {
		if p.Class == cluster.ClassPlan {
			without = append(without, p.ID)
		}
	}
	cfg := cluster.Config{Plan: p, Seed: seed, Stop: func(cluster.Violation) bool { return true }}
	durosim.Run{Monitor: selfcheck.Watch}.Configure(&cfg, properties.Options{Without: without, SecondJudge: 1, Matrix: matrix})
	r, err := cluster.Run(cfg)
	if err == nil && len(r.Violations) > 0 {
		return &r.Violations[0], r.Coverage, nil
	} else if err != nil {
		return nil, nil, err
	}
	return nil, r.Coverage, nil
}

// Smallest leaves out the parts that a violation of the property does not need in any of the seeds.
func Smallest(parts []Part, property string, seed, seeds uint64) ([]Part, *cluster.Violation, uint64) {
	v, _, _ := Run(parts, seed, false)
	for i := len(parts) - 1; i >= 0; i-- {
		fewer := slices.Delete(slices.Clone(parts), i, i+1)
		for other := range 1 + seeds {
			if other == 0 {
				other = seed
			}
			if got, _, err := Run(fewer, other, false); err == nil && got != nil && got.Property == property {
				parts, v, seed = fewer, got, other
				break
			}
		}
	}
	return parts, v, seed
}
