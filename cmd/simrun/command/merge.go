package command

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/durosim/durosim/sim/campaign"
	"github.com/durosim/durosim/sim/scenario"
)

// mergeCmd implements `simrun merge`, which combines the results of several shards into one report.
type mergeCmd struct {
	Files   []string `arg:"" help:"The results files of all shards, as run --results writes them."`
	ciFlags `embed:""`
	JSON    bool `name:"json" help:"Print one JSON object on standard output and nothing else."`
}

// Help returns the text printed below the flags.
func (mergeCmd) Help() string {
	return `Reads the results of all shards of a campaign and reports them as run would have in one process: the same totals, coverage, findings and digest. A shard that is missing, duplicate, cut off, or of another campaign is an error.

Example:

    simrun run --seeds 100000 --shard 1/2 --results 1.jsonl my.txt
    simrun run --seeds 100000 --shard 2/2 --results 2.jsonl my.txt
    simrun merge 1.jsonl 2.jsonl

Exit status: as that of run.`
}

func (c *mergeCmd) run(a *app) (int, error) {
	findings, err := c.open()
	if err != nil {
		return 0, err
	}
	var first *resultsHead
	var results []campaign.SeedResult
	var coverage campaign.Coverage
	var known []knownSeen
	from := map[uint64]string{} // the file that each seed's result came from
	for _, file := range c.Files {
		head, err := readResults(file, &results, &coverage, &known)
		if err != nil {
			return 0, err
		}
		if first == nil {
			first = head
		}
		if other, ok := from[head.Shard]; ok {
			return 0, fmt.Errorf("%s: part %d of %d is also in %s", file, head.Shard, head.Of, other)
		}
		from[head.Shard] = file
		if head.Scenario != first.Scenario || head.Plan != first.Plan || head.Known != first.Known || head.FirstSeed != first.FirstSeed || head.Seeds != first.Seeds || head.Of != first.Of ||
			!slices.Equal(given(head.Flags), given(first.Flags)) {
			return 0, fmt.Errorf("%s: the results belong to another campaign than those in %s: the scenario, the flags, what is known, the seeds or the number of parts differ", file, c.Files[0])
		}
	}
	s, seeds, err := first.subject(a.program, c.Files[0])
	if err != nil {
		return 0, err
	}
	for part := uint64(1); part <= first.Of; part++ {
		if from[part] == "" {
			missing := runCmd{planFlags: s.flags, Shard: shard{part, first.Of}, Results: fmt.Sprintf("part-%d.jsonl", part)}
			return 0, fmt.Errorf("part %d of %d is missing; to run it:\n%s", part, first.Of, missing.goOn(s, seeds, 0))
		}
	}
	slices.SortFunc(results, func(a, b campaign.SeedResult) int { return cmp.Compare(a.Seed, b.Seed) })
	r := newReport(s, campaign.Merge(results, coverage), seeds) // how long the shards took is not known
	r.know(known)
	r.SecondJudge = s.judgedTwice(seeds.first, shard{}, r.Seeds)
	if s.flags.Chooser == portfolio {
		counts := newPortfolioCounts()
		for _, one := range results {
			counts.add(one)
		}
		r.Portfolio = counts.members
	}
	if err := c.tell(a, r, findings, shard{}); err != nil {
		return 0, err
	}
	if c.JSON {
		return a.printJSON("merge", r, r)
	}
	s.context = a.interruptible()
	r.makeSmall()
	a.printCampaign(r)
	return r.Status, nil
}

// subject opens the scenario of the results. It fails if the scenario has changed since the campaign.
func (h *resultsHead) subject(p *Program, file string) (*subject, seedRange, error) {
	s, err := h.Flags.subject(p, h.Scenario)
	if err != nil {
		return nil, seedRange{}, err
	}
	hash, err := s.hash(h.FirstSeed)
	if err == nil && hash != h.Plan {
		err = fmt.Errorf("%s: the scenario %s has changed since the campaign ran", file, h.Scenario)
	}
	return s, seedRange{first: h.FirstSeed, count: h.Seeds}, err
}

