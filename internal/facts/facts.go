package facts

// Info describes a fact that expectations can name.
type Info struct {
	Name    string
	Summary string
	Attrs   []Attr
}

// Attr describes one attribute of a fact. If Values is not nil, it lists the attribute's possible values.
type Attr struct {
	Name    string
	Summary string
	Values  []string
}

// The facts that expectations can name.
const (
	Turn    = "turn"
	Fetch   = "fetch"
	Skip    = "skip"
	Poison  = "poison"
	Abandon = "abandon"
	Wait    = "wait"
	Event   = "event"
	End     = "end"
	Up      = "up"
	Node    = "node"
	Lock    = "lock"
	Decode  = "decode"
)

// All returns the facts that expectations can name, with their attributes. The fact "up" has an additional attribute
// for each build, named by the build's version, and the fact "node" has one for each orchestration, named NAME@VERSION.
func All() []Info {
	node := Attr{"node", "the node, by its name in the plan", nil}
	build := Attr{"build", "the node's build", nil}
	pin := Attr{"pin", "the execution's pin, or none", nil}
	instance := Attr{"instance", "the instance", nil}
	phase := Attr{"phase", "the phase of the run", []string{"turbulence", "unaided", "calm", "relief"}}
	attempt := Attr{"attempt", "the attempt count reported to the node", nil}
	execution := Attr{"execution", "the number of the execution, from 1", nil}
	yesNo := []string{"yes", "no"}
	queue := Attr{"queue", "the queue", []string{"orchestrator", "worker"}}
	return []Info{
		{Turn, "a turn was committed", []Attr{node, build,
			{"pin", "the execution's pin after the turn, or none", nil}, instance,
			{"first", "whether it is the execution's first turn", yesNo},
			{"start", "what the turn began with: a start, a continue-as-new, or neither", []string{"start", "can", "none"}},
			{"handler", "the orchestration's code, as name@version", nil},
			{"result", "how the turn ended", []string{"Continue", "Completed", "Failed", "ContinueAsNew", "Cancelled"}}, execution, phase}},
		{Fetch, "a node was handed an instance, whether the answer reached it or not", []Attr{node, build, pin, instance,
			attempt, {"readable", "whether history and messages could be decoded", yesNo}, phase}},
		{Lock, "a fetch of a node locked an instance", []Attr{node, build, pin, instance, phase}},
		{Decode, "a fetch of a node decoded a stored event", []Attr{node, build, pin, instance,
			{"kind", "the event's kind", nil},
			{"readable", "whether it could be decoded", yesNo}, phase}},
		{Skip, "a fetch's filter excluded an instance with visible work and no lock", []Attr{node, build, pin, instance, phase}},
		{Poison, "a node declared work poisonous", []Attr{node, build, pin, instance, queue,
			{"cause", "what kept it from ending", []string{"crash", "unreadable", "incompatible", "no-handler", "swept", "other"}}, attempt, phase}},
		{Abandon, "a node gave work back", []Attr{node, build, pin, instance, queue,
			{"reason", "why", []string{"history-error", "incompatible", "wait-for-start", "no-handler", "ack-failed", "drained", "lost", "looked", "other"}},
			{"delay", "how long it is delayed, such as 1s", nil},
			attempt, phase}},
		{Wait, "visible work began to wait because no live node admits it", []Attr{pin, instance, phase}},
		{Event, "an event was committed", []Attr{{"kind", "the event's kind", nil}, node, build, pin, instance,
			{"handler", "the orchestration's code that made it, as name@version, or none", nil}, phase}},
		{End, "an instance reached its end", []Attr{{"status", "its status", []string{"Completed", "Failed"}}, pin, instance,
			{"output", "its output, or the text of its failure", nil}, execution, phase}},
		{Up, "a part of the story began; for each build, how many nodes run it (absent is 0)", []Attr{
			{"MAJOR.MINOR.PATCH", "how many nodes run that build", nil}, {"total", "how many nodes are up", nil}}},
		{Node, "a part of the story began; of each node that is up", []Attr{node, build,
			{"filter", "the filter that it declares, such as \">=0.0.0, <=1.5.0\"", nil},
			{"NAME@VERSION", "whether it has that orchestration (yes, no)", nil}}},
	}
}
