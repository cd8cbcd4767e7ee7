package command

import (
	_ "embed" // for detection.json
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
)

// detectionFile tells how many seeds each planted bug took, in the scenario that shows it: what bugs --detection wrote.
//
//go:embed detection.json
var detectionFile []byte

// detection is how many seeds each planted bug took from each starting seed, 0 where Seeds seeds did not find it.
type detection struct {
	Starts int           `json:"starts"`
	Seeds  uint64        `json:"seeds"`
	Bugs   []detectedBug `json:"bugs"`
}

type detectedBug struct {
	ID    string   `json:"id"`
	Seeds []uint64 `json:"seeds"`
}

// sure returns how many seeds find the bug with a certainty of 99 %, if each finds it as often as those of the table did.
func (b detectedBug) sure(most uint64) float64 {
	found, tried := 0.0, 0.0
	for _, n := range b.Seeds {
		if n == 0 {
			tried += float64(most)
			continue
		}
		found++
		tried += float64(n)
	}
	if found >= tried {
		return 1
	}
	return math.Ceil(math.Log(0.01) / math.Log1p(-found/tried))
}

// confidentFrom is how many seeds a clean campaign has at least for its report to say what that shows, unasked.
const confidentFrom = 100

// confidenceJSON is what a clean campaign of so many seeds shows.
type confidenceJSON struct {
	Seeds uint64 `json:"seeds"`
	// Bound is the share of runs of this plan that fail at most, with a certainty of 95 %: the rule of three.
	Bound string `json:"fails_at_most"`
	// Classes says, for each family of planted bugs, how many of them so many seeds find with a certainty of 99 %, each in the
	// scenario that shows it.
	Classes []classJSON `json:"classes"`
	// Hardest is the bug that takes the most seeds.
	Hardest      string `json:"hardest"`
	HardestSeeds uint64 `json:"hardest_seeds"`
}

type classJSON struct {
	Class string `json:"class"`
	Bugs  int    `json:"bugs"`
	Found int    `json:"found"`
	// Seeds is how many seeds find all of them, each with a certainty of 99 %.
	Seeds uint64 `json:"seeds_for_all"`
}

// newConfidence says what a clean campaign of so many seeds shows.
func newConfidence(seeds uint64) *confidenceJSON {
	var d detection
	if err := json.Unmarshal(detectionFile, &d); err != nil {
		panic(fmt.Sprintf("detection.json: %v", err)) // it is part of the program, and a test reads it
	}
	out := &confidenceJSON{Seeds: seeds, Bound: fmt.Sprintf("3/%d", seeds)}
	for _, b := range d.Bugs {
		name, _, _ := strings.Cut(b.ID, "/")
		if n := len(out.Classes); n == 0 || out.Classes[n-1].Class != name { // they are sorted
			out.Classes = append(out.Classes, classJSON{Class: name})
		}
		c := &out.Classes[len(out.Classes)-1]
		c.Bugs++
		need := uint64(min(b.sure(d.Seeds), 1e9))
		if need <= seeds {
			c.Found++
		}
		c.Seeds = max(c.Seeds, need)
		if need > out.HardestSeeds {
			out.Hardest, out.HardestSeeds = b.ID, need
		}
	}
	return out
}

// text is the same in three lines.
func (c *confidenceJSON) text() string {
	var parts []string
	for _, k := range c.Classes {
		part := fmt.Sprintf("%d of %d of %s", k.Found, k.Bugs, k.Class)
		if k.Found < k.Bugs {
			part += fmt.Sprintf(" (all: %s)", plural(k.Seeds, "seed", "seeds"))
		}
		parts = append(parts, part)
	}
	return fmt.Sprintf("confidence: no failure in %s, so with a certainty of 95 %% fewer than 3 in %s runs of this plan fail (the rule of three)\n"+
		"            planted bugs that so many seeds find with 99 %%, each in the scenario that shows it:\n            %s\n",
		plural(c.Seeds, "seed", "seeds"), grouped(c.Seeds), strings.Join(parts, ", "))
}

// confidence returns what the report says of what the campaign shows: nothing if a run failed, or if there are few seeds and
// nobody asks.
func (r *report) confidence() *confidenceJSON {
	clean := r.sum.Passed == r.sum.Seeds && !r.sum.Interrupted && r.status == exitOK
	if !clean || r.sum.Seeds == 0 || r.sum.Seeds < confidentFrom && !r.confident {
		return nil
	}
	return newConfidence(r.sum.Seeds)
}

// detection returns the trials as a file for confidence, one bug a line, sorted by id.
func (o *bugsJSON) detection() []byte {
	var lines []string
	for _, b := range o.Bugs {
		line, err := json.Marshal(detectedBug{b.ID, b.Seeds})
		if err != nil {
			panic(err) // strings and numbers have a JSON form
		}
		lines = append(lines, string(line))
	}
	slices.Sort(lines)
	return fmt.Appendf(nil, "{\"starts\": %d, \"seeds\": %d, \"bugs\": [\n%s\n]}\n", o.Starts, o.Seeds, strings.Join(lines, ",\n"))
}
