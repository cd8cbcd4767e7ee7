package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/durosim/durosim/internal/campaign"
	"github.com/durosim/durosim/properties"
	"github.com/durosim/durosim/sim"
	"github.com/durosim/durosim/sim/scenario"
)

// shrunk is a shrunk run, ready to be shown.
type shrunk struct {
	subject *subject
	seed    uint64
	small   *properties.Shrunk
	stored  string
	repro   string
}

// shrunkJSON is what --json prints for shrink.
type shrunkJSON struct {
	Schema     int             `json:"schema"`
	Verb       string          `json:"verb"`
	Scenario   string          `json:"scenario"`
	Seed       string          `json:"seed"`
	Violations []violationJSON `json:"violations"`
	// Plan is the text of the plan; Choices are the choices that are not the benign one.
	Plan     string       `json:"plan"`
	Choices  []choiceJSON `json:"choices"`
	Size     sizeJSON     `json:"size"`
	From     int          `json:"from"`
	Runs     int          `json:"runs"`
	Minimal  bool         `json:"minimal"`
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
		Verdict: s.subject.shrunkEntry(s.seed, s.small).Verdict, Digest: s.small.Result.Digest.String(), Stored: s.stored, ExitCode: status,
	}
	for _, c := range s.small.Choices.Choices {
		out.Choices = append(out.Choices, choiceJSON{c.Key.String(), c.N, decimal(c.Value), choiceText(c)})
	}
	for _, c := range s.small.Choices.Priorities {
		out.Choices = append(out.Choices, choiceJSON{c.Key.String(), 0, decimal(c.Value), priorityText(c)})
	}
	return out
}

func (a *app) printShrunk(s *shrunk) {
	small := s.small
	a.printf("%s\n\n", a.style.title(fmt.Sprintf("%s, seed %d: the smallest plan found that violates %s", s.subject.scenario.Name, s.seed, propertyName(small.First.Property))))
	for line := range strings.Lines(string(scenario.Format(small.Plan))) {
		switch word, _, _ := strings.Cut(strings.TrimSpace(line), " "); word {
		case "scenario", "fault": // the title says the one; of the other only those matter that happen, below
		case "":
			a.printf("\n")
		default:
			a.printf("    %s", line)
		}
	}
	if r := small.Choices; len(r.Choices)+len(r.Priorities) > 0 {
		a.printf("\n  what goes wrong or takes longer, and nothing else does:\n")
		for _, c := range r.Choices {
			a.printf("    %s\n", choiceText(c))
		}
		for _, c := range r.Priorities {
			a.printf("    %s\n", priorityText(c))
		}
	}
	if small.Choices.SeededOrder {
		a.printf("\n  events due at the same time come in the order of seed %d\n", small.Choices.Seed)
	}
	a.printf("\n")
	a.printViolation(s.violation())
	a.printf("\nsize %s, from %s, in %s\n", small.Size(), grouped(uint64(small.From.Total())), plural(uint64(small.Runs), "run", "runs"))
	if small.Minimal {
		a.printf("nothing can be left out without losing the violation\n")
	} else {
		a.printf("the bound on runs was reached: it may go on with a larger --runs\n")
	}
	if s.stored != "" {
		a.printf("stored run: %s\n", s.stored)
	}
	a.printf("\nTo see it again, from the root of the module:\n%s\n", s.repro)
}

// choiceText says in words what a choice that is not the benign one means.
func choiceText(c sim.RecordedChoice) string {
	where, what := keyText(c.Key)
	switch {
	case strings.HasPrefix(what, "fault "):
		if c.N == 2 {
			return where + ": " + what
		}
		return fmt.Sprintf("%s: %s, number %d of %d", where, what, c.Value, c.N-1)
	case c.N == 2:
		return where + ": takes a typical time, not the least"
	}
	return fmt.Sprintf("%s: takes %v longer than the least", where, time.Duration(c.Value)*time.Microsecond)
}

func priorityText(c sim.RecordedChoice) string {
	where, what := keyText(c.Key)
	return strings.TrimSpace(where+" "+what) + ": comes behind what is due at the same time"
}

// keyText is the place that a key names, in words, and the purpose of its last segment where that is a fault.
func keyText(k sim.Key) (where, what string) {
	var words []string
	for _, segment := range strings.Split(k.String(), "/") {
		label, value, _ := strings.Cut(segment, ":")
		switch label {
		case "incarnation":
			words = append(words, "start "+value)
		case "job":
			words = append(words, "turn or activity "+value)
		case "request":
			words = append(words, "on its way to the store")
		case "answer":
			words = append(words, "on its way back")
		case "fault":
			what = "fault " + value
		case "amount":
		default:
			words = append(words, strings.TrimSpace(label+" "+value))
		}
	}
	return strings.Join(words, ", "), what
}
