package timeline

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
)

// ShiVizExpression is the regular expression with which the ShiViz tool can parse the output of Timeline.ShiViz. That
// output has two lines per event.
const ShiVizExpression = `(?<host>\S*) (?<clock>{.*})\n(?<event>.*)`

// ShiViz writes the history events as a log with vector clocks. Its hosts are the nodes, "clients", and each instance.
// An event merges the clock of its node with the clock of the instance's previous events, so that arrows show where
// work moved from one node to another. Each line contains a step, which can be passed to "replay --at STEP".
func (t *Timeline) ShiViz(w io.Writer) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "# %s, seed %s. In ShiViz, use the expression: %s\n", t.Scenario, t.Seed, ShiVizExpression)
	type entry struct {
		step     uint64
		order    int
		host     string
		instance int // -1 if there is none
		text     string
	}
	var all []entry
	for _, m := range t.Marks {
		if m.Kind == "step" || m.Kind == "crash" {
			host := "cluster"
			if m.Node >= 0 {
				host = hostName("node-" + t.Nodes[m.Node].Name)
			}
			all = append(all, entry{m.Step, len(all), host, -1, fmt.Sprintf("%s [step %d]", m.Text, m.Step)})
		}
	}
	for i := range t.Instances {
		for _, e := range t.Instances[i].History {
			host := "clients"
			if e.Node >= 0 && e.Node < len(t.Nodes) {
				host = hostName("node-" + t.Nodes[e.Node].Name)
			}
			all = append(all, entry{e.Step, len(all), host, i, fmt.Sprintf("%s: event %d.%d %s [step %d]", t.Instances[i].ID, e.Execution, e.ID, e.Kind, e.Step)})
		}
	}
	slices.SortStableFunc(all, func(x, y entry) int {
		if x.step != y.step {
			return cmp.Compare(x.step, y.step)
		}
		return x.order - y.order
	})
	clocks := map[string]clock{}
	last := map[int]clock{} // by instance
	for _, e := range all {
		c := clocks[e.host].joined(last[e.instance]).ticked(e.host)
		clocks[e.host] = c
		if e.instance >= 0 {
			last[e.instance] = c
		}
		fmt.Fprintf(b, "%s %s\n%s\n", e.host, c, e.text)
	}
	return b.Flush()
}

func hostName(s string) string { return strings.Join(strings.Fields(s), "-") }

// clock is a vector clock, sorted by host.
type clock []tick

type tick struct {
	host string
	n    int
}

func (c clock) joined(o clock) clock {
	out := slices.Clone(c)
	for _, t := range o {
		i, found := slices.BinarySearchFunc(out, t, byHost)
		if found {
			out[i].n = max(out[i].n, t.n)
		} else {
			out = slices.Insert(out, i, t)
		}
	}
	return out
}

// ticked returns the clock with host's component incremented. It may modify c.
func (c clock) ticked(host string) clock {
	i, found := slices.BinarySearchFunc(c, tick{host: host}, byHost)
	if !found {
		c = slices.Insert(c, i, tick{host: host})
	}
	c[i].n++
	return c
}

func byHost(a, b tick) int { return strings.Compare(a.host, b.host) }

func (c clock) String() string {
	var parts []string
	for _, t := range c {
		parts = append(parts, fmt.Sprintf("%q:%d", t.host, t.n))
	}
	return "{" + strings.Join(parts, ", ") + "}"
}
