package turn_test

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/asked"
	"github.com/durosim/durosim/engine/orch"
	"github.com/durosim/durosim/internal/rig"
)

var index = regexp.MustCompile(`\[\d+\]`)

// TestEachChange changes turns and the calls of their code in each place, and prints the kinds of places whose changes
// the checker never objects to.
func TestEachChange(t *testing.T) {
	turns := busyTurns(t)
	turns = append(turns, ends(t, func(ctx *orch.Context) (string, error) { ctx.ContinueAsNewVersioned("1.0.1", "more"); return "", nil }),
		ends(t, func(*orch.Context) (string, error) { panic("no") }))
	datadriven.RunTest(t, "testdata/changes.txt", func(*testing.T, *datadriven.TestData) string {
		refused, free := map[string]bool{}, map[string]bool{}
		for i := range turns {
			j := &turns[i]
			check := func(place string) {
				if len(j.wrong()) == 0 {
					free[place] = true
				} else {
					refused[place] = true
				}
			}
			for n := range j.turn.Ack.HistoryDelta {
				e := &j.turn.Ack.HistoryDelta[n]
				kind := e.Kind()
				rig.Change(&e.Data, func(path string) { check(fmt.Sprintf("event %s %s", kind, index.ReplaceAllString(path, "[]"))) })
			}
			kinds := make([]engine.EventKind, len(j.turn.Ack.HistoryDelta))
			for n := range kinds {
				kinds[n] = j.turn.Ack.HistoryDelta[n].Kind()
			}
			for n, kind := range kinds {
				whole := j.turn.Ack.HistoryDelta
				j.turn.Ack.HistoryDelta = slices.Delete(slices.Clone(whole), n, n+1)
				check(fmt.Sprintf("event %s is missing", kind))
				j.turn.Ack.HistoryDelta = slices.Insert(slices.Clone(whole), n, whole[n])
				check(fmt.Sprintf("event %s is repeated", kind))
				j.turn.Ack.HistoryDelta = whole
			}
			rig.Change(&j.turn.Ack.OrchestratorItems, func(path string) { check("message " + index.ReplaceAllString(path, "[]")) })
			rig.Change(&j.turn.Batch, func(path string) { check("batch " + index.ReplaceAllString(path, "[]")) })
			rig.Change(&j.turn.Keys, func(path string) { check("keys " + index.ReplaceAllString(path, "[]")) })
			calls := slices.Clone(j.calls)
			rig.Change(&j.calls, func(path string) {
				if strings.HasSuffix(path, "Details gone") || strings.HasSuffix(path, "Action gone") || strings.HasSuffix(path, "].Kind") {
					return // a call always has the parts that belong to its kind
				}
				kind, rest, of := strings.Cut(strings.TrimPrefix(path, "["), "]")
				if n, err := strconv.Atoi(kind); of && err == nil {
					check(fmt.Sprintf("call %s %s", callName(calls[n].Kind), index.ReplaceAllString(rest, "[]")))
				} else {
					check("calls" + path)
				}
			})
		}
		var lines []string
		for _, place := range slices.Sorted(maps.Keys(free)) {
			if !refused[place] {
				lines = append(lines, "free: "+place)
			}
		}
		return fmt.Sprintf("refused in %d places\n%s", len(refused), strings.Join(lines, "\n"))
	})
}

func callName(k asked.Kind) string { return fmt.Sprintf("of kind %d", k) }
