package orch_test

import (
	"fmt"
	"slices"
	"strings"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/orch"
	"github.com/durosim/durosim/engine/orchhost"
)

// instant is a host that answers everything at once and suspends nobody: an activity or a child gives "name(input)", one
// named "bad" fails, a timer gives nothing, a wait or a dequeue gives the name of its event. It prints what is scheduled
// and what is updated.
type instant struct {
	results []result // by token
	status  *string
	kv      []engine.KVEntry
}

type result struct {
	value string
	err   error
}

// run runs a handler and prints its end.
func run(h orch.Handler, input string) {
	host := &instant{results: make([]result, 1)}
	defer func() {
		if next, ok := recover().(continued); ok {
			fmt.Printf("continues as new with %q\n", next)
		}
	}()
	output, err := h(orch.NewContext(host), input)
	fmt.Printf("returns %q, %v\n", output, err)
}

type continued string

func (h *instant) Info() orchhost.Info {
	return orchhost.Info{Instance: "order-1", ExecutionID: 1, Name: "Order", Version: "1.0.0"}
}

func (h *instant) Replaying() bool   { return false }
func (h *instant) Trace(text string) { fmt.Println("trace:", text) }

func (h *instant) ScheduleActivity(name, input, session, tag string) orchhost.Token {
	return h.Schedule(orchhost.Action{Kind: orchhost.ActionActivity, Name: name, Input: input, Session: session, Tag: tag})
}

func (h *instant) Schedule(a orchhost.Action) orchhost.Token {
	var r result
	switch a.Kind {
	case orchhost.ActionActivity, orchhost.ActionSubOrchestration:
		fmt.Printf("schedule %s(%s)%s\n", a.Name, a.Input, where(a))
		r.value = a.Name + "(" + a.Input + ")"
		switch a.Name {
		case "bad":
			r = result{"", fmt.Errorf("%s failed", a.Name)}
		case orchhost.SystemNewGUID:
			r.value = "5f3c"
		case orchhost.SystemUTCNowMs:
			r.value = "1500"
		case orchhost.SystemGetKVValue:
			r.value = `"blue"`
		}
	case orchhost.ActionTimer:
		fmt.Printf("timer of %v\n", a.Delay)
	case orchhost.ActionWait, orchhost.ActionWait2:
		fmt.Printf("wait for %s%s\n", a.Name, a.Topic)
		r.value = a.Name + a.Topic
	case orchhost.ActionDequeue:
		fmt.Printf("dequeue %s\n", a.Name)
		r.value = a.Name
	case orchhost.ActionDetached:
		fmt.Printf("start %s as %s\n", a.Name, a.Instance)
		return 0
	}
	return h.add(r)
}

func (h *instant) add(r result) orchhost.Token {
	h.results = append(h.results, r)
	return orchhost.Token(len(h.results) - 1)
}

func (h *instant) Spawn(fn func() (string, error)) orchhost.Token {
	value, err := fn()
	return h.add(result{value, err})
}

func (h *instant) Await(t orchhost.Token) (string, error) {
	return h.results[t].value, h.results[t].err
}

func (h *instant) Select(ts []orchhost.Token) int {
	for _, t := range ts[1:] {
		h.Drop(t)
	}
	return 0
}

func (h *instant) Drop(t orchhost.Token) { fmt.Printf("drop future %d\n", t) }

func (h *instant) ContinueAsNew(version, input string) { panic(continued(version + input)) }

func where(a orchhost.Action) string {
	text := ""
	if a.Session != "" {
		text += " on session " + a.Session
	}
	if a.Tag != "" {
		text += " with tag " + a.Tag
	}
	return text
}

func (h *instant) Update(a orchhost.Action) {
	i, found := slices.BinarySearchFunc(h.kv, a.Name, func(e engine.KVEntry, key string) int { return strings.Compare(e.Key, key) })
	switch a.Kind {
	case orchhost.ActionSetCustomStatus:
		fmt.Println("status", a.Input)
		h.status = &a.Input
	case orchhost.ActionResetCustomStatus:
		fmt.Println("no status")
		h.status = nil
	case orchhost.ActionSetKV:
		fmt.Println("set", a.Name, "to", a.Input)
		if !found {
			h.kv = slices.Insert(h.kv, i, engine.KVEntry{Key: a.Name})
		}
		h.kv[i].Value, h.kv[i].LastUpdatedAtMs = a.Input, uint64(len(h.kv))
	case orchhost.ActionClearKV:
		fmt.Println("clear", a.Name)
		if found {
			h.kv = slices.Delete(h.kv, i, i+1)
		}
	case orchhost.ActionClearAllKV:
		fmt.Println("clear all")
		h.kv = nil
	}
}

func (h *instant) CustomStatus() *string { return h.status }
func (h *instant) KV() []engine.KVEntry  { return h.kv }

func (h *instant) PruneKV(beforeMs uint64) int {
	n := 0
	for _, e := range slices.Clone(h.kv) {
		if e.LastUpdatedAtMs < beforeMs {
			h.Update(orchhost.Action{Kind: orchhost.ActionClearKV, Name: e.Key})
			n++
		}
	}
	return n
}
