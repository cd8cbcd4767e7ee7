package selfcheck_test

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/machine"
	"github.com/durosim/durosim/internal/dev/selfcheck"
	"github.com/durosim/durosim/internal/rig"
	"github.com/durosim/durosim/memprovider"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/plan"
	"github.com/durosim/durosim/sim/record"
)

// TestStories feeds the checker with what nodes do, record by record, and prints the lines that the checker objects to.
// A line is `MS NODE VERB ...` or `MS NODE SLOT VERB ...`; `+` instead of the time puts it into the same step as the
// previous line. If a line starts with `*`, the story is retold with each value of the line's record changed in turn.
// The test then prints the objections that occur for the first time.
//
// Whatever a line leaves out gets the right value, such as the token and count of the last delivery, or the arguments
// that follow from the node's options.
func TestStories(t *testing.T) {
	datadriven.Walk(t, "testdata/stories", func(t *testing.T, path string) {
		brief := rig.Brief{}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			lines := strings.Split(strings.TrimSpace(d.Input), "\n")
			whole := newTeller(t, d)
			whole.tell(lines, nil)
			out := whole.out
			for i, line := range lines {
				if !strings.HasPrefix(line, "*") {
					continue
				}
				if found := changes(t, d, lines, i, whole.said); len(found) > 0 {
					out = append(append(out, line), found...)
				}
			}
			return brief.Of(strings.Join(out, "\n"))
		})
	})
}

// toldWorld is a world whose nodes report the counts that the test sets. They are zero until the checker has said what
// they should be.
type toldWorld struct {
	rig.FakeWorld
	counts [3]map[string]uint64
}

func (w *toldWorld) Counters(node uint32) (c cluster.Counters, ok bool) {
	for i, named := range c.List() {
		reflect.ValueOf(&c).Elem().Field(i).SetUint(w.counts[node][named.Name])
	}
	return c, true
}

// teller tells a story.
type teller struct {
	t    testing.TB
	w    *toldWorld
	m    *selfcheck.Monitor
	call uint64
	held map[string]*delivery // keyed by node and slot
	at   int64
	line string // the current line, or "" once it has been printed
	all  []string
	said map[string]bool
	out  []string
}

func newTeller(t testing.TB, d *datadriven.TestData) *teller {
	w := &toldWorld{FakeWorld: rig.FakeWorld{Now: rig.StartMs, RealStore: memprovider.New(memprovider.Options{}), AllBuilds: engine.ShippedBuilds()}}
	for _, arg := range d.CmdArgs {
		switch arg.Key {
		case "strategy":
			w.ThePlan.Strategy = plan.Strategy(arg.Vals[0])
		case "callers-clock":
			w.ThePlan.Store.CallersClock = true
		}
	}
	for i, name := range []string{"A", "B"} {
		w.Infos = append(w.Infos, cluster.NodeInfo{Number: uint32(i + 1), Name: name})
		w.counts[i+1] = map[string]uint64{}
	}
	l := &teller{t: t, w: w, held: map[string]*delivery{}, said: map[string]bool{}}
	l.m = selfcheck.New(w)
	return l
}

// tell feeds the lines to the checker. before, if not nil, sees each record before the checker does.
func (l *teller) tell(lines []string, before func(line int, r *cluster.Record)) {
	for i, line := range lines {
		words := strings.Fields(strings.TrimPrefix(line, "*"))
		if len(words) < 3 {
			l.t.Fatalf("%q: too few words", line)
		}
		if words[0] != "+" {
			l.endStep()
			at, err := strconv.ParseInt(words[0], 10, 64)
			if err != nil {
				l.t.Fatalf("%q: %v", line, err)
			}
			l.at = at
			l.w.Now = rig.StartMs + at
		}
		if i > 0 {
			l.line = strings.TrimPrefix(line, "*")
		}
		r := l.record(line, words[1:])
		if before != nil {
			before(i, r)
		}
		l.m.Record(r)
		if r.Kind == record.NodeStarted && !slices.Contains(words, "unlogged") {
			l.m.Record(l.filterLine(r))
		}
		l.hear()
	}
	l.endStep()
	l.line = "finish"
	l.learn()
	l.m.Finish()
	l.hear()
	l.counted()
}

// filterLine returns the line that a node logs first, which names its filter.
func (l *teller) filterLine(r *cluster.Record) *cluster.Record {
	logged := *r
	logged.Kind, logged.Log = record.Log, &cluster.Log{
		Level: machine.LevelInfo, Text: "Orchestration dispatcher capability filter configured",
		Fields: []machine.Field{{Name: "supported_range", Value: l.w.Node(r.Node).Filter.String()}},
	}
	return &logged
}

func (l *teller) endStep() {
	l.m.AfterStep()
	l.hear()
}

// hear prints the checker's objections. It resets their number, so that the checker reports more.
func (l *teller) hear() {
	for _, v := range l.take() {
		if l.line != "" {
			l.out = append(l.out, l.line)
			l.line = ""
		}
		l.out = append(l.out, "  "+v)
		l.all = append(l.all, v)
		l.said[v] = true
	}
}

func (l *teller) take() (list []string) {
	if len(l.m.Violations()) == 0 {
		return nil
	}
	for _, v := range l.m.Violations() {
		list = append(list, strings.TrimSpace(v.Node+" "+v.Instance)+": "+strings.TrimPrefix(v.Message, "A (build 2.0.0, start 1) "))
	}
	l.m.Forget()
	return list
}

var miscount = regexp.MustCompile(`counts (\w+) \d+ times: expected (\d+)`)

// learn sets each node's counters to what the checker expects.
func (l *teller) learn() {
	for learned := true; learned; l.take() {
		l.m.Finish()
		learned = false
		for _, v := range l.m.Violations() {
			if f := miscount.FindStringSubmatch(v.Message); f != nil {
				n, _ := strconv.ParseUint(f[2], 10, 64)
				l.w.counts[l.node(v.Node)][f[1]] = n
				l.said[v.Node+f[1]] = true
				learned = true
			}
		}
	}
}

// counted prints the counters of each node.
func (l *teller) counted() {
	for _, info := range l.w.Infos {
		var counts []string
		for _, c := range new(cluster.Counters).List() {
			if n := l.w.counts[info.Number][c.Name]; n > 0 {
				counts = append(counts, fmt.Sprintf("%s %d", c.Name, n))
			}
		}
		if len(counts) > 0 {
			text := info.Name + " counts " + strings.Join(counts, ", ")
			l.out = append(l.out, text)
			l.all = append(l.all, text)
			l.said[text] = true
		}
	}
}

func (l *teller) node(name string) uint32 { return uint32(strings.Index("?AB", name)) }

func (l *teller) duration(text string) time.Duration {
	d, err := time.ParseDuration(text)
	if err != nil {
		l.t.Fatal(err)
	}
	return d
}

func (l *teller) uint(text string, or uint64) uint64 {
	if text == "" {
		return or
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		l.t.Fatal(err)
	}
	return n
}
