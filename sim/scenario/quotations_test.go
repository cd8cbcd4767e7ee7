package scenario

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// quotations are the sentences of document 000 that scenarios tell, in their order and without the document's typography;
// a row of a table and an item of a list count as a sentence.
var quotations = []struct {
	file      string
	sentences []string
}{
	// "Worked example: rolling upgrade with new event types", from "Before upgrade" to step 3.
	{"rolling-upgrade", []string{
		"All executions have pinned_duroxide_version in the 1.x range.",
		"All nodes can fetch and process everything.",
		"Capability filtering is a no-op — everyone is compatible.",
		"Existing v1.x executions: All 3 nodes can process them (v1.x is within everyone's range).",
		"Node A's v2.0.0 replay engine is backward-compatible and replays v1.x history correctly.",
		`New orchestrations started on Node A: Their OrchestrationStarted event is stamped with duroxide_version: "2.0.0", so pinned_duroxide_version = (2, 0, 0).`,
		"If the orchestration code uses the new RaiseEvent2/WaitEvent2 APIs, history will contain v2.x-only events.",
		"v2.0.0-pinned executions in the queue: Only Node A's filter matches (2, 0, 0).",
		"Nodes B and C's filter (<=1.5.0) excludes them.",
		"These executions are only routed to Node A.",
		"ContinueAsNew on Node A: If a v1.x execution does ContinueAsNew and Node A picks up the ContinueAsNew work item, the new execution is pinned at v2.0.0 (fresh OrchestrationStarted stamped by Node A).",
		"From that point, the new execution can only be processed by v2.0.0+ nodes.",
		"ContinueAsNew on Node B/C: If Node B or C picks up the ContinueAsNew, the new execution is pinned at v1.5.0 and remains processable by all nodes.",
		"v2.0.0-pinned items now have two nodes (A and B) that can process them — better availability.",
		"v1.x items are still processable by all three nodes.",
		"Node C continues to only see v1.x work.",
		"All nodes are now v2.0.0.",
		"All work (v1.x and v2.x pinned) is processable by everyone.",
		"Capability filtering is again a no-op — everyone is compatible with everything.",
		"Any remaining v1.x-pinned executions continue to run fine (v2.0.0 replay engine is backward-compatible).",
		"Over time, as v1.x executions complete or do ContinueAsNew (now pinned at v2.0.0), the cluster naturally converges to all-v2.0.0-pinned work.",
	}},
	// The risk paragraph of its step 1.
	{"rolling-upgrade-risk", []string{
		"Risk: Node A is the only node handling v2.0.0-pinned work.",
		"If Node A goes down, v2.0.0 executions queue up until Node A returns or another node is upgraded.",
		"This is expected and safe — the work is not lost, just waiting.",
	}},
	// "Edge case: what if v1.x nodes can't replay v2.x history?", without its notes to do.
	{"without-filtering", []string{
		"This is the key scenario that capability filtering prevents.",
		"Without filtering, different providers will exhibit different failure modes depending on how they handle unknown event types during history deserialization inside fetch_orchestration_item.",
		"Without the contract requirements below, different providers exhibit different (and both problematic) behaviors when encountering unknown event types:",
		"Silent event dropping (e.g., current SQLite read_history_in_tx uses if let Ok(...)): History arrives with gaps → confusing nondeterminism errors → misleading poison messages.",
		"Hard error with rollback: attempt_count may not be incremented → infinite error loop, poison path never triggers.",
		"Both are unacceptable.",
		"The provider contract must eliminate them.",
		"Providers MUST apply the capability filter before loading or deserializing history events.",
		"This is the primary defense.",
		"The correct implementation order inside fetch_orchestration_item is:",
		"Find a candidate instance from the queue.",
		"Check the execution's pinned_major/minor/patch against the filter.",
		"Skip if incompatible.",
		"Only then acquire the instance lock.",
		"Only then load and deserialize history.",
		"When the filter is applied correctly, the provider never encounters unknown event types because it never loads history from an incompatible execution.",
		"This is the happy path for all normal operations and rolling upgrades.",
		"Even with filtering in place, a provider may still encounter undeserializable history events in edge cases (e.g., filter=None in drain mode, corrupted data, bugs).",
		"When this happens:",
		"Providers MUST NOT silently drop events they cannot deserialize.",
		"Silent dropping leads to incomplete history, which causes confusing nondeterminism errors or worse — incorrect behavior.",
		"Providers MUST return ProviderError::permanent(...) when history deserialization fails.",
		"This is critical because the dispatcher handles permanent errors by logging and retrying, and — crucially — attempt_count must have been incremented before the error is returned so the existing max-attempts poison machinery can terminate the orchestration.",
		"The required implementation pattern:",
		"Acquire instance lock and increment attempt_count (commit this atomically).",
		"Load history events.",
		`If any event fails to deserialize → return ProviderError::permanent("Failed to deserialize event at position N: {serde_error}").`,
		"The attempt_count was already incremented in step 1.",
		"On the next fetch cycle, the item is fetched again with a higher attempt_count.",
		"Once attempt_count > max_attempts, the runtime poisons the orchestration with a clear error message.",
		"This means deserialization failures are not infinite loops — they naturally flow into the existing poison path, producing a clear terminal error.",
	}},
	// "Worked example: versioned orchestration with new event types".
	{"versioned-handlers", []string{
		"The previous walkthrough assumed all orchestration code uses the same events.",
		"In practice, new event types are introduced alongside versioned orchestration handlers.",
		"Here's how that works end-to-end.",
		`duroxide v1.5.0 has schedule_wait("event_name") → produces ExternalSubscribed + ExternalEvent events.`,
		`duroxide v2.0.0 adds schedule_wait_v2("event_name", timeout) → produces ExternalSubscribedV2 + ExternalEventV2 events with timeout support.`,
		`The application has orchestration handler "ProcessOrder":`,
		`v1 (registered on v1.5.0 nodes): uses ctx.schedule_wait("approval").`,
		`v2 (registered on v2.0.0 nodes): uses ctx.schedule_wait_v2("approval", Duration::from_secs(3600)).`,
		"Registered handlers: ProcessOrder v1",
		"History event types: ExternalSubscribed, ExternalEvent (v1.x events)",
		"All executions pinned: v1.5.0",
		"Everything runs on all nodes.",
		"No version conflicts.",
		"Node A (v2.0.0): ProcessOrder v1 + v2 registered",
		"Node B (v1.5.0): ProcessOrder v1 only",
		"Node C (v1.5.0): ProcessOrder v1 only",
		"Existing v1 executions (pinned v1.5.0): All nodes can fetch (v1.5.0 ∈ everyone's range).",
		"All have handler v1 registered.",
		"Replays fine.",
		`New orchestrations via start_orchestration("ProcessOrder", ...): Version resolution picks the latest registered version on the node that processes the start.`,
		"On Node A → could resolve to v2.",
		"On B/C → resolves to v1.",
		`New orchestration started on Node A as v2: OrchestrationStarted is stamped with duroxide_version: "2.0.0", pinned at v2.0.0.`,
		"Handler v2 runs, produces ExternalSubscribedV2 events in history.",
		"v2 execution needs a turn later: It's pinned at v2.0.0.",
		"Only Node A's filter matches.",
		"Nodes B/C never fetch it.",
		"Safe.",
		"v1 execution does ContinueAsNew on Node A: New execution pinned at v2.0.0.",
		"If the registry resolves to handler v2, future turns use schedule_wait_v2.",
		"History now has v2 events.",
		"Only v2.0.0 nodes can replay.",
		"v1 execution does ContinueAsNew on Node B: New execution pinned at v1.5.0.",
		"Handler v1 runs, produces v1 events.",
		"All nodes can replay.",
		"Key insight: The pinned version and the handler version work together naturally:",
		"Pinned version gates which replay engine can process the history.",
		"Handler version determines which orchestration code runs.",
		"A v2.0.0 node can replay v1.x history (backward-compatible replay engine) and run v1 handler code (both versions registered).",
		"A v1.5.0 node cannot replay v2.x history (doesn't understand new events) and doesn't have v2 handler (not registered).",
		"Node A (v2.0.0): ProcessOrder v1 + v2",
		"Node B (v2.0.0): ProcessOrder v1 + v2",
		"Node C (v1.5.0): ProcessOrder v1 only",
		"v2.0.0-pinned work now load-balances across A and B.",
		"Node C still handles only v1.x work.",
		"All nodes (v2.0.0): ProcessOrder v1 + v2",
		"Full cluster upgraded.",
		"All work processes on all nodes.",
		"Once the operator confirms no running executions are using handler v1 (all have either completed or done ContinueAsNew into v2), they can remove v1 from the registries:",
		"All nodes (v2.0.0): ProcessOrder v2 only",
		`Any straggler v1 execution that attempts a turn would hit the "unregistered orchestration" backoff path (existing mechanism, orthogonal to capability filtering).`,
		`The OrchestrationStarted event is still stamped with duroxide_version: "2.0.0" (the runtime build), not "1.5.0".`,
		"This is correct — the replay engine version is v2.0.0 (that's what will replay this history).",
		"Handler v1 code runs, but it only uses schedule_wait (v1 events), so any v2.0.0 node can replay it fine.",
		"The pinned version reflects the replay engine, not the handler version.",
		"They are independent dimensions.",
	}},
	// "Post-upgrade cleanup (if needed)", and the last point of "Rolling upgrades (desired behavior)".
	{"post-upgrade-cleanup", []string{
		"If after a full upgrade to v2.0.0, some orchestrations are still pinned at, say, v0.8.0 (from a very old execution that's been idle), they should still work — v2.0.0's range (>=0.0.0, <=2.0.0) includes v0.8.0.",
		"If a future v3.0.0 intentionally drops replay compatibility for v0.x histories (breaking change), those v0.8.0-pinned executions would become unfetchable.",
		"The operator would then use the wide-range drain procedure (test #29): set supported_replay_versions to a wide range like [>=0.0.0, <=99.0.0] on one node.",
		"The provider fetches old-version items and attempts to deserialize their history.",
		"Unknown event types cause deserialization to fail at the provider level with a permanent error — the items never reach the replay engine.",
		"Each fetch cycle increments attempt_count,",
		"and the items remain in the queue permanently erroring on every fetch.",
		"Compatible items are processed normally.",
		"Beyond phase 1: A dedicated disable_version_filtering: true RuntimeOptions flag could simplify this UX, but the wide-range approach already covers the same use case.",
		"Additionally, a built-in replay-engine compatibility check (separate from the configurable supported_replay_versions range) could catch semantic incompatibilities where history deserializes successfully but replay behavior differs across versions.",
		"Currently, drain relies entirely on serde deserialization failures for unknown EventKind variants.",
		`If after a full upgrade some executions remain pinned to an unsupported old version, an operator can temporarily widen supported_replay_versions to clear them (see "Draining stuck orchestrations" in the versioning guide).`,
	}},
	// "Poison / cancellation / stuck items", "Rolling upgrades (desired behavior)" but for its last point, the comment on
	// supported_replay_versions, and test 29.
	{"draining-by-widening", []string{
		"Filtering introduces a new risk: if no node in the cluster declares compatibility for some execution, then no one will ever fetch it via filtered queries, so runtime-side attempt_count-based poison termination could be delayed.",
		"The operator's remedy is to temporarily widen the supported_replay_versions range on one or more runtime nodes (see below).",
		"Items with unknown event types will fail at deserialization and be poisoned via the max-attempts path.",
		"Old nodes declare older supported ranges (up to their build version).",
		"New nodes declare newer/wider ranges (up to their newer build version).",
		"Provider naturally routes items to the correct nodes based on capabilities.",
		"No bouncing/abandon loops required for compatibility.",
		"Override the replay-engine version range used for capability filtering.",
		"By default, the runtime uses >=0.0.0, <=CURRENT_BUILD_VERSION, meaning it can replay any execution pinned at or below its own semver.",
		"This is correct for most deployments since replay engines are backward-compatible.",
		"Set this to change the range for advanced scenarios:",
		"Narrowing: Restrict a node to only process a specific version band.",
		"Widening to drain stuck items: Set a wide range like >=0.0.0, <=99.0.0 to fetch orchestrations pinned at any version.",
		"Items with unknown event types will fail at deserialization and be poisoned via the max-attempts path.",
		"Testing: Simulate version-routing behavior in tests.",
		"Default: None (uses >=0.0.0, <=CURRENT_BUILD_VERSION)",
		"Insert instances pinned at an unsupported future version (e.g., 99.0.0) with history containing unknown event types.",
		"Start a runtime with supported_replay_versions: Some([>=0.0.0, <=99.0.0]) and max_attempts: 3.",
		"The runtime fetches the items (wide range includes 99.0.0), attempts replay, hits deserialization errors (unknown event types), and the poison path terminates them with clear error messages.",
		"This is the recommended operational procedure for draining stuck orchestrations.",
	}},
	// One sentence each of "Goals" and "Filtering semantics".
	{"version-gone-and-back", []string{
		"A runtime node should only receive compatible orchestration executions for its replay engine.",
		"In mixed-version clusters, we want work to naturally route to nodes that can process it.",
		"This avoids “compatibility bouncing” entirely.",
	}},
	// One sentence each of "Capability filter" and the comment on supported_replay_versions.
	{"self-stranded", []string{
		"Users can override this to narrow the range (e.g., >=1.0.0, <2.0.0) for clusters where strict version routing is desired.",
		"Narrowing: Restrict a node to only process a specific version band.",
	}},
}

