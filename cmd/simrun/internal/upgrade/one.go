package upgrade

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/durosim/durosim/sim/cluster"
)

// One returns the configuration for one run of a variant of the plan. Variants are named as follows:
//
//	whole         the whole plan
//	stop-2        only the first two steps; stop-0 for none
//	back-2        the first two steps, and then a rollback
//	back-2+30s    the same, but not before 30 s have passed
//	order-2,1,3   the steps in another order, at the plan's times
//	canary        the plan's roll-out by that procedure, of those that TryProcedures tries
//	canary/back-2 the first two steps of that, and then the way back to where it began
//
// Steps are numbered from 1, as in the rollback map.
func (c Config) One(variant string, seed uint64) (cluster.Config, error) {
	p, builds, err := c.planned(seed)
	if err != nil {
		return cluster.Config{}, err
	}
	if variant == "whole" {
		return c.Run(p, seed, c.Scenario.Expect), nil
	}
	if procedure, back, isBack := strings.Cut(variant, "/back-"); slices.Contains(procedures, procedure) {
		n := 0
		if isBack {
			if n, err = strconv.Atoi(back); err != nil || n < 1 {
				return cluster.Config{}, unknown(variant)
			}
		}
		if err := c.procedure(p, seed, procedure, n, builds); err != nil {
			return cluster.Config{}, fmt.Errorf("variant %q: %w", variant, err)
		}
		return c.Run(p, seed, nil), nil
	}
	kind, which, _ := strings.Cut(variant, "-")
	which, wait, waits := strings.Cut(which, "+")
	var numbers []int
	var least time.Duration
	if waits {
		if least, err = time.ParseDuration(wait); err != nil || least < 0 || kind != "back" {
			return cluster.Config{}, unknown(variant)
		}
	}
	for word := range strings.SplitSeq(which, ",") {
		n, err := strconv.Atoi(word)
		if err != nil {
			return cluster.Config{}, unknown(variant)
		}
		numbers = append(numbers, n)
	}
	count := len(Steps(p))
	switch n := numbers[0]; {
	case (kind == "stop" || kind == "back") && len(numbers) == 1:
		if n < 0 || n > count {
			return cluster.Config{}, fmt.Errorf("variant %q: the plan has %d steps", variant, count)
		}
		if kind == "stop" {
			Stop(p, n)
		} else {
			c.Back(p, n, least, builds)
		}
	case kind == "order":
		for i := range numbers {
			numbers[i]--
		}
		if !slices.Equal(slices.Sorted(slices.Values(numbers)), inOrder(count)) {
			return cluster.Config{}, fmt.Errorf("variant %q: expected each of the %d steps once", variant, count)
		}
		reorder(p, numbers)
	default:
		return cluster.Config{}, unknown(variant)
	}
	return c.Run(p, seed, nil), nil
}

func unknown(variant string) error {
	return fmt.Errorf("variant %q: expected whole, stop-N, back-N, order-N,N,... with the numbers of the steps, or a procedure, one of %s, or its way back, such as %s/back-N", variant, strings.Join(procedures, ", "), canary)
}

// Variant returns the name of the variant with this order, in the form accepted by One.
func (o *Order) Variant() string {
	words := make([]string, len(o.Steps))
	for i, n := range o.Steps {
		words[i] = strconv.Itoa(n + 1)
	}
	return "order-" + strings.Join(words, ",")
}

// Remarkable returns a run that illustrates the worst line of the map, and an affected instance in that run. If there
// is a point of no return, the run rolls back from it. If not, the run executes the whole plan.
func (r *Report) Remarkable() (variant string, seed uint64, instance string) {
	type line struct {
		variant string
		effect  harm
	}
	lines := []line{{"stop-" + strconv.Itoa(len(r.Steps)), r.End.harm}}
	if r.NoReturn > 0 {
		lines = append([]line{{"back-" + strconv.Itoa(r.NoReturn), r.Backs[r.NoReturn].fresh}}, lines...)
	}
	if len(r.Stops) > 0 {
		lines = append(lines, line{"stop-0", r.Stops[0].harm})
	}
	for _, l := range lines {
		for _, c := range []Count{l.effect.Untaken, l.effect.Stranded, l.effect.Lost} {
			if c.Total > 0 && c.Example != "" {
				return l.variant, c.ExampleSeed, c.Example
			}
		}
	}
	return "", 0, ""
}
