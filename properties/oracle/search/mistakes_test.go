package search

import (
	"context"
	"maps"
	"regexp"
	"slices"
	"testing"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/call"
	"github.com/durosim/durosim/internal/sample"
	"github.com/durosim/durosim/properties/undertest"
)

// soonSeen is how many sequences may pass before a mistake shows that depends on what a few calls did before.
const soonSeen = 200

// inner is the provider behind a mistake.
type inner func(c call.Call) call.Answer

// mistakes are providers that answer wrongly in states that independent random calls seldom reach. Each returns how a
// store handles calls.
var mistakes = map[string]func(do inner) inner{
	"a custom status that does not change is no new version": func(do inner) inner {
		held, fewer := map[string]string{}, map[string]uint64{}
		return func(c call.Call) call.Answer {
			switch r := c.(type) {
			case call.FetchOrchestrationItem:
				a := do(c)
				if a.Orchestration != nil {
					held[a.Orchestration.LockToken] = a.Orchestration.Item.Instance
				}
				return a
			case call.AckOrchestrationItem:
				in := held[r.LockToken]
				before := do(call.GetCustomStatus{Instance: in}).CustomStatus
				a := do(c)
				after := do(call.GetCustomStatus{Instance: in}).CustomStatus
				switch {
				case before == nil || after == nil:
					fewer[in] = 0
				case after.Version > before.Version && sameStatus(before.Status, after.Status):
					fewer[in]++
				}
				return a
			case call.GetCustomStatus:
				r.LastSeen += fewer[r.Instance]
				a := do(r)
				if a.CustomStatus != nil {
					a.CustomStatus.Version -= fewer[r.Instance]
				}
				return a
			}
			return do(c)
		}
	},
	"a status without an output keeps the one before": func(do inner) inner {
		type key struct {
			in        string
			execution uint64
		}
		held, kept := map[string]string{}, map[key]*string{}
		return func(c call.Call) call.Answer {
			a := call.Answer{}
			switch r := c.(type) {
			case call.AckOrchestrationItem:
				at := key{held[r.LockToken], r.ExecutionID}
				was := do(call.GetExecutionInfo{Instance: at.in, ExecutionID: at.execution}).Execution
				if a = do(c); a.Err == nil && r.Metadata.Status != "" {
					if r.Metadata.Output != nil {
						delete(kept, at)
					} else if was != nil && was.Output != nil {
						kept[at] = was.Output
					}
				}
			default:
				a = do(c)
			}
			if a.Orchestration != nil {
				held[a.Orchestration.LockToken] = a.Orchestration.Item.Instance
			}
			if r, ok := c.(call.GetExecutionInfo); ok && a.Execution != nil && a.Execution.Output == nil {
				a.Execution.Output = kept[key{r.Instance, r.ExecutionID}]
			}
			return a
		}
	},
	"a running descendant does not keep its root": func(do inner) inner {
		return func(c call.Call) call.Answer {
			if r, ok := c.(call.DeleteInstance); ok {
				info := do(call.GetInstanceInfo{Instance: r.Instance}).Info
				r.Force = r.Force || info != nil && info.Status != engine.StatusRunning
				return do(r)
			}
			return do(c)
		}
	},
	"bounds keep their pre-release, and pins do not": lossy(`"max":"2.0.0-rc.1"`, `"max":"1.9999.9999"`),
	"the lower end of a range has no patch":          lossy(`(versions":\[{"min":"\d+\.\d+)\.\d+"`, `$1.0"`),
	"ids equal but for case":                         lossy(`("\w*instance\w*":)"a"`, `$1"A"`),
	"ids equal but for a blank":                      lossy(`("\w*instance\w*":)"b "`, `$1"b"`),
	"keys equal but for case":                        lossy(`"key":"K"`, `"key":"k"`),
	"keys equal but for a blank":                     lossy(`"key":"k "`, `"key":"k"`),
	"sessions equal but for case":                    lossy(`"Act",("input":"",)"session_id":"S1"`, `"Act1",$1"session_id":"s1"`, `"Act1",(.*?)"s1"`, `"Act",$1"S1"`),
	"a tag that begins like its own":                 lossy(`"Act",("input":"",("session_id":"..",)?)"tag":"gpu-large"`, `"Act2",$1"tag":"gpu"`, `"Act2",(.*?)"gpu"`, `"Act",$1"gpu-large"`),
	"an empty output taken for none":                 lossy(`"output":""`, `"output":null`),
	"an empty status taken for none":                 lossy(`"status":""`, `"status":null`),
	"ten worker items of an ack":                     lossy(`("worker_items":\[(.[^{}]*.[^{}]*}},){9}.[^{}]*.[^{}]*}})(,.[^{}]*.[^{}]*}})+`, `$1`),
	"ids of 255 bytes":                               lossy(`("\w*instance\w*":"x+)[cd]"`, `$1"`),
	"keys of 255 bytes":                              lossy(`("key":"x+)k"`, `$1"`),
	"a filter with a tag of 255 bytes":               lossy(`(\["x+)g"`, `$1"`),
	"texts of 64 KiB in messages":                    lossy(`("data":"x+)t"`, `$1"`),
	"texts of 64 KiB in outputs":                     lossy(`("output":"x+)t"`, `$1"`),
	"numbers through float64":                        lossy(`1152921504606846977`, `1152921504606846976`),
	"text in NFC":                                    lossy("e\u0301", "é"),
	"text without CR":                                lossy(`\\r\\n`, `\n`),
}

// lossy returns a store that takes what it hears for something else. Its answers have the first again where two more
// texts say how.
func lossy(heard, taken string, back ...string) func(do inner) inner {
	back = append(back, "^$", "")
	hear, say := regexp.MustCompile(heard), regexp.MustCompile(back[0])
	return func(do inner) inner {
		return func(c call.Call) call.Answer {
			text, err := call.EncodeCall(c)
			if other, failed := call.DecodeCall(call.Method(c), hear.ReplaceAll(text, []byte(taken))); err == nil && failed == nil {
				c = other
			}
			a := do(c)
			text, err = call.EncodeResult(call.Method(c), a)
			if other, failed := call.DecodeResult(call.Method(c), say.ReplaceAll(text, []byte(back[1]))); a.Err == nil && err == nil && failed == nil {
				a = other
			}
			return a
		}
	}
}

func sameStatus(a, b *string) bool { return a == b || a != nil && b != nil && *a == *b }

// TestMistakesInRareStates checks that sequences lead to the states in which some mistakes show.
func TestMistakesInRareStates(t *testing.T) {
	right := inMemory(nil)
	for _, name := range sample.Of(slices.Sorted(maps.Keys(mistakes)), 12) {
		t.Run(name, func(t *testing.T) {
			wrong := undertest.Factory{New: func() (*undertest.Store, error) {
				in, err := right.New()
				whole := in.Provider
				handle := mistakes[name](func(c call.Call) call.Answer { return call.Perform(context.Background(), whole, c) })
				in.Provider = call.Through("wrong", "1", true, func(_ context.Context, c call.Call) call.Answer { return handle(c) })
				return in, err
			}}
			if searched(t, wrong, Options{Sequences: soonSeen}).Unknown() == nil {
				t.Errorf("not seen in %d sequences", soonSeen)
			}
		})
	}
}