// TestQuotations: a scenario about a passage of the document quotes every sentence of it, in its order, and nothing else.
// What it asserts, in lines that begin with "#>", is followed by an expectation. What it does not, in lines that begin with
// "#~" and go on after three spaces, is followed by the reason, "#~ why: ...".
func TestQuotations(t *testing.T) {
	about := map[string]bool{}
	for _, c := range quotations {
		about[c.file] = true
	}
	for _, n := range Builtin() {
		if !about[n.Name] && strings.Contains(string(n.Text), "\n#>") {
			t.Errorf("%s quotes the document, and no list of sentences says what it must quote", n.Name)
		}
	}
	for _, c := range quotations {
		for _, n := range Builtin() {
			if n.Name != c.file {
				continue
			}
			quoted, problems := readQuotations(string(n.Text))
			for _, p := range problems {
				t.Errorf("%s: %s", c.file, p)
			}
			if diff := cmp.Diff(c.sentences, quoted); diff != "" {
				t.Errorf("%s does not quote its passage (-want +have):\n%s", c.file, diff)
			}
		}
	}
}

// readQuotations returns the quotations of a scenario's text, and the mistakes in them.
func readQuotations(text string) (quoted, problems []string) {
	const told, untold = "#> ", "#~ "
	open := "" // the rest that the last quotation still lacks
	need := func(what string) {
		if open != "" {
			problems = append(problems, open+" follows "+quoted[len(quoted)-1])
		}
		open = what
	}
	before := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, told) && before == told, strings.HasPrefix(line, untold+"  "):
			quoted[len(quoted)-1] += " " + strings.TrimSpace(line[len(told):])
			continue
		case strings.HasPrefix(line, told):
			need("no expectation")
			quoted, before = append(quoted, line[len(told):]), told
			continue
		case strings.HasPrefix(line, untold+"why: "):
			if before != untold {
				problems = append(problems, "nothing stands before the reason "+line)
			}
			open = ""
		case strings.HasPrefix(line, untold):
			if before != untold {
				need("no reason")
			}
			quoted, before = append(quoted, line[len(untold):]), untold
			continue
		case strings.HasPrefix(line, "expect ") && open == "no expectation":
			open = ""
		}
		before = ""
	}
	need("")
	return quoted, problems
}

