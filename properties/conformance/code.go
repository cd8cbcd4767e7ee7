package conformance

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
)

// codeCases holds the cases written in Go.
var codeCases = map[string]func(w *caseRun){
	"AT-04": atMostOneAck,
	"IL-04": func(w *caseRun) { shareInstances(w, 10, 10) },
	"IL-09": func(w *caseRun) { shareInstances(w, 1, 10) },
	"IL-10": func(w *caseRun) { shareInstances(w, 20, 40) },

	"LP-01": func(w *caseRun) { shortPoll(w, "fetch poll=500") },
	"LP-02": func(w *caseRun) { longPoll(w, "fetch poll=500") },
	"LP-03": func(w *caseRun) { boundedPoll(w, "fetch poll=300"); boundedPoll(w, "work poll=300"); boundedBeside(w) },
	"LP-04": func(w *caseRun) { shortPoll(w, "work poll=500") },
	"LP-05": func(w *caseRun) { longPoll(w, "work poll=500") },

	"KV-20": func(w *caseRun) {
		keepValues(w, []string{"large"}, func(int) string { return strings.Repeat("0123456789abcdef", 4096) })
	},
	"KV-21": specialKeys,

	"BP-57": eventRoundTrip,
	"BP-60": appendAllOrNothing,
	"BP-76": func(w *caseRun) { shareActivities(w, 50, 16) },
	"BP-77": wrongCompletion,
	"BP-84": claimTogether,

	"BP-105": manyIncompatible,
	"BP-121": manyKeys,
	"BP-149": sendAndTakeTogether,
	"BP-150": tokensEverywhere,
	"BP-151": wakeOnEnqueue,
	"BP-152": wakeOnTime,
	"BP-153": func(w *caseRun) { neverBlocks(w) },
	"BP-154": giveUpWaiting,
	"BP-155": failedFetch,
	"BP-156": twoWaiters,
	"BP-157": walk,
}

// specialKeys stores keys with special characters of all kinds in one turn.
func specialKeys(w *caseRun) {
	keys := []string{"with space", "日本語", "dots.in.key", "slash/es", "colon:s", "🔑", "UPPER lower", "'quoted\"", "e\u0301"}
	keepValues(w, keys, func(i int) string { return fmt.Sprint(" größe e\u0301 世界 ", i, " ") })
}

// keepValues stores keys in one turn, and reads their values back.
func keepValues(w *caseRun, keys []string, value func(i int) string) {
	w.try("make A")
	var delta []engine.Event
	for i, k := range keys {
		delta = append(delta, engine.Event{EventID: uint64(100 + i), InstanceID: "A", ExecutionID: 1, DuroxideVersion: "1.0.0",
			Data: eventdata.KeyValueSet{Key: k, Value: value(i), LastUpdatedAtMs: 1}})
	}
	w.commit("A", delta)
	for i, k := range keys {
		w.expectValue("A", k, value(i))
	}
}

// commit commits a turn of the instance that has the given delta.
func (w *caseRun) commit(instance string, delta []engine.Event) {
	w.try("send ext:" + instance + ":commit")
	w.try("fetch commit")
	w.done = append(w.done, fmt.Sprintf("ack commit with %d events", len(delta)))
	check(w.p.AckOrchestrationItem(ctx, engine.OrchestrationAck{LockToken: w.token("commit"), ExecutionID: 1, HistoryDelta: delta}))
}

func (w *caseRun) expectValue(instance, key, want string) {
	got := must(w.p.GetKVValue(ctx, instance, key))
	if got == nil {
		fail("get_kv_value(%q, %q) is absent, want %d bytes", instance, key, len(want))
	} else if *got != want {
		fail("get_kv_value(%q, %q) differs from what was set:\n  got  %.80q (%d bytes)\n  want %.80q (%d bytes)", instance, key, *got, len(*got), want, len(want))
	}
}

// manyKeys sets a hundred keys over four turns.
func manyKeys(w *caseRun) {
	w.try("make A")
	want := map[string]string{}
	for turn := range 4 {
		var events []string
		for i := range 25 {
			n := turn*25 + i
			key, value := fmt.Sprintf("key%02d", n), fmt.Sprint("v", n)
			want[key] = value
			events = append(events, fmt.Sprintf("%d:set:%s:%s", 100+n, key, value))
		}
		w.try("turn A events=" + strings.Join(events, ","))
	}
	w.try("fin A")
	w.try("send ext:A:e")
	f := must(w.p.FetchOrchestrationItem(ctx, longLock, 0, nil))
	if f == nil {
		fail("the fetch after the instance's end found nothing")
	}
	got := map[string]string{}
	for _, e := range f.Item.KVSnapshot {
		got[e.Key] = e.Value
	}
	if !reflect.DeepEqual(got, want) {
		fail("the snapshot after the instance's end has %d keys, want 100 keys with their values:\n  got  %v\n  want %v", len(got), got, want)
	}
}

// manyIncompatible queues one compatible instance behind twenty incompatible ones.
func manyIncompatible(w *caseRun) {
	for i := range 20 {
		w.try(fmt.Sprintf("make A%d pin=3.0.0", i))
	}
	w.try("make B pin=1.0.0")
	for i := range 20 {
		w.try(fmt.Sprintf("send ext:A%d:e", i))
	}
	w.try("send ext:B:e")
	w.play("fetch filter=1.0.0..1.9.9 -> B#1 x1 [ext:e]\nfetch filter=1.0.0..1.9.9 -> none")
}

// eventRoundTrip stores an event that has every field set, and reads it back.
func eventRoundTrip(w *caseRun) {
	w.try("make A")
	want := engine.Event{EventID: 7, SourceEventID: 3, InstanceID: "another's ☂ id", ExecutionID: 5, TimestampMs: 1234567890123,
		DuroxideVersion: "9.9.9-made.up+here", Data: eventdata.ActivityCompleted{Result: "日本語 \"quoted\"\b\t\n\v\f\r\x7f\u2028 🔑 <&>"}}
	w.commit("A", []engine.Event{want})
	for _, e := range must(w.p.Read(ctx, "A")) {
		if e.EventID == want.EventID {
			if !reflect.DeepEqual(e, want) {
				fail("the event differs from what was stored:\n  got  %+v\n  want %+v", e, want)
			}
			return
		}
	}
	fail("read(A) has no event 7")
}

// appendAllOrNothing applies to providers that refuse duplicates; a provider may also ignore them.
func appendAllOrNothing(w *caseRun) {
	w.try("make A")
	got, err := w.run("append A 1 2,1:act:Other")
	w.done = append(w.done, fmt.Sprint("append A 1 2,1:act:Other -> ", got, err))
	if err != nil {
		w.play("read A +kinds -> [1:OrchestrationStarted]")
		return
	}
	w.play("read A +kinds -> [1:OrchestrationStarted 2:ActivityScheduled:Activity-2] | [1:OrchestrationStarted]")
}

// wrongCompletion acks an activity with an event as its completion. The contract's reference provider refuses this, but
// a provider may accept it (F17).
func wrongCompletion(w *caseRun) {
	w.play("act A:1\nwork w -> A:1 x1")
	_, err := w.run("finish w ext:A:e")
	w.done = append(w.done, fmt.Sprint("finish w ext:A:e -> ", err))
	if err == nil {
		w.play("work -> none")
		return
	}
	if class(err) != "perm" {
		fail("finish w ext:A:e\n  got  %s: %v\n  want perm, or success", class(err), err)
	}
	w.play("finish w done:A:1\nwork -> none")
}
