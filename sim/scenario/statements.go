package scenario

import "slices"

// StatementInfo describes a statement in listings. Words in capitals are placeholders.
type StatementInfo struct {
	Name    string
	Form    string
	Meaning string
	// Below names the statements under which it may appear. If it is empty, the statement stands alone.
	Below string
	// Corpus statements may appear only in corpus entries, and Open ones only in scenarios.
	Corpus, Open bool
	// Example is a text that Parse accepts. For Corpus statements, ParseEntry accepts it after its header.
	Example string
}

// Statements returns all statements, in the order in which Format writes them. The caller owns the slice.
func Statements() []StatementInfo { return slices.Clone(statementTable) }

// Steps returns the steps of a schedule, which follow `at`, `then` or `after`. The caller owns the slice.
func Steps() []StatementInfo { return slices.Clone(stepTable) }

var statementTable = []StatementInfo{
	{Name: "durosim", Form: "durosim corpus 1", Corpus: true,
		Meaning: "begins a corpus entry and gives the version of its format", Example: "durosim corpus 1"},
	{Name: "found", Form: "found TEXT", Corpus: true,
		Meaning: "what the entry once showed: a property, or a property and a planted bug", Example: "found S04 provider/filter-after-decode"},
	{Name: "verdict", Form: "verdict holds | verdict violates PROPERTY...", Corpus: true,
		Meaning: "the verdict that a replay must reach", Example: "verdict violates S04"},
	{Name: "digest", Form: "digest sha256:HEX", Corpus: true,
		Meaning: "the digest of the stored run's trace; a different digest causes a notice", Example: "digest sha256:" + zeros},
	{Name: "seed", Form: "seed NUMBER", Corpus: true,
		Meaning: "the seed of the run, decimal or 0x-hex", Example: "seed 42"},
	{Name: "mode", Form: "mode recorded | mode seeded", Corpus: true,
		Meaning: "whether a replay takes choices from the recording or draws them from the seed", Example: "mode seeded"},
	{Name: "chooser", Form: "chooser NAME", Corpus: true,
		Meaning: "in mode seeded, the chooser: random (the default), fifo, pct:D, delay:D, enumerate:D, reseed:N:SEED or portfolio", Example: "chooser pct:3"},
	{Name: "needs", Form: "needs HANDLER...", Corpus: true,
		Meaning: "the orchestrations (NAME@VERSION) and activities that the run uses and durosim does not ship; only a program that registers them can replay it", Example: "needs Refund@1.0.0 PayBack"},
	{Name: "note", Form: "note TEXT", Corpus: true,
		Meaning: "what a reader should know", Example: "note the first plan that ever failed"},
	{Name: "scenario", Form: "scenario NAME",
		Meaning: "the name; by default, the file's name without directory and extension", Example: "scenario rolling-upgrade"},
	{Name: "seeds", Form: "seeds COUNT", Open: true,
		Meaning: "the number of seeds from which on a campaign must reach the required coverage and show each \"sometimes\"", Example: "seeds 200"},
	{Name: "require", Form: "require coverage POINT... | matrix", Open: true,
		Meaning: "coverage points that a campaign of that many seeds must reach; matrix: each kind of fault must meet each feature of orchestrations, such as sessions or continue-as-new", Example: "require coverage relief three-builds-live\nrequire matrix"},
	{Name: "fuzz", Form: "fuzz [nodes COUNT] [instances COUNT] [steps COUNT] [statements COUNT] | faults none | faults KIND... | builds BUILD...", Open: true,
		Meaning: "for simrun fuzz: how large its plans may get, which faults it may add (by default all), and which builds nodes may get (by default those that the scenario names); statements limits the statements of programs, and 0 adds no programs; see docs/hunting.md", Example: "fuzz nodes 4 instances 10 steps 8\nfuzz faults crash-before-ack\nfuzz builds 1.5.0 2.0.0"},
	{Name: "strategy", Form: "strategy filter | bounce | sweeper | deadletter",
		Meaning: "how work that a node cannot run is routed; by default filter", Example: "strategy filter"},
	{Name: "patience", Form: "patience DURATION [every DURATION]",
		Meaning: "how long the strategies sweeper and deadletter let work that no node can run wait (by default 30s), and how often they check (by default every 5s)", Example: "patience 20s every 2s"},
	{Name: "profile", Form: "profile contract | duroxide-0.1.26 | duroxide-0.1.32",
		Meaning: "whose decisions the nodes follow; by default contract", Example: "profile contract"},
	{Name: "contract", Form: "contract 0.1.26 | 0.1.32",
		Meaning: "the release whose contract applies where the two differ (docs/contract-decisions.md#contracts); by default, durosim's decisions apply", Example: "contract 0.1.32"},
	{Name: "store", Form: "store [clock own | callers] [serial DURATION] [plain]",
		Meaning: "whose clock the store uses (by default its own); serial makes it serve fetches one at a time, each for that long; with plain, it reports status, pin and parent only with a history that it cannot decode", Example: "store clock callers serial 200ms"},
	{Name: "turbulence", Form: "turbulence DURATION",
		Meaning: "how long schedule and faults last; by default, until one second after the last step or action", Example: "turbulence 75s"},
	{Name: "until", Form: "until DURATION",
		Meaning: "when the run ends, even if work is still open; the run then has no calm and no relief", Example: "until 10m"},
	{Name: "relief", Form: "relief widen",
		Meaning: "frees work that no node admits when calm ends by widening every node to every pin, as the documentation of duroxide 0.1.26 recommended and that of 0.1.32 forbids; by default, a node becomes the build that the work is pinned to, and work that no build admits is deleted", Example: "relief widen"},
	{Name: "budget", Form: "budget COUNT steps | turns",
		Meaning: "the steps after which a run is stopped (by default 400000, and 5000 more for each instance beyond 64), or the turns of one execution after which it is (by default 1000, or twenty times the most turns of an ended execution of the run)", Example: "budget 500000 steps\nbudget 5000 turns"},
	{Name: "bug", Form: "bug ID... [on BUILD | on NODE]",
		Meaning: "planted bugs to switch on, for one build, for one node, or for all", Example: "bug provider/filter-after-decode on 1.5.0"},
	{Name: "faults", Form: "faults none | light | full | timing",
		Meaning: "a whole fault plan by name; by default none", Example: "faults light"},
	{Name: "fault", Form: "fault KIND N in M [from TIME] [to TIME] [on NODE]",
		Meaning: "one kind of fault, which happens at N in M of its opportunities; it takes precedence over the fault plan that faults names", Example: "node A runs 1.5.0\nfault crash-before-ack 1 in 200 from 5s to 20s on A"},
	{Name: "build", Form: "build NAME like BUILD",
		Meaning: "a build of your own, declared above the lines that name it: it equals another build except for the lines below it; NAME is its version, and replaces a shipped build with that name", Example: "build 2.1.0 like 2.0.0\nnodes A B run 1.5.0\nat 5s upgrade A to 2.1.0"},
	{Name: "range", Form: "range RANGE", Below: "build",
		Meaning: "the pins that its nodes admit unless an option says otherwise; by default, up to its own version", Example: "build 2.1.0 like 2.0.0\n  range >=2.0.0, <=2.1.0\nnode A runs 2.1.0"},
	{Name: "reads", Form: "reads [with KIND...] [without KIND...]", Below: "build",
		Meaning: "event kinds that it reads although the other build does not (with), or the reverse (without): ExternalSubscribed2, ExternalEvent2, LegacyNote", Example: "build 1.7.0 like 1.6.0\n  reads with ExternalSubscribed2 ExternalEvent2 without LegacyNote\nnode A runs 1.7.0"},
	{Name: "writes", Form: "writes [with KIND...] [without KIND...]", Below: "build",
		Meaning: "the same for the kinds that it writes into executions that it began; it writes only kinds that it reads", Example: "build 2.1.0 like 2.0.0\n  writes without ExternalSubscribed2\nnode A runs 2.1.0"},
	{Name: "semantics", Form: "semantics standard | discard | eager-timers [from VERSION]", Below: "build",
		Meaning: "the semantics with which it replays executions begun by builds of that version or newer, or all others; with discard, an event that a dropped wait was given is lost", Example: "build 2.1.0 like 2.0.0\n  semantics discard from 2.1.0\nnode A runs 2.1.0"},
	{Name: "limits", Form: "limits [carried COUNT] [keys COUNT] [bytes COUNT]", Below: "build",
		Meaning: "how many unread queue messages cross a continue-as-new, how many keys an instance may have, and how many bytes a value", Example: "build 2.1.0 like 2.0.0\n  limits carried 100 keys 150 bytes 65536\nnode A runs 2.1.0"},
	{Name: "lacks", Form: "lacks FIELD...", Below: "build",
		Meaning: "optional fields that it does not know, and so drops when it reads and writes: parent-execution, continued-parent, initial-custom-status, tag, session", Example: "build 1.4.0 like 1.5.0\n  lacks initial-custom-status\nnode A runs 1.4.0"},
	{Name: "node", Form: "node NAME... runs BUILD [absent]",
		Meaning: "one node or several (\"nodes A B run 1.5.0\"); an absent one waits for an add step; \"duroxide 0.1.32\" is a released runtime, which runs only programs", Example: "nodes A B run 1.5.0\nnode C runs 2.0.0 absent"},
	{Name: "option", Form: "option NAME VALUE", Below: "node",
		Meaning: "a node option by its contract name; it applies to each of several nodes", Example: "node A runs 1.5.0\n  option max_attempts 3"},
	{Name: "clock", Form: "clock OFFSET [drift PPM]", Below: "node",
		Meaning: "how far the node's clock is ahead at the start, or behind (-300ms), and how fast it drifts, at most 200ms; by default the clock is correct", Example: "node A runs 1.5.0\n  clock +300ms drift -50ppm"},
	{Name: "handlers", Form: "handlers none | handlers [with | without] NAME[@VERSION]...", Below: "build, node",
		Meaning: "the only orchestrations that the node registers; by default, what its build ships. Below a build, all the orchestrations and activities that it ships, or those that it adds to (with) or removes from (without) what the other build ships; NAME alone is an activity, a program, or all versions of an orchestration",
		Example: "build 2.1.0 like 2.0.0\n  handlers without Ship ProcessOrder@1.0.0\nnode A runs 2.1.0\n  handlers Leaf@1.0.0 Parent@1.0.0"},
	{Name: "program", Form: "program NAME [version VERSION] ... end",
		Meaning: "an orchestration as data, which every node has: the lines up to its end are its statements, one per line, and it may start the programs declared before it; its version is 1.0.0 by default, and versions of one program must follow each other",
		Example: "program greet\n  call hello\n  select\n    wait approval\n    timer 2s\n  end\nend\ninstance greet-1 runs greet"},
	{Name: "history", Form: "history INSTANCE [runs NAME[@VERSION]] pinned VERSION | unpinned shape SHAPE [variant NUMBER] [kick at TIME]",
		Meaning: "an execution that an earlier cluster left behind, of shape waiting, unknown-kind, new-kind, legacy, corrupt, garbled, respelled or disagreeing, by default of Cancellable@1.0.0, or ProcessOrder@2.0.0 for new-kind, Archivist@1.0.0 for respelled (the JSON of another writer), Revised@1.0.0 for disagreeing (with the code); variant chooses how it is garbled or disagrees; kick is when a client sends it the event that it waits for, by default at the start",
		Example: "history old-1 pinned 0.8.0 shape legacy kick at 5s..8s"},
	{Name: "instance", Form: "instance ID runs NAME[@VERSION] [with INPUT] [at TIME] [expect END[|END]] [unaided]",
		Meaning: "an instance that a client starts, by default at the start of the run; it must end as completed (the default), failed, eternal, poison or any, or as one of several of completed, failed and poison with | between them; calm sends nothing to an unaided instance and its children",
		Example: "instance order-1 runs ProcessOrder@1.0.0 with \"3 books\" at 2s..4s expect any"},
	{Name: "raise", Form: "raise EVENT [topic TOPIC] [data DATA] at TIME | after TIME [unawaited]", Below: "instance, mix",
		Meaning: "a client sends the instance an event, at a time of the run (or at the instance's start, if that is drawn later) or that long after the instance's start; the plan fails if no code in a run ever waits for that event, unless it is unawaited", Example: "instance order-1 runs ProcessOrder\n  raise approval topic orders after 3s"},
	{Name: "enqueue", Form: "enqueue NAME [data DATA] at TIME | after TIME [unawaited]", Below: "instance, mix",
		Meaning: "a client sends the instance a queue message; the plan fails if no code in a run ever dequeues from that queue, unless it is unawaited", Example: "instance ledger-1 runs Ledger with 1\n  enqueue entries data rent after 3s"},
	{Name: "cancel", Form: "cancel [because REASON] at TIME | after TIME", Below: "instance, mix",
		Meaning: "a client cancels the instance", Example: "instance loop-1 runs Eternal expect eternal\n  cancel because \"shop closed\" at 30s"},
	{Name: "delete", Form: "delete [forced] [alone] at TIME | after TIME", Below: "instance, mix",
		Meaning: "an operator deletes the instance and its tree; the store refuses while any of it is running, unless it is forced; or the instance alone, which the store refuses if that would orphan children. A deleted instance has no more obligations", Example: "instance old-1 runs Chain\n  delete forced after 1s..4s"},
	{Name: "prune", Form: "prune at TIME | after TIME", Below: "instance, mix",
		Meaning: "an operator removes the instance's executions that are neither current nor running", Example: "instance loop-1 runs Eternal expect eternal\n  prune at 20s"},
	{Name: "load", Form: "load COUNT instances [from TIME] [over DURATION]", Open: true,
		Meaning: "that many more instances, each started at a drawn time in that period and named after its orchestration and its number (Chain-7)", Example: "load 30 instances from 1s over 60s\n  mix 1 Chain with 2..6"},
	{Name: "mix", Form: "mix WEIGHT NAME[@VERSION] | generated programs [with INPUT] [expect END[|END]] [unaided]", Open: true, Below: "load",
		Meaning: "the kinds of instances in the load, by weight; an input 2..6 or 1s..8s is drawn for each instance, and so is each generated program, along with events that it waits for", Example: "load 9 instances over 20s\n  mix 2 Chain with 2..6\n  mix 1 Eternal expect eternal\n    cancel after 8s..15s"},
	{Name: "probe", Form: "probe NAME reads BUILD filter FILTER | work | sends start|message INSTANCE | sweeps instances|executions | looks [does ACT] [to VERSION] [holds CLASS] [locks DURATION] [delays DURATION] [from TIME] [every DURATION] [times COUNT] [ignore-attempt]",
		Meaning: "an actor that makes raw provider calls, in turbulence only: it fetches turns with filter none (empty), any (no filter) or ranges separated by |, or activities (work), or sends the start of an instance of the plan or a queue message, or, as an operator, deletes all instances that have ended or prunes all old executions, or reads the list of instances and of each its history, statistics and keys (looks); by default once, and every second if times is above 1. It abandons what it gets, with ignore-attempt without counting the attempt, unless it does something else; see below",
		Example: "probe P reads 2.0.0 filter \">=1.0.0, <=1.5.0 | 3.x\" does abandon|renew holds least|after locks 2s from 1s every 500ms times 20 ignore-attempt\nprobe Q reads 2.0.0 filter any does repin to 2.0.0\nprobe R reads 1.5.0 work does twice delays 1s\nprobe S reads 1.5.0 sends message nobody\nprobe T reads 1.5.0 sweeps executions every 5s times 6"},
	{Name: "at", Form: "at TIME STEP",
		Meaning: "a step of the schedule at a time of the run", Example: "node A runs 1.5.0\nat 10s..15s crash A"},
	{Name: "then", Form: "then STEP | nothing",
		Meaning: "a step at the same time as the step before it; or, with nothing, no calm and no relief after turbulence: the run ends when nothing more can happen", Example: "node A runs 1.5.0\nat 10s mark \"step 1\"\nthen upgrade A to 2.0.0"},
	{Name: "after", Form: "after TIME STEP",
		Meaning: "a step that long after the step before it", Example: "node A runs 1.5.0\nat 10s crash A\nafter 2s..4s start A"},
	{Name: "expect", Form: "expect always | never | sometimes EVENT [in PART] [where NAME=VALUE...] [has NAME=VALUE...]",
		Meaning: "attributes that each such event must have, an event that must never happen, or one that some seed of the campaign must show; in limits it to a part of the story that a mark begins",
		Example: "nodes A B run 1.5.0\nat 5s mark \"step 1\"\nexpect never turn in \"step 1\" where pin=2.0.0 node=A|B"},
	{Name: "recording", Form: "recording seed NUMBER [unordered] [complete]", Corpus: true,
		Meaning: "begins the recorded choices: the seed of the order of simultaneous events (unordered: first come, first served), and whether choices of value 0 are also listed", Example: "recording seed 42"},
	{Name: "choice", Form: "choice KEY N VALUE", Corpus: true,
		Meaning: "a recorded choice: its key, the number of values, and the value chosen", Example: "recording seed 42\nchoice node:A/call:7/lost 2 1"},
	{Name: "priority", Form: "priority KEY VALUE", Corpus: true,
		Meaning: "a recorded place in the order of simultaneous events", Example: "recording seed 42\npriority schedule:1 7"},
}