// TestQuotationsAreRead checks the errors of the reader of quotations.
func TestQuotationsAreRead(t *testing.T) {
	for _, c := range []struct {
		text     string
		quoted   []string
		problems []string
	}{
		{"#> It\n#> works.\nexpect never poison\n", []string{"It works."}, nil},
		{"#> It works.\n# A word.\n\nexpect never poison\n#> And so on.\nexpect never skip\n", []string{"It works.", "And so on."}, nil},
		{"#> It works.\n\n#> And so on.\nexpect never skip\n", []string{"It works.", "And so on."}, []string{"no expectation follows It works."}},
		{"expect never skip\n#> It works.\n", []string{"It works."}, []string{"no expectation follows It works."}},
		{"#~ It will\n#~   work.\n#~ Perhaps.\n#~ why: future\n", []string{"It will work.", "Perhaps."}, nil},
		{"#~ It will work.\nexpect never skip\n", []string{"It will work."}, []string{"no reason follows It will work."}},
		{"#~ why: future\n", nil, []string{"nothing stands before the reason #~ why: future"}},
	} {
		quoted, problems := readQuotations(c.text)
		if diff := cmp.Diff(c.quoted, quoted); diff != "" {
			t.Errorf("%q: quotations (-want +have):\n%s", c.text, diff)
		}
		if diff := cmp.Diff(c.problems, problems); diff != "" {
			t.Errorf("%q: problems (-want +have):\n%s", c.text, diff)
		}
	}
}
