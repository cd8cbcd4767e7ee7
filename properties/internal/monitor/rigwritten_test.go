package monitor_test

import (
	"cmp"
	"regexp"
	"strings"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/internal/wording"
)

// This file parses events and messages of any kind. Each is a single word that uses the names in package rig:
//
//	5:ActivityScheduled,Name:W,SessionID:s      event 5
//	7<5:ActivityFailed                          event 7, which completes event 5
//	Start,Instance:y,Version:1.0.0              a message

// letters matches what stands for so many letters.
var letters = regexp.MustCompile(`\*[0-9]+`)

// event parses an event of execution 1, which a node of 1.5.0 has written or, as in 1:OrchestrationStarted~2.1.0-rc.1,
// one of that version.
func (r *Rig) event(instance, word string) engine.Event {
	word = letters.ReplaceAllStringFunc(word, func(n string) string { return strings.Repeat("a", int(r.number(n[1:]))) })
	word, by, _ := strings.Cut(word, "~")
	id, rest, _ := strings.Cut(word, ":")
	id, source, completes := strings.Cut(id, "<")
	var front []string
	if completes {
		front = []string{"of=" + source}
	}
	e := wording.EventOf(r.t, int(r.number(id)), r.worded(rest), front...)
	e.InstanceID, e.ExecutionID, e.DuroxideVersion = instance, 1, cmp.Or(by, "1.5.0")
	if r.exact {
		e.TimestampMs = 0
	}
	return e
}

func (r *Rig) item(word string) engine.WorkItem { return wording.ItemOf(r.t, word) }

// itemWord parses a message of an ack. In exact stories, it is the instance's own if it does not say otherwise.
func (r *Rig) itemWord(instance, word string) engine.WorkItem {
	if r.exact {
		return r.itemOf(instance, word, "")
	}
	return r.item(word)
}

// encode encodes an event with the newest build that knows its kind.
func (r *Rig) encode(e engine.Event) (bytes []byte) {
	for _, b := range r.w.AllBuilds {
		if text, err := b.Codec.AppendEvent(nil, e); err == nil {
			bytes = text
		}
	}
	if bytes == nil {
		r.t.Fatalf("no build writes %s", e.Kind())
	}
	return bytes
}

// delta parses the events and messages of an ack. A word that begins with a digit is an event.
func (r *Rig) delta(instance string, words []string) (events []engine.Event, items []engine.WorkItem) {
	for _, word := range words {
		if word[0] >= '0' && word[0] <= '9' {
			events = append(events, r.event(instance, word))
		} else {
			items = append(items, r.itemWord(instance, word))
		}
	}
	return events, items
}
