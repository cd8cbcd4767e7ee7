package plan

// FactInfo describes a fact that expectations can name.
type FactInfo struct {
	Name    string
	Summary string
	Attrs   []FactAttr
}

// FactAttr describes one attribute of a fact. If Values is not nil, it lists the attribute's possible values.
type FactAttr struct {
	Name    string
	Summary string
	Values  []string
}

// The facts that expectations can name.
const (
	FactTurn    = "turn"
	FactFetch   = "fetch"
	FactSkip    = "skip"
	FactPoison  = "poison"
	FactAbandon = "abandon"
	FactWait    = "wait"
	FactEvent   = "event"
	FactEnd     = "end"
	FactUp      = "up"
	FactNode    = "node"
	FactLock    = "lock"
	FactDecode  = "decode"
)

// Facts returns the facts that expectations can name, with their attributes. The fact "up" has an additional attribute
// for each build, named by the build's version, and the fact "node" has one for each orchestration, named NAME@VERSION.
// The caller must not change them.
func Facts() []FactInfo { return facts }

var facts = func() []FactInfo {
	node := FactAttr{"node", "the node, by its name in the plan", nil}
	build := FactAttr{"build", "the node's build", nil}
	pin := FactAttr{"pin", "the execution's pin, or none", nil}
	instance := FactAttr{"instance", "the instance", nil}
	phase := FactAttr{"phase", "the phase of the run", []string{"faults", "unaided", "recovery", "rescue"}}
	attempt := FactAttr{"attempt", "the attempt count reported to the node", nil}
	execution := FactAttr{"execution", "the number of the execution, from 1", nil}
	yesNo := []string{"yes", "no"}
	queue := FactAttr{"queue", "the queue", []string{"orchestrator", "worker"}}
	return []FactInfo{
		{FactTurn, "a turn was committed", []FactAttr{node, build,
			{"pin", "the execution's pin after the turn, or none", nil}, instance,
			{"first", "whether it is the execution's first turn", yesNo},
			{"resumed", "whether its node had kept the execution, and replayed nothing", yesNo},
			{"start", "what the turn began with: a start, a continue-as-new, or neither", []string{"start", "can", "none"}},
			{"handler", "the orchestration's code, as name@version", nil},
			{"result", "how the turn ended", []string{"Continue", "Completed", "Failed", "ContinueAsNew", "Cancelled"}}, execution, phase}},
		{FactFetch, "a node was handed an instance, whether the answer reached it or not", []FactAttr{node, build, pin, instance,
			attempt, {"readable", "whether history and messages could be decoded", yesNo}, phase}},
		{FactLock, "a fetch of a node locked an instance", []FactAttr{node, build, pin, instance, phase}},
		{FactDecode, "a fetch of a node decoded a stored event", []FactAttr{node, build, pin, instance,
			{"kind", "the event's kind", nil},
			{"readable", "whether it could be decoded", yesNo}, phase}},
		{FactSkip, "a fetch's filter excluded an instance with visible work and no lock", []FactAttr{node, build, pin, instance, phase}},
		{FactPoison, "a node declared work poisonous", []FactAttr{node, build, pin, instance, queue,
			{"cause", "what kept it from ending", []string{"crash", "unreadable", "incompatible", "no-handler", "swept", "other"}}, attempt, phase}},
		{FactAbandon, "a node gave work back", []FactAttr{node, build, pin, instance, queue,
			{"reason", "why", []string{"history-error", "incompatible", "wait-for-start", "no-handler", "ack-failed", "drained", "lost", "looked", "other"}},
			{"delay", "how long it is delayed, such as 1s", nil},
			attempt, phase}},
		{FactWait, "visible work, not an ended instance's leftovers, began to wait because no live node admits it", []FactAttr{pin, instance, phase}},
		{FactEvent, "an event was committed", []FactAttr{{"kind", "the event's kind", nil}, node, build, pin, instance,
			{"handler", "the orchestration's code that made it, as name@version, or none", nil}, phase}},
		{FactEnd, "an instance reached its end", []FactAttr{{"status", "its status", []string{"Completed", "Failed"}}, pin, instance,
			{"output", "its output, or the text of its failure", nil}, execution, phase}},
		{FactUp, "a part of the story began; for each build, how many nodes run it (absent is 0)", []FactAttr{
			{"MAJOR.MINOR.PATCH", "how many nodes run that build", nil}, {"total", "how many nodes are up", nil}}},
		{FactNode, "a part of the story began; of each node that is up", []FactAttr{node, build,
			{"filter", "the filter that it declares, such as \">=0.0.0, <=1.5.0\"", nil},
			{"NAME@VERSION", "whether it has that orchestration (yes, no)", nil}}},
	}
}()
