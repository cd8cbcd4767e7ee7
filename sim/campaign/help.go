package campaign

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/durosim/durosim/sim/cluster"
)

// HelpGroup counts one kind of help that recovery or rescue gave beyond the plan. The help is a certain event, a
// message to a certain queue, a cancel request, or a change to a certain node.
type HelpGroup struct {
	Phase cluster.Phase    `json:"phase"`
	Kind  cluster.HelpKind `json:"kind"`
	// Text names the event, the queue, or the node. For a node, it also gives the new build or the old version range.
	Text string `json:"text"`
	// Count is the number of times that this help was given, and Seeds is the number of runs in which it was given.
	// First is the first instance or node to receive it, in the run of FirstSeed.
	Count     uint64 `json:"count"`
	Seeds     uint64 `json:"seeds"`
	First     string `json:"first"`
	FirstSeed uint64 `json:"first_seed,string"`

	lastSeed uint64
}

// help adds the help given in seed's run.
func (m *merge) help(seed uint64, r *cluster.Result) {
	f := &m.sum.Fate
	for _, h := range r.Help {
		text := h.Text
		switch h.Kind {
		case cluster.HelpStart:
			text = h.Name
		case cluster.HelpWiden, cluster.HelpRange:
			text = h.Name + ", which replayed " + h.Text
		case cluster.HelpBuild:
			text = h.Name + " as build " + h.Text
		case cluster.HelpCancel, cluster.HelpDelete:
			text = ""
		}
		same := func(g *HelpGroup) bool { return g.Phase == h.Phase && g.Kind == h.Kind && g.Text == text }
		g := group(&f.Help, same, HelpGroup{Phase: h.Phase, Kind: h.Kind, Text: text, First: h.Name, FirstSeed: seed})
		g.Count++
		if g.Seeds == 0 || g.lastSeed != seed {
			g.Seeds++
			g.lastSeed = seed
		}
	}
}

// helped says what recovery and rescue did by each kind of help. It is only used for lookups.
var helped = map[cluster.HelpKind]struct {
	did    string
	ofNode bool // whether the help was given to a node
}{
	cluster.HelpRaise: {"raised ", false}, cluster.HelpEnqueue: {"enqueued ", false}, cluster.HelpCancel: {"cancelled eternal work", false},
	cluster.HelpStart: {"started node ", true}, cluster.HelpBuild: {"started node ", true}, cluster.HelpWiden: {"widened node ", true},
	cluster.HelpRange: {"gave the range of its build to node ", true}, cluster.HelpDelete: {"deleted what no build takes", false},
}

// String describes the help without its counts.
func (g *HelpGroup) String() string {
	text := g.Text
	if g.Kind == cluster.HelpRaise || g.Kind == cluster.HelpEnqueue {
		text = strconv.Quote(text)
	}
	return g.Phase.String() + " " + helped[g.Kind].did + text
}

// maxHelp is the maximum number of help groups that Text shows unless all is set.
const maxHelp = 6

// helpText writes the help that recovery and rescue gave beyond the plan.
func (f *Fate) helpText(b *strings.Builder, all bool) {
	if len(f.Help) > 0 {
		b.WriteString("beyond the plan:\n")
	}
	for i := range f.Help {
		g := &f.Help[i]
		if i == maxHelp && !all {
			fmt.Fprintf(b, "  ... more kinds of help: %d\n", len(f.Help)-i)
			return
		}
		first := ""
		if g.First != "" && !helped[g.Kind].ofNode {
			first = " for " + g.First
		}
		seeds := "seeds"
		if g.Seeds == 1 {
			seeds = "seed"
		}
		fmt.Fprintf(b, "  %7d  %s, in %d %s, first%s in seed %d\n", g.Count, g, g.Seeds, seeds, first, g.FirstSeed)
	}
}
