package memprovider_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	diff "github.com/google/go-cmp/cmp"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/memprovider"
	"github.com/durosim/durosim/properties/conformance"
)

// world is a store with one handle, which plays scripts in the language of the cases of properties/conformance (its
// operations.go lists the operations).
type world struct {
	fullHandle
	*conformance.Script
	store *memprovider.Store
	seen  recorder
	// arrival is the call that waits inside the store.
	arrival *memprovider.Arrival
}

var ctx = context.Background()

func newWorld(options memprovider.Options) *world {
	w := &world{}
	options.Sink = &w.seen
	options.StartMs = 1000
	options.Recheck = true
	w.store = memprovider.New(options)
	w.fullHandle = handleOf(w.store, build("2.0.0").Codec, observe.Caller{Node: 1, Incarnation: 1})
	w.Script = conformance.NewScript(&conformance.Store{
		Provider: w.fullHandle, NowMs: w.store.Now,
		Advance: func(d time.Duration) { w.store.SetNow(w.store.Now() + d.Milliseconds()) },
		CorruptHistory: func(instance string, execution, event uint64) error {
			return w.store.Damage(instance, execution, event, []byte("{"))
		},
	}, w.operations())
	return w
}

// check plays a script that has the right answers.
func (w *world) check(t *testing.T, script string) {
	t.Helper()
	if got := diff.Diff(script, w.Play(script)); got != "" {
		t.Fatalf("-want +got\n%s", got)
	}
}

// operations are those that only these tests have:
//
//	seen                            observations since the last time
//	back MS                         the time goes back
//	arrive fetch|hold TOKEN|delete INSTANCE, resume: a call arrives; the next call is that one
//	spoil MESSAGE                   damages a queued message, by its number
//	preload INSTANCE STATUS
//	opens VERSION [refuses]         whether a program of that schema starts
//	migrate, migrated VERSION [destructive] [failed]: a migration begins, and ends with a version of the schema
//	activate BUILD [early] [restart]: before all are ready; by a node's start
func (w *world) operations() map[string]func(words []string) (string, error) {
	return map[string]func(words []string) (string, error){
		"seen": func([]string) (string, error) {
			lines := w.seen.lines
			w.seen.lines = nil
			return cmp.Or(strings.Join(lines, ", "), "nothing"), nil
		},
		"back": func(words []string) (string, error) {
			w.store.SetNow(w.store.Now() - int64(number(words[0])))
			return "", nil
		},
		"arrive": func(words []string) (string, error) {
			switch words[0] {
			case "fetch":
				w.arrival = w.store.Arrive(observe.CallFetchOrchestrationItem, "", nil)
			case "hold":
				w.arrival = w.store.Arrive(observe.CallNone, w.Token(words[1]), nil)
			case "delete":
				w.arrival = w.store.Arrive(observe.CallNone, "", nil, words[1])
			default:
				return "", errors.New("no such arrival")
			}
			return "", nil
		},
		"resume": func([]string) (string, error) {
			w.store.Resume(w.arrival)
			return "", nil
		},
		"spoil": func(words []string) (string, error) {
			return "", w.store.DamageMessage(observe.MessageNo(number(words[0])), []byte("{"))
		},
		"preload": func(words []string) (string, error) {
			return "", w.store.Preload(memprovider.PreloadedInstance{Instance: words[0], Orchestration: "TestOrch",
				CustomStatus: &words[1], Executions: []memprovider.PreloadedExecution{{ID: 1}}})
		},
		"opens": func(words []string) (string, error) {
			return fmt.Sprint(w.store.Opens(nil, number(words[0]), slices.Contains(words, "refuses"))), nil
		},
		"migrate": func([]string) (string, error) { return fmt.Sprint(w.store.BeginMigration(nil)), nil },
		"migrated": func(words []string) (string, error) {
			w.store.EndMigration(nil, number(words[0]), slices.Contains(words, "destructive"), slices.Contains(words, "failed"))
			return fmt.Sprint("schema ", w.store.Schema()), nil
		},
		"activate": func(words []string) (string, error) {
			w.store.Activate(nil, words[0], !slices.Contains(words, "early"), slices.Contains(words, "restart"))
			return cmp.Or(w.store.Activated(nil), "none"), nil
		},
	}
}

func number(text string) uint64 {
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		panic(err)
	}
	return n
}

func build(version string) *engine.Build {
	for _, b := range engine.ShippedBuilds() {
		if b.Name() == version {
			return b
		}
	}
	panic("no build " + version)
}

func filterOf(text string) *engine.CapabilityFilter {
	lo, hi, _ := strings.Cut(text, "..")
	return engine.FilterFor(engine.VersionRange{Min: engine.MustParseVersion(lo), Max: engine.MustParseVersion(hi)})
}

// recorder records the state observations, in words.
type recorder struct {
	lines []string
}

func (r *recorder) Observe(o *observe.Observation) {
	undo := ""
	if o.Undo {
		undo = "undo "
	}
	switch o.Kind {
	case observe.CallBegin, observe.CallEnd, observe.InstanceNamed:
	case observe.CountChanged:
		r.lines = append(r.lines, fmt.Sprintf("%scount %d: %d to %d", undo, o.Message, o.OldCount, o.NewCount))
	case observe.EventDecoded, observe.EventAppended, observe.EventRemoved:
		r.lines = append(r.lines, fmt.Sprintf("%s%s %d", undo, o.Kind, o.EventID))
	case observe.RowInserted, observe.RowRemoved, observe.RowRestored, observe.MessageMarked, observe.MessageDecoded:
		r.lines = append(r.lines, fmt.Sprintf("%s%s %d", undo, o.Kind, o.Message))
	default:
		r.lines = append(r.lines, undo+o.Kind.String())
	}
}

func startedEvent(id uint64) engine.Event {
	return engine.Event{EventID: id, InstanceID: "any", ExecutionID: 1, DuroxideVersion: "1.0.0",
		Data: eventdata.OrchestrationStarted{Name: "TestOrch", Version: "1.0.0", Input: "{}"}}
}

func scheduledEvent(id uint64) engine.Event {
	return engine.Event{EventID: id, InstanceID: "any", ExecutionID: 1, Data: eventdata.ActivityScheduled{Name: fmt.Sprintf("Activity-%d", id)}}
}

// fullHandle is a handle with its management surface.
type fullHandle interface {
	engine.Provider
	engine.ProviderAdmin
}

func handleOf(store *memprovider.Store, codec engine.Codec, caller observe.Caller) fullHandle {
	return store.Handle(codec, caller).(fullHandle)
}
