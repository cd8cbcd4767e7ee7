package main

import (
	"context"
	"flag"
	"fmt"
	"runtime"

	"github.com/durosim/durosim/internal/dev/pairs"
	"github.com/durosim/durosim/sim/campaign"
	"github.com/durosim/durosim/sim/cluster"
)

// pairsOf implements `simdev pairs`: it runs plans in which each two parts of the language meet. The exit status is 4 if
// one violates the contract: durosim is wrong then, or the two parts are a mistake that parts.txt does not know.
func pairsOf(args []string) error {
	f := flag.NewFlagSet("simdev pairs", flag.ContinueOnError)
	first, seeds := f.Uint64("first", 1, "the first `SEED`"), f.Uint64("seeds", 3, "how `MANY` seeds of each plan")
	most := f.Int("parts", 10, "how `MANY` parts a plan has at most")
	workers := f.Int("workers", runtime.GOMAXPROCS(0), "how `MANY` runs at once")
	if err := f.Parse(args); err != nil {
		return err
	}
	parts, excluded := pairs.Parts()
	apart, err := pairs.Apart(parts, excluded)
	if err != nil {
		return err
	}
	plans := pairs.Cover(parts, apart, *most)
	type ran struct {
		v   *cluster.Violation
		err error
	}
	seen, failed := map[string]bool{}, 0
	campaign.InOrder(context.Background(), uint64(len(plans))**seeds, *workers, func(i uint64) (r ran) {
		r.v, _, r.err = pairs.Run(plans[i / *seeds], *first+i%*seeds, false)
		return r
	}, func(i uint64, r ran) bool {
		if err = r.err; r.err != nil || r.v == nil {
			return r.err == nil
		}
		failed++
		list, v, seed := pairs.Smallest(plans[i / *seeds], r.v.Property, *first+i%*seeds, 10)
		if name := v.Property + fmt.Sprint(list); !seen[name] {
			seen[name] = true
			fmt.Printf("%s %s: %s\nseed %d of\n%s\n", v.Property, v.Instance, v.Message, seed, pairs.Text(list))
		}
		return true
	})
	if err != nil {
		return err
	}
	fmt.Printf("%d parts, of which %d pairs cannot meet: %d plans, %d runs, %d violations, %d kinds of them\n", len(parts), len(apart), len(plans), uint64(len(plans))**seeds, failed, len(seen))
	if failed > 0 {
		return errFound
	}
	return nil
}
