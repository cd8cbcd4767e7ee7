package command

import (
	"fmt"

	"github.com/durosim/durosim"
	"github.com/durosim/durosim/sim/campaign"
	"github.com/durosim/durosim/sim/scenario"
)

// shrunk is a shrunk run, ready to be printed.
type shrunk struct {
	subject *subject
	seed    uint64
	small   *durosim.Shrunk
	stored  string
	repro   string
}

// shrunkJSON is the object printed by shrink --json.
type shrunkJSON struct {
	Schema     int             `json:"schema"`
	Verb       string          `json:"verb"`
	Scenario   string          `json:"scenario"`
	Seed       string          `json:"seed"`
	Violations []violationJSON `json:"violations"`
	// Plan is the plan's text. Choices lists the choices that differ from the harmless default.
	Plan     string       `json:"plan"`
	Choices  []choiceJSON `json:"choices"`
	Size     sizeJSON     `json:"size"`
	From     int          `json:"from"`
	Runs     int          `json:"runs"`
	Minimal  bool         `json:"minimal"`
	Nearest  *nearestJSON `json:"nearest_that_holds,omitempty"`
	Blame    []chanceJSON `json:"blame,omitempty"`
	Verdict  string       `json:"verdict"`
	Digest   string       `json:"digest"`
	Stored   string       `json:"stored"`
	ExitCode int          `json:"exit_status"`
}

type choiceJSON struct {
	Key   string `json:"key"`
	N     uint64 `json:"n"`
	Value string `json:"value"`
	Text  string `json:"text"`
}

type sizeJSON struct {
	Total     int `json:"total"`
	Steps     int `json:"steps"`
	Instances int `json:"instances"`
	Faults    int `json:"faults"`
	Choices   int `json:"choices"`
}

func (s *shrunk) violation() campaign.Violation {
	return campaign.Violation{Seed: s.seed, Violation: s.small.First}
}

func (s *shrunk) json(status int) shrunkJSON {
	z := s.small.Size()
	out := shrunkJSON{
		Schema: schema, Verb: "shrink", Scenario: s.subject.scenario.Name, Seed: decimal(s.seed),
		Violations: []violationJSON{newViolationJSON(s.violation(), s.repro)}, Plan: string(scenario.Format(s.small.Plan)), Choices: []choiceJSON{},
		Size: sizeJSON{z.Total(), z.Steps, z.Instances, z.Faults, z.Choices}, From: s.small.From.Total(), Runs: s.small.Runs, Minimal: s.small.Minimal,
		Verdict: s.small.Entry(s.seed, "").Verdict, Digest: s.small.Result.Digest.String(), Stored: s.stored, ExitCode: status,
	}
	if n, ok := s.small.Nearest(); ok {
		out.Nearest = &nearestJSON{Without: n.Without, Instead: n.Instead, Alike: n.Same, Fails: lineText(n.Fails), Holds: lineText(n.Holds)}
	}
	for _, c := range s.blame() {
		out.Blame = append(out.Blame, chanceJSON{c.Step, c.Failed, c.Draws, lineText(c.Line)})
	}
	texts := s.small.ChoiceTexts()
	for i, c := range s.small.Choices.Choices {
		out.Choices = append(out.Choices, choiceJSON{c.Key.String(), c.N, decimal(c.Value), texts[i]})
	}
	for _, c := range s.small.Choices.Priorities {
		out.Choices = append(out.Choices, choiceJSON{c.Key.String(), 0, decimal(c.Value), "comes after other events that are due at the same time"})
	}
	return out
}

func (a *app) printShrunk(s *shrunk) {
	small := s.small
	a.printf("%s\n\n", a.style.title(fmt.Sprintf("%s, seed %d: the smallest plan found that violates %s", s.subject.scenario.Name, s.seed, ruleName(small.First))))
	a.printViolation(s.violation())
	a.printf("\n%s", small.Text())
	a.printNearest(s)
	a.printBlame(s)
	a.printf("\nsize %s, from %s, in %s\n", small.Size(), grouped(uint64(small.From.Total())), plural(uint64(small.Runs), "run", "runs"))
	if small.Minimal {
		a.printf("every remaining part is needed for the violation\n")
	} else {
		a.printf("the search reached its bound on runs: a larger --runs may give a smaller plan\n")
	}
	if s.stored != "" {
		a.printf("stored run: %s\n", s.stored)
	}
	a.printf("\nTo see it again:\n%s\n", s.repro)
}