func readResults(file string, results *[]campaign.SeedResult, coverage *campaign.Coverage, known *[]knownSeen) (*resultsHead, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines, number := json.NewDecoder(f), 0
	lines.DisallowUnknownFields()
	next := func(v any) error {
		number++
		switch err := lines.Decode(v); {
		case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
			return fmt.Errorf("%s:%d: the file is incomplete: run this part again", file, number)
		case err != nil:
			return fmt.Errorf("%s:%d: not a line of results: %w", file, number, err)
		}
		return nil
	}
	head := &resultsHead{}
	if err := next(head); err != nil {
		return nil, err
	}
	if head.Schema != schema || head.Verb != "results" || head.Of == 0 || head.Shard == 0 || head.Shard > head.Of {
		return nil, fmt.Errorf("%s:1: not the first line of results of this version", file)
	}
	for range campaign.ShardSize(head.Seeds, campaign.Shard{Index: head.Shard, Of: head.Of}) {
		var r campaign.SeedResult
		if err := next(&r); err != nil {
			return nil, err
		}
		*results = append(*results, r)
	}
	var end resultsEnd
	if err := next(&end); err != nil {
		return nil, err
	}
	*coverage = append(*coverage, end.Coverage...)
	for _, k := range end.Known {
		i := slices.IndexFunc(*known, func(o knownSeen) bool { return o.Property == k.Property && o.Reason == k.Reason })
		if i < 0 {
			*known = append(*known, k)
			continue
		}
		o := &(*known)[i]
		o.Class = cmp.Or(o.Class, k.Class)
		o.Violations, o.Seeds = o.Violations+k.Violations, o.Seeds+k.Seeds
		if o.FirstSeed == 0 || k.FirstSeed > 0 && k.FirstSeed < o.FirstSeed {
			o.FirstSeed = k.FirstSeed
		}
	}
	return head, nil
}

// A results file begins with a line that describes the campaign. One line per seed follows, in ascending order of
// seeds. A closing line ends the file; without it, the file is incomplete.

// resultsHead is the first line of a results file.
type resultsHead struct {
	Schema   int       `json:"schema"`
	Verb     string    `json:"verb"`
	Scenario string    `json:"scenario"` // as given on the command line
	Flags    planFlags `json:"flags"`
	// Plan is a hash of the first seed's plan. It is used to detect shards of a different scenario.
	Plan string `json:"plan"`
	// Known is a hash of what --known names. It is empty without that flag.
	Known     string `json:"known,omitempty"`
	FirstSeed uint64 `json:"first_seed,string"`
	Seeds     uint64 `json:"seeds"`
	Shard     uint64 `json:"shard"`
	Of        uint64 `json:"of"`
}

// resultsEnd is the closing line of a results file.
type resultsEnd struct {
	End      bool              `json:"end"`
	Coverage campaign.Coverage `json:"coverage"`
	Known    []knownSeen       `json:"known,omitempty"`
}

type resultsWriter struct {
	*whole
	err error
}

func newResults(path string, s *subject, seeds seedRange, part shard, known *knownFile) (*resultsWriter, error) {
	hash, err := s.hash(seeds.first)
	if err != nil {
		return nil, err
	}
	file, err := newWhole(path)
	if err != nil {
		return nil, fmt.Errorf("--results: %w", err)
	}
	w := &resultsWriter{whole: file}
	w.line(resultsHead{
		Schema: schema, Verb: "results", Scenario: s.arg, Flags: s.flags, Plan: hash, Known: known.hash(),
		FirstSeed: seeds.first, Seeds: seeds.count, Shard: max(part.index, 1), Of: max(part.of, 1),
	})
	return w, nil
}

func (s *subject) hash(seed uint64) (string, error) {
	plan, err := s.plan(seed)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(scenario.Format(plan))
	return hex.EncodeToString(sum[:]), nil
}

// hash returns a hash of the entries, or "" if there are none.
func (f *knownFile) hash() string {
	if len(f.Known) == 0 {
		return ""
	}
	sum := sha256.Sum256(fmt.Append(nil, f.Known))
	return hex.EncodeToString(sum[:])
}

func (w *resultsWriter) line(v any) {
	data, err := json.Marshal(v)
	if err == nil {
		_, err = w.Write(append(data, '\n'))
	}
	w.err = errors.Join(w.err, err)
}

// complete ends the file and gives it its name.
func (w *resultsWriter) complete(coverage campaign.Coverage, known []knownSeen) error {
	w.line(resultsEnd{End: true, Coverage: coverage, Known: known})
	if err := errors.Join(w.err, w.keep()); err != nil {
		return fmt.Errorf("--results %s: %w", w.path, err)
	}
	return nil
}
