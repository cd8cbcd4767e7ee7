package selfcheck_test

import (
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/call"
	"github.com/durosim/durosim/engine/machine"
	"github.com/durosim/durosim/internal/rig"
	"github.com/durosim/durosim/sim"
	"github.com/durosim/durosim/sim/cluster"
)

// changes retells a story many times, each time with a single value of one line's record changed.
func changes(t *testing.T, d *datadriven.TestData, lines []string, at int, said map[string]bool) (out []string) {
	var told parts
	first := newTeller(t, d)
	first.tell(lines[:at+1], func(i int, r *cluster.Record) {
		if i == at {
			told = partsOf(r)
		}
	})
	rig.Change(&told, func(path string) {
		if !strings.Contains(path, ".") && strings.Contains(path, " ") {
			return // a record always has the parts that belong to its kind
		}
		if told.Note != nil && told.Note.Decision > machine.DecideSwept {
			return // there is no such decision
		}
		again := newTeller(t, d)
		again.tell(lines, func(i int, r *cluster.Record) {
			if i == at {
				told.into(r)
			}
		})
		for _, text := range again.all {
			if !said[text] {
				out = append(out, path+"\n  "+text)
				return
			}
		}
	})
	return out
}

// parts holds the values of a record that changes modifies.
type parts struct {
	Late  int  // how many times 2.001 ms late; one is more than rounding explains
	Early bool // early by the same amount
	AtMs  int64
	Step  uint64
	// How the caller waits.
	Deadline, Cadence time.Duration
	Once              bool

	Text    string
	Count   int
	Request call.Call
	Fetched *engine.FetchedOrchestration
	Work    *engine.FetchedWork
	Note    *cluster.Note
	Log     *cluster.Log
}

func partsOf(r *cluster.Record) parts {
	return parts{AtMs: r.AtMs, Step: r.Step, Deadline: r.Deadline, Cadence: r.Cadence, Once: r.Once, Text: r.Text, Count: r.Count, Request: r.Request, Fetched: r.Fetched, Work: r.Work, Note: r.Note, Log: r.Log}
}

func (p parts) into(r *cluster.Record) {
	if r.At += sim.Time(2001 * p.Late); p.Early {
		r.At -= 2001
	}
	r.Step, r.Deadline, r.Cadence, r.Once = p.Step, p.Deadline, p.Cadence, p.Once
	r.AtMs, r.Text, r.Count, r.Request, r.Fetched, r.Work, r.Note, r.Log = p.AtMs, p.Text, p.Count, p.Request, p.Fetched, p.Work, p.Note, p.Log
}
