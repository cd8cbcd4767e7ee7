package engine_test

import (
	"errors"
	"fmt"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
)

// Your own build: like 2.0.0, but it neither reads nor writes queue events and takes no queue messages.
func ExampleBuild() {
	reads := engine.Kinds2x().Without(eventdata.KindQueueSubscribed, eventdata.KindQueueEventDelivered, eventdata.KindQueueSubscriptionCancelled)
	takes := engine.WorkItemKinds2x().Without(engine.ItemQueueMessage)
	version := engine.V(2, 1, 0)
	build := &engine.Build{
		Version:      version,
		Codec:        engine.NewJSONCodec(version.String(), reads, takes),
		Emits:        reads.Without(eventdata.KindLegacyNote),
		Introduced:   []engine.Introduction{{Kind: eventdata.KindExternalEvent2, Since: engine.V(2, 0, 0)}},
		DefaultRange: engine.VersionRange{Max: version},
	}
	_, err := build.Codec.AppendWorkItem(nil, engine.QueueMessageItem{Instance: "a"})
	fmt.Println(err, errors.Is(err, engine.ErrUnknownKind))
	old := engine.V(1, 5, 0)
	fmt.Println(build.Writes(eventdata.KindExternalEvent2, &old), build.Writes(eventdata.KindExternalEvent2, &version))
	// Output:
	// codec 2.1.0: work item for "a": unknown kind "QueueMessage" true
	// false true
}

func ExampleWorkItemKinds() {
	kinds := engine.WorkItemKinds(engine.ItemTimerFired).With(engine.ItemCancelInstance, engine.ItemTimerFired)
	fmt.Println(kinds.List(), kinds.Has(engine.ItemQueueMessage))
	// Output: [TimerFired CancelInstance] false
}

func ExampleBuild_Reads() {
	history := []engine.Event{{EventID: 1, Data: eventdata.OrchestrationStarted{}}, {EventID: 2, Data: eventdata.ExternalSubscribed2{}}}
	for _, b := range engine.ShippedBuilds() {
		if b.Reads(history) {
			fmt.Print(b.Name(), " ")
		}
	}
	// Output: 2.0.0-rc.1 2.0.0 2.5.0 3.0.0
}

func ExampleCapabilityFilter_Admits() {
	pin := engine.V(2, 0, 0)
	upTo15 := engine.FilterFor(engine.MustParseRange("<=1.5.0"))
	nothing := &engine.CapabilityFilter{}
	var none *engine.CapabilityFilter
	fmt.Println(upTo15, "admits", pin, upTo15.Admits(&pin), "and unpinned work", upTo15.Admits(nil))
	fmt.Println(nothing, "admits", pin, nothing.Admits(&pin), "and unpinned work", nothing.Admits(nil))
	fmt.Println(none, "admits", pin, none.Admits(&pin), "and unpinned work", none.Admits(nil))
	// Output:
	// >=0.0.0, <=1.5.0 admits 2.0.0 false and unpinned work true
	// none admits 2.0.0 false and unpinned work false
	// any admits 2.0.0 true and unpinned work true
}

func ExampleTagFilter_Matches() {
	f := engine.TagFilter{Mode: engine.TagDefaultAnd, Tags: []string{"gpu"}}
	fmt.Println(f.Matches(""), f.Matches("gpu"), f.Matches("GPU"))
	// Output: true true false
}

func ExampleIsRetryable() {
	fmt.Println(engine.IsRetryable(engine.Retryablef("read", "busy")))
	fmt.Println(engine.IsRetryable(engine.Permanentf("ack_work_item", "Invalid lock token")))
	fmt.Println(engine.IsRetryable(errors.New("unclassified")), engine.IsRetryable(nil))
	// Output:
	// true
	// false
	// true false
}

func ExampleErrorDetails_Display() {
	fmt.Println(eventdata.Nondeterminism("completion without open schedule").Display())
	fmt.Println(engine.Infrastructure(engine.Retryablef("read", "busy")).Display())
	// Output:
	// nondeterministic: completion without open schedule
	// infrastructure:read: busy
}
