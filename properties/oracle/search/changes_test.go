package search

import (
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/call"
	"github.com/durosim/durosim/internal/rig"
	"github.com/durosim/durosim/internal/sample"
	"github.com/durosim/durosim/properties/oracle"
	"github.com/durosim/durosim/properties/undertest"
)

var (
	index = regexp.MustCompile(`\[\d+\]`)
	event = regexp.MustCompile(`\{"?(?i:event_?id)"?:(\d+).*?\}(, got|\]? \[docs)`)
)

// TestEachChangedAnswer changes the answers of some sequences, one place at a time. For each method and place, it
// prints why the first changed answer is refused. Places whose changes are never refused are listed as free.
func TestEachChangedAnswer(t *testing.T) {
	datadriven.RunTest(t, "testdata/changes.txt", func(t *testing.T, d *datadriven.TestData) string {
		c := changer{refused: map[string]string{}, allowed: map[string]int{}, options: oracle.Options{Deny: append(undertest.Chosen(), "F5")}}
		for seed := range uint64(30) {
			c.oracle, c.before = oracle.New(c.options), nil
			sample.Must(sequence(inMemory(nil), oracle.Options{}, seed, map[string]bool{}, func(e oracle.Exchange) { c.judge(t, e) }))(t)
		}
		var lines []string
		for _, place := range slices.Sorted(maps.Keys(c.refused)) {
			lines = append(lines, place+"\n  "+c.refused[place])
		}
		for _, place := range slices.Sorted(maps.Keys(c.allowed)) {
			if c.refused[place] == "" {
				lines = append(lines, "free: "+place)
			}
		}
		return rig.Brief{}.Of(strings.Join(lines, "\n"))
	})
}

// changer judges changed answers, each in the state that the calls before it led to.
type changer struct {
	options oracle.Options
	oracle  *oracle.Oracle
	before  []oracle.Exchange
	refused map[string]string // the reason, keyed by method and place
	allowed map[string]int    // how often a change in this place was allowed
}

func (c *changer) judge(t *testing.T, e oracle.Exchange) {
	e.Answer.Err = plain(e.Answer.Err)
	was := reflect.ValueOf(e.Answer)
	rig.Change(&e.Answer, func(path string) {
		field, _, _ := strings.Cut(strings.Fields(path)[0], ".")
		if name, _, _ := strings.Cut(field, "["); !was.FieldByName(name).IsZero() { // this method's answers have no other fields
			c.try(e, path)
		}
	})
	for _, other := range []struct {
		what   string
		answer call.Answer
	}{
		{"nothing", call.Answer{}}, {"refused", call.Answer{Err: &engine.ProviderError{Message: "no"}}},
		{"busy", call.Answer{Err: &engine.ProviderError{Retryable: true, Message: "busy"}}},
	} {
		changed := e
		changed.Answer = other.answer
		c.try(changed, "is "+other.what)
	}
	if r := c.oracle.Apply(e); r != nil {
		t.Fatalf("the answer itself is refused: %s", r)
	}
	c.before = append(c.before, e)
}

// plain returns an error as a value whose fields can be changed.
func plain(err error) error {
	if p, ok := err.(*engine.ProviderError); ok {
		return &engine.ProviderError{Message: p.Message, Retryable: p.Retryable}
	}
	return err
}

// enough is how often a change may be allowed before it is no longer tried.
const enough = 40

func (c *changer) try(e oracle.Exchange, path string) {
	place := call.Method(e.Call) + " " + index.ReplaceAllString(path, "[]")
	if c.allowed[place] >= enough && c.refused[place] == "" {
		return
	}
	r := c.oracle.Apply(e)
	if r == nil {
		c.allowed[place]++
		c.oracle = oracle.New(c.options)
		for _, was := range c.before {
			c.oracle.Apply(was)
		}
		return
	}
	if c.refused[place] == "" {
		_, reasons, _ := strings.Cut(r.Error(), "answered")
		_, reasons, _ = strings.Cut(reasons, "\n")
		c.refused[place] = event.ReplaceAllString(strings.TrimSpace(reasons), "{event $1}$2")
	}
}
