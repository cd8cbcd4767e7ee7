package properties

import (
	"slices"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/sim/cluster"
)

// Options say what a Monitor watches. The zero value watches everything that always holds.
type Options struct {
	// Properties are the ids to check ("S01"); nil is all of Catalogue. The comparison with the shadow store goes by the
	// id "shadow".
	Properties []string
	// Without are ids that are not reported, although Properties or the default asks for them.
	Without []string
	// Expectations are what a scenario expects beside that, whatever Properties says.
	Expectations []cluster.Expectation
	// Referee has properties/oracle judge every answer of the store. It is naive, and slow for long runs. A refusal is
	// reported under the id "referee".
	Referee bool
}

// New makes the monitor of one run, for cluster.Config.Monitor. A monitor is good for one run.
func New(w *cluster.World, opts Options) *Monitor { return newMonitor(w, opts) }

func newMonitor(w world, opts Options) *Monitor {
	m := &Monitor{w: w, opts: opts, count: make(map[string]int), store: newModel(w.Builds())}
	if opts.Properties != nil {
		m.on = make(map[string]bool)
		for _, id := range opts.Properties {
			m.on[id] = true
		}
		m.on[expectID] = len(opts.Expectations) > 0
		m.on[refereeID] = opts.Referee
	}
	m.byKind = make([][]checker, observationKinds())
	m.byRecord = make([][]checker, recordKinds())
	for _, s := range safetyCheckers {
		for _, id := range s.ids {
			if m.wants(id) {
				m.add(s.make(m))
				break
			}
		}
	}
	if opts.Referee {
		m.referee = newReferee(m)
		m.add(m.referee)
	}
	for _, c := range liveCheckers(m) {
		m.add(c)
	}
	return m
}

// safetyCheckers are the checkers of this half of the package, with the properties that each reports.
var safetyCheckers = []struct {
	ids  []string
	make func(m *Monitor) checker
}{
	{[]string{"S01", "S02", "S03"}, newFilterChecker},
	{[]string{"S04"}, newCountChecker},
	{[]string{"S05"}, newLockChecker},
	{[]string{"S06"}, newAtomicChecker},
	{[]string{"S07"}, newHistoryChecker},
	{[]string{"S08", "S09", "S10", "S23"}, newCommitChecker},
	{[]string{"S11"}, newReplayChecker},
	{[]string{"S12"}, newConserveChecker},
	{[]string{"S13"}, newCompletionChecker},
	{[]string{"S14"}, newDeletionChecker},
	{[]string{"S15"}, newDelayChecker},
	{[]string{"S16"}, newRoutingChecker},
	{[]string{"S17"}, newStateChecker},
	{[]string{"S18"}, newVisibleErrorChecker},
	{[]string{"S19"}, newKeptChecker},
	{[]string{"S20"}, newOutputChecker},
	{[]string{"S21"}, newPhantomChecker},
	{[]string{shadowID}, newShadowChecker},
}

// wants says whether a property is checked.
func (m *Monitor) wants(id string) bool {
	return (m.on == nil || m.on[id]) && !slices.Contains(m.opts.Without, id)
}

// add enters a checker for what it wants to see.
func (m *Monitor) add(c checker) {
	m.checkers = append(m.checkers, c)
	if s, ok := c.(stepper); ok {
		m.steppers = append(m.steppers, s)
	}
	s, ok := c.(selective)
	if !ok {
		for k := range m.byKind {
			m.byKind[k] = append(m.byKind[k], c)
		}
		for k := range m.byRecord {
			m.byRecord[k] = append(m.byRecord[k], c)
		}
		return
	}
	for _, k := range s.observes() {
		m.byKind[k] = append(m.byKind[k], c)
	}
	for _, k := range s.records() {
		m.byRecord[k] = append(m.byRecord[k], c)
	}
}

// observationKinds is the number of kinds of observations: their enumeration is closed, and what is behind its end
// has no name.
func observationKinds() int {
	k := engine.ObsNone
	for k.String() != (engine.ObsNone + 255).String() {
		k++
	}
	return int(k)
}

// recordKinds is the number of kinds of records.
func recordKinds() int {
	k := cluster.RecNone
	for k.String() != (cluster.RecNone + 255).String() {
		k++
	}
	return int(k)
}
