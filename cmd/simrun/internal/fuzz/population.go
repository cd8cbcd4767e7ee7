package fuzz

import (
	"math/bits"
	"slices"
	"strings"

	"github.com/durosim/durosim/sim/cluster"
)

// population holds the inputs that showed something new, and the features that all runs have shown.
type population struct {
	members []*member
	// features are indexed by name; the map is looked up only.
	features []feature
	byName   map[string]int
}

// member is an input of the population.
type member struct {
	Input
	// shows are the features that it was the first to show.
	shows []int
	// moments are the draws at which points were first reached, as far as they were asked for.
	moments map[string]uint64
}

// feature is a point in a range of counts, or two points of one run.
type feature struct {
	name string
	// point is where to go back to: the point, or the later of two in the alphabet.
	point string
	runs  uint64 // that showed it
	owner *member
}

// featuresOf returns the names of what a run shows: each point, by the magnitude of its count, and each pair of points.
// Points of build changes (with "->" in their names) are numerous, and form no pairs.
func featuresOf(points []cluster.Point) (names [][2]string) {
	var single []string
	for _, p := range points {
		names = append(names, [2]string{p.Name + "*" + string(rune('a'+min(bits.Len64(p.Count), 12)/2)), p.Name})
		if !strings.Contains(p.Name, "->") {
			single = append(single, p.Name)
		}
	}
	for i, a := range single {
		for _, b := range single[:i] {
			names = append(names, [2]string{b + " & " + a, a})
		}
	}
	return names
}

// add counts what a run showed, and keeps its input if some of that is new. It returns the new features' names.
func (p *population) add(in Input, points []cluster.Point) (news []string) {
	m := &member{Input: in, moments: map[string]uint64{}}
	for _, f := range featuresOf(points) {
		i, known := p.byName[f[0]]
		if !known {
			i = len(p.features)
			p.byName[f[0]] = i
			p.features = append(p.features, feature{name: f[0], point: f[1], owner: m})
			m.shows = append(m.shows, i)
			news = append(news, f[0])
		}
		p.features[i].runs++
	}
	if len(news) > 0 {
		p.members = append(p.members, m)
	}
	return news
}

// rare returns a feature that few runs have shown: the rarest of a few that are drawn.
func (p *population) rare(draw func(n int) int) *feature {
	best := &p.features[draw(len(p.features))]
	for range 6 {
		if f := &p.features[draw(len(p.features))]; f.runs < best.runs {
			best = f
		}
	}
	return best
}

// points returns how many different points were reached.
func (p *population) points() int {
	var names []string
	for i := range p.features {
		names = append(names, p.features[i].point)
	}
	slices.Sort(names)
	return len(slices.Compact(names))
}
