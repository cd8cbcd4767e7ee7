package command

import (
	_ "embed" // for detection.json
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/properties"
)

// detectionFile records the number of seeds needed to find each planted bug in its own scenario. `simdev bugs
// -detection` writes it.
//
//go:embed detection.json
var detectionFile []byte

// detection records the number of seeds needed to find each planted bug from each starting seed. A 0 means that the bug
// was not found within Seeds seeds.
type detection struct {
	Starts int           `json:"starts"`
	Seeds  uint64        `json:"seeds"`
	Bugs   []detectedBug `json:"bugs"`
}

type detectedBug struct {
	ID    string   `json:"id"`
	Seeds []uint64 `json:"seeds"`
}

// rate estimates the fraction of seeds that find the bug. A search that failed counts as most seeds.
func (b detectedBug) rate(most uint64) float64 {
	found, tried := 0.0, 0.0
	for _, n := range b.Seeds {
		if n == 0 {
			tried += float64(most)
			continue
		}
		found++
		tried += float64(n)
	}
	return found / max(tried, 1)
}

// sure returns the number of seeds needed to find a bug with 99 % confidence. rate is the fraction of seeds that find
// it.
func sure(rate float64) uint64 {
	if rate >= 1 {
		return 1
	}
	return uint64(min(math.Ceil(math.Log(0.01)/math.Log1p(-rate)), 1e9))
}

// confidentFrom is the smallest number of seeds for which a clean campaign's report includes the confidence by default.
const confidentFrom = 100

// confidence reports how much confidence a clean campaign of Seeds seeds provides.
type confidence struct {
	Seeds uint64 `json:"seeds"`
	// Bound is an upper bound, with 95 % confidence, on the fraction of this plan's runs that fail. It is 3 divided by
	// the number of seeds (the rule of three).
	Bound string `json:"fails_at_most"`
	// Classes has one entry per family of planted bugs. Each entry counts the bugs that Seeds seeds would find with 99
	// % confidence, given each bug's own scenario.
	Classes []bugFamily `json:"classes"`
	// Hardest is the bug that needs the most seeds, and HardestSeeds is the number it needs.
	Hardest      string `json:"hardest"`
	HardestSeeds uint64 `json:"hardest_seeds"`
}

type bugFamily struct {
	Class string `json:"class"`
	Bugs  int    `json:"bugs"`
	Found int    `json:"found"`
	// RateMedian is the median, over the bugs in the class, of the fraction of seeds that find a bug. RateLeast is the
	// minimum.
	RateMedian float64 `json:"rate_median"`
	RateLeast  float64 `json:"rate_least"`
	// Seeds is the number of seeds needed to find every bug in the class, each with 99 % confidence.
	Seeds uint64 `json:"seeds_for_all"`
}

// newConfidence returns the confidence that a clean campaign of that many seeds provides, of which the second judge
// watches each seed that every divides.
func newConfidence(seeds, every uint64) *confidence {
	var d detection
	if err := json.Unmarshal(detectionFile, &d); err != nil {
		panic(fmt.Sprintf("detection.json: %v", err)) // the file is embedded, and a test checks that it can be parsed
	}
	out := &confidence{Seeds: seeds, Bound: fmt.Sprintf("3/%d", seeds)}
	var rates [][]float64 // by class
	second := properties.OfSecondJudge()
	ruled := func(id string) bool { return !slices.Contains(second, id) }
	for _, b := range d.Bugs {
		name, _, _ := strings.Cut(b.ID, "/")
		if n := len(out.Classes); n == 0 || out.Classes[n-1].Class != name { // the bugs are sorted by class
			out.Classes = append(out.Classes, bugFamily{Class: name})
			rates = append(rates, nil)
		}
		c, rate := &out.Classes[len(out.Classes)-1], b.rate(d.Seeds)
		if bug, _ := faults.Lookup(faults.BugID(b.ID)); !slices.ContainsFunc(bug.Properties, ruled) {
			rate /= float64(every)
		}
		c.Bugs++
		rates[len(rates)-1] = append(rates[len(rates)-1], rate)
		need := sure(rate)
		if need <= seeds {
			c.Found++
		}
		c.Seeds = max(c.Seeds, need)
		if need > out.HardestSeeds {
			out.Hardest, out.HardestSeeds = b.ID, need
		}
	}
	for i, all := range rates {
		slices.Sort(all)
		out.Classes[i].RateMedian, out.Classes[i].RateLeast = all[len(all)/2], all[0]
	}
	return out
}

// text formats the confidence as a table with a one-line introduction.
func (c *confidence) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "confidence: no failure in %s, so with a certainty of 95 %% fewer than 3 in %s runs of this plan fail (the rule of three)\n"+
		"            rate: the share of seeds that find a planted bug, in the scenario that shows it and with the second judge in as many seeds as here\n"+
		"            found: the bugs that %s would find with a certainty of 99 %%\n",
		plural(c.Seeds, "seed", "seeds"), grouped(c.Seeds), plural(c.Seeds, "seed", "seeds"))
	row := func(class, median, hardest, found, all string) {
		fmt.Fprintf(&b, "            %-15s  %10s  %11s  %15s  %13s\n", class, median, hardest, found, all)
	}
	row("family", "median rate", "lowest rate", "found", "seeds for all")
	for _, k := range c.Classes {
		row(k.Class, percent(k.RateMedian), percent(k.RateLeast), fmt.Sprintf("%d of %d", k.Found, k.Bugs), grouped(k.Seeds))
	}
	return b.String()
}

func percent(share float64) string { return fmt.Sprintf("%.1f %%", 100*share) }
