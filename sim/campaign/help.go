package campaign

import (
	"fmt"
	"slices"
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
		at := slices.IndexFunc(f.Help, func(g HelpGroup) bool { return g.Phase == h.Phase && g.Kind == h.Kind && g.Text == text })
		if at < 0 {
			at = len(f.Help)
			f.Help = append(f.Help, HelpGroup{Phase: h.Phase, Kind: h.Kind, Text: text, First: h.Name, FirstSeed: seed})
		}
		g := &f.Help[at]
		g.Count++
		if g.Seeds == 0 || g.lastSeed != seed {
			g.Seeds++
			g.lastSeed = seed
		}
	}
}

// String describes the help without its counts.
func (g *HelpGroup) String() string {
	switch g.Kind {
	case cluster.HelpRaise:
		return fmt.Sprintf("%s raised %q", g.Phase, g.Text)
	case cluster.HelpEnqueue:
		return fmt.Sprintf("%s enqueued %q", g.Phase, g.Text)
	case cluster.HelpCancel:
		return fmt.Sprintf("%s cancelled eternal work", g.Phase)
	case cluster.HelpStart, cluster.HelpBuild:
		return fmt.Sprintf("%s started node %s", g.Phase, g.Text)
	case cluster.HelpRange:
		return fmt.Sprintf("%s gave the range of its build to node %s", g.Phase, g.Text)
	case cluster.HelpDelete:
		return fmt.Sprintf("%s deleted what no build takes", g.Phase)
	}
	return fmt.Sprintf("%s widened node %s", g.Phase, g.Text)
}

// ofNode reports whether the help was given to a node.
func (g *HelpGroup) ofNode() bool {
	switch g.Kind {
	case cluster.HelpStart, cluster.HelpBuild, cluster.HelpRange, cluster.HelpWiden:
		return true
	}
	return false
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
		if g.First != "" && !g.ofNode() {
			first = " for " + g.First
		}
		seeds := "seeds"
		if g.Seeds == 1 {
			seeds = "seed"
		}
		fmt.Fprintf(b, "  %7d  %s, in %d %s, first%s in seed %d\n", g.Count, g, g.Seeds, seeds, first, g.FirstSeed)
	}
}