const zeros = "0000000000000000000000000000000000000000000000000000000000000000"

var stepTable = []StatementInfo{
	{Name: "mark", Form: "mark PART", Meaning: "no effect: begins the part of the story that expectations name", Example: "mark \"step 1\""},
	{Name: "upgrade", Form: "upgrade NODE to BUILD", Meaning: "stop gracefully, then start the build", Example: "upgrade A to 2.0.0"},
	{Name: "rollback", Form: "rollback NODE to BUILD", Meaning: "like upgrade, to an older build", Example: "rollback A to 1.5.0"},
	{Name: "stop", Form: "stop NODE", Meaning: "stop gracefully", Example: "stop A"},
	{Name: "crash", Form: "crash NODE", Meaning: "stop at once, with loss of memory", Example: "crash A"},
	{Name: "start", Form: "start NODE", Meaning: "start after stop or crash", Example: "start A"},
	{Name: "pause", Form: "pause NODE for TIME", Meaning: "freeze for a while", Example: "pause A for 2s..8s"},
	{Name: "add", Form: "add NODE", Meaning: "start an absent node for the first time", Example: "add A"},
	{Name: "remove", Form: "remove NODE", Meaning: "stop gracefully and permanently", Example: "remove A"},
	{Name: "widen", Form: "widen NODE to RANGE", Meaning: "restart gracefully with a wider range of pins; today's documentation tells operators never to go above the node's own build", Example: "widen A to >=0.0.0, <=99.0.0"},
	{Name: "narrow", Form: "narrow NODE to RANGE", Meaning: "restart gracefully with a narrower range of pins", Example: "narrow A to 1.x"},
	{Name: "register", Form: "register NAME@VERSION on NODE", Meaning: "add an orchestration to a node", Example: "register Leaf@1.0.0 on A"},
	{Name: "deregister", Form: "deregister NAME@VERSION on NODE", Meaning: "remove an orchestration from a node", Example: "deregister Leaf@1.0.0 on A"},
}

func names(infos []StatementInfo) []string {
	out := make([]string, len(infos))
	for i, s := range infos {
		out[i] = s.Name
	}
	return out
}

func formOf(infos []StatementInfo, name string) string {
	for _, s := range infos {
		if s.Name == name {
			return s.Form
		}
	}
	return name
}
