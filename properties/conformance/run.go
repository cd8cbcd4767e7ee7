package conformance

import (
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/durosim/durosim/properties/undertest"
)

// Factory makes stores of the provider under test. A Store is one such store, with the ways in which a test can
// manipulate it. Package properties/oracle/search uses the same types.
type (
	Factory = undertest.Factory
	Store   = undertest.Store
)

// T lists the methods of a *testing.T that Run needs.
type T[Sub any] interface {
	Helper()
	Run(name string, ask func(Sub)) bool
	Parallel()
	Skip(args ...any)
	Fatal(args ...any)
	Log(args ...any)
	Cleanup(f func())
}

// Run runs every case as a subtest named after its id. A failure shows the calls so far with their answers, and the
// answers that the contract allows. At the end, Run logs the verdicts by group. t must be the *testing.T of a test. To
// run a single case, use `go test -run 'TestName/AT-01'`.
func Run[Sub T[Sub]](t Sub, f Factory) {
	t.Helper()
	probe, err := f.Make()
	if err != nil {
		t.Fatal("the factory cannot be used: " + err.Error())
		return
	}
	realTime := probe.Advance == nil
	probe.Release()
	asked := &tally{verdicts: map[string]Verdict{}}
	t.Cleanup(func() { t.Log("\n" + asked.summary().String()) })
	for _, c := range catalogue {
		t.Run(c.id, func(t Sub) {
			if realTime {
				t.Parallel()
			}
			v := c.ask(f)
			asked.count(c.id, v.Verdict())
			switch {
			case v.Skipped != "":
				t.Skip(v.Skipped)
			case v.Failure != "":
				t.Fatal(v.Failure)
			}
		})
	}
}

// Case describes one conformance case.
type Case struct {
	ID, Name, About string
	// Group is the letters at the start of the id. AT to KV are the groups of the contract's own suite, CF tests
	// capability filters, and BP goes beyond that suite.
	Group string
	// Tags lists what the case needs or tests, such as admin, time, damage or overlap.
	Tags []string
}

// String returns the text that patterns of ids, names and tags are matched against:
// "AT-01 atomicity_failure_rollback #admin".
func (c Case) String() string {
	text := c.ID + " " + c.Name
	for _, tag := range c.Tags {
		text += " #" + tag
	}
	return text
}

// Cases returns all cases, in the order in which Run runs them.
func Cases() []Case {
	var list []Case
	for _, c := range catalogue {
		list = append(list, c.describe())
	}
	return list
}

// Result is the outcome of one case. At most one of Failure and Skipped is set.
type Result struct {
	Case
	// Failure is the message that Run would fail with. Skipped names what the case needs and the store lacks.
	Failure, Skipped string
}

// Ask runs the cases with the given ids, or all cases if no ids are given. It runs them one after another, outside go
// test. It panics if an id is unknown.
func Ask(f Factory, ids ...string) []Result {
	if len(ids) == 0 {
		for _, c := range catalogue {
			ids = append(ids, c.id)
		}
	}
	var results []Result
	for _, id := range ids {
		i := slices.IndexFunc(catalogue, func(c testCase) bool { return c.id == id })
		if i < 0 {
			panic("conformance: no case has the id " + id)
		}
		results = append(results, catalogue[i].ask(f))
	}
	return results
}

// stretches are the factors by which a case's seconds are lengthened, one after another, while the machine is too slow
// for a verdict.
var stretches = []int{1, 4, 16}

// ask runs one case, with longer seconds if the machine is too slow.
func (c testCase) ask(f Factory) (r Result) {
	for _, stretch := range stretches {
		late := false
		if r, late = c.attempt(f, stretch); r.Failure == "" || !late {
			break
		}
	}
	r.Case = c.describe()
	return r
}

// attempt runs a case once. late means that the machine was so slow that a failure says nothing.
func (c testCase) attempt(f Factory, stretch int) (r Result, late bool) {
	w := &caseRun{factory: f, stretch: stretch, began: time.Now(), marks: map[string]uint64{}}
	defer func() {
		for _, in := range w.all {
			in.Release()
		}
	}()
	defer func() {
		if err := w.broken(); err != nil {
			_ = recover() // whatever the case made of it, no answer came
			r.Failure = c.report(w, err.Error())
			return
		}
		late = w.late()
		if lacking := w.lacking(); lacking != "" {
			_ = recover() // whatever the panic was, the missing method explains it
			r.Skipped = "the provider does not have " + lacking
			return
		}
		switch p := recover().(type) {
		case nil:
		case missing:
			r.Skipped = string(p)
		case failure:
			r.Failure = c.report(w, string(p))
		case mistake:
			panic(fmt.Sprintf("conformance: %s: %s", c.id, string(p)))
		default:
			w.all = nil // it may still hold its locks, so it is not released
			r.Failure = c.report(w, fmt.Sprintf("the provider panicked: %v\n%s", p, debug.Stack()))
		}
	}()
	w.fresh()
	switch {
	case c.code != nil:
		c.code(w)
	case strings.Contains(c.script, tornOp):
		w.playTorn(c.script)
	default:
		w.play(c.script)
	}
	return Result{}, false
}

// report returns the complete failure message.
func (c testCase) report(w *caseRun, what string) string {
	text := fmt.Sprintf("%s %s\n%s\n", c.id, c.name, c.about)
	for _, line := range w.done {
		text += "\n    " + line
	}
	return text + "\n\n" + what
}

// A case ends with one of these panics: the provider broke the contract, the store lacks something that the case needs,
// or the case itself is wrong.
type (
	failure string
	missing string
	mistake string
)

func fail(format string, args ...any)  { panic(failure(fmt.Sprintf(format, args...))) }
func lacks(what string)                { panic(missing(what)) }
func mistaken(format string, a ...any) { panic(mistake(fmt.Sprintf(format, a...))) }
func must[T any](v T, err error) T     { check(err); return v }
func check(err error) {
	if err != nil {
		fail("got an error: %v", err)
	}
}

// lateness is how long a case's calls may take in total, in the case's own seconds, before its times become
// meaningless.
const lateness = 100 * time.Millisecond
