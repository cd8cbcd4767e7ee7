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

// confidence says in two lines what a clean campaign of so many seeds shows.
func confidence(seeds uint64) (string, error) {
	var d detection
	if err := json.Unmarshal(detectionFile, &d); err != nil {
		return "", fmt.Errorf("detection.json: %w", err)
	}
	type class struct {
		name       string
		all, found int
	}
	var classes []class
	hardest, most := "", 0.0
	for _, b := range d.Bugs {
		name, _, _ := strings.Cut(b.ID, "/")
		if n := len(classes); n == 0 || classes[n-1].name != name { // they are sorted
			classes = append(classes, class{name: name})
		}
		c := &classes[len(classes)-1]
		c.all++
		need := b.sure(d.Seeds)
		if need <= float64(seeds) {
			c.found++
		}
		if need > most {
			hardest, most = b.ID, need
		}
	}
	var parts []string
	for _, c := range classes {
		parts = append(parts, fmt.Sprintf("%d of %d of %s", c.found, c.all, c.name))
	}
	if most >= 1e9 {
		return "", fmt.Errorf("detection.json: %s was never found", hardest)
	}
	return fmt.Sprintf("confidence: no failure in %s, so with a certainty of 95 %% fewer than 3 in %s runs of this plan fail (the rule of three)\n"+
		"            planted bugs that so many seeds find with 99 %%, each in the scenario that shows it: %s; the hardest, %s, takes %s\n",
		plural(seeds, "seed", "seeds"), grouped(seeds), strings.Join(parts, ", "), hardest, grouped(uint64(most))), nil
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
