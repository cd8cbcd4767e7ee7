package conformance

import (
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/durosim/durosim/properties/undertest"
)

// Factory makes the provider under test; Store is one store with the ways in which a test can manipulate it.
// properties/oracle/search takes the same types.
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

// Run runs every case as a subtest named by its id. A failure shows the calls made so far with their answers, and the
// answers that the contract allows. go test -run 'TestName/AT-01' runs one case. At the end Run logs the verdicts by group.
// Pass the *testing.T of a test.
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
			asked.count(c.id, v.verdict())
			switch {
			case v.missing != "":
				t.Skip(v.missing)
			case v.failure != "":
				t.Fatal(v.failure)
			}
		})
	}
}

// Case describes a case.
type Case struct {
	ID, Name, About string
	// Group holds the letters of the id. AT to KV are the groups of the contract's own suite, CF is about capability
	// filters, and BP goes beyond the suite.
	Group string
	// Tags say what the case needs or tests, such as admin, time, damage, overlap.
	Tags []string
}

// String returns the text against which a pattern of ids, names and tags is matched: "AT-01 atomicity_failure_rollback
// #admin".
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

// Result is what was found out about one case. At most one of Failure and Skipped is set.
type Result struct {
	Case
	// Failure is the text with which Run would fail; Skipped names what the case needs and the store lacks.
	Failure, Skipped string
}

// Ask runs the cases with these ids, or all cases if ids is empty, one after another and outside of go test. It panics
// for an unknown id.
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
		v := catalogue[i].ask(f)
		results = append(results, Result{Case: catalogue[i].describe(), Failure: v.failure, Skipped: v.missing})
	}
	return results
}

// judgement is the verdict on a case. At most one of its texts is set.
type judgement struct {
	failure string
	missing string // what the case needs and the store lacks
}

// stretches are the factors by which the seconds of a case grow while the machine is too slow for a verdict.
var stretches = []int{1, 4, 16}

// ask runs one case.
func (c testCase) ask(f Factory) judgement {
	var v judgement
	for _, stretch := range stretches {
		late := false
		if v, late = c.attempt(f, stretch); v.failure == "" || !late {
			break
		}
	}
	return v
}

// attempt runs a case once, and reports whether the machine was so slow that a failure means nothing.
func (c testCase) attempt(f Factory, stretch int) (v judgement, late bool) {
	w := &caseRun{factory: f, stretch: stretch, began: time.Now(), marks: map[string]uint64{}}
	defer func() {
		for _, in := range w.all {
			in.Release()
		}
	}()
	defer func() {
		late = w.late()
		if lacking := w.lacking(); lacking != "" {
			_ = recover() // whatever comes of it
			v.missing = "the provider does not have " + lacking
			return
		}
		switch p := recover().(type) {
		case nil:
		case missing:
			v.missing = string(p)
		case failure:
			v.failure = c.report(w, string(p))
		case mistake:
			panic(fmt.Sprintf("conformance: %s: %s", c.id, string(p)))
		default:
			v.failure = c.report(w, fmt.Sprintf("the provider panicked: %v\n%s", p, debug.Stack()))
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
	return judgement{}, false
}

// report returns the full text of a failure.
func (c testCase) report(w *caseRun, what string) string {
	text := fmt.Sprintf("%s %s\n%s\n", c.id, c.name, c.about)
	for _, line := range w.done {
		text += "\n    " + line
	}
	return text + "\n\n" + what
}

// These panics end a case: the provider broke the contract, the store lacks what the case needs, or the case is wrong.
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

// lateness is the total time, on the scale of the case, that its calls may take before its times mean nothing.
const lateness = 100 * time.Millisecond
