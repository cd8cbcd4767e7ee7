package shrink

import (
	"fmt"
	"strings"
	"time"

	"github.com/durosim/durosim/internal/pretty"
	"github.com/durosim/durosim/sim"
	"github.com/durosim/durosim/sim/scenario"
)

// Text describes the concrete plan: first nodes, instances and schedule in the scenario language, then faults and
// delays. It leaves out fault rates, because nothing is drawn from them, and counts the faults and delays after the first
// 40: a plan with more is not yet small (ChoiceTexts has all).
func (c Concrete) Text() string {
	var b strings.Builder
	for line := range strings.Lines(string(scenario.Format(c.Plan))) {
		switch word, _, _ := strings.Cut(strings.TrimSpace(line), " "); word {
		case "scenario", "fault":
		case "":
			b.WriteByte('\n')
		default:
			b.WriteString("    " + line)
		}
	}
	var names []string
	for i := range c.Plan.Instances {
		if in := &c.Plan.Instances[i]; in.Existing {
			names = append(names, in.ID)
		}
	}
	if len(names) > 0 {
		fmt.Fprintf(&b, "\n  in the store at the start: %s\n", strings.Join(names, ", "))
	}
	if r := c.Choices; len(r.Choices)+len(r.Priorities) > 0 {
		b.WriteString("\n  what goes wrong or takes longer, and nothing else does:\n")
		texts := c.ChoiceTexts()
		for _, p := range r.Priorities {
			where, what := keyText(p.Key)
			texts = append(texts, strings.TrimSpace(where+" "+what)+": comes after other events that are due at the same time")
		}
		for _, text := range texts[:min(len(texts), textChoices)] {
			fmt.Fprintf(&b, "    %s\n", text)
		}
		if more := len(texts) - textChoices; more > 0 {
			fmt.Fprintf(&b, "    and %d more\n", more)
		}
	}
	if c.Choices.SeededOrder {
		fmt.Fprintf(&b, "\n  events due at the same time come in the order of seed %d\n", c.Choices.Seed)
	}
	return strings.TrimLeft(b.String(), "\n")
}

// textChoices is how many faults and delays Text lists.
const textChoices = 40

// ChoiceTexts describes each choice in Choices.Choices. Their keys must be readable.
func (c Concrete) ChoiceTexts() []string {
	return pretty.Texts(c.Choices.Choices, choiceText)
}

// choiceText describes a recorded choice, which must not be benign.
func choiceText(c sim.RecordedChoice) string {
	where, what := keyText(c.Key)
	switch {
	case what != "" && c.N == 2:
		return where + ": " + what
	case what != "":
		return fmt.Sprintf("%s: %s, number %d of %d", where, what, c.Value, c.N-1)
	case c.N == 2:
		return where + ": takes a typical time, not the least"
	}
	return fmt.Sprintf("%s: takes %v longer than the least", where, time.Duration(c.Value)*time.Microsecond)
}

// keyText describes the place in a key, and the fault in its last segment.
func keyText(k sim.Key) (where, what string) {
	var words []string
	for segment := range strings.SplitSeq(k.String(), "/") {
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
