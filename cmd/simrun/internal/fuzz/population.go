package fuzz

import (
	"math/bits"
	"slices"
	"strings"

	"github.com/durosim/durosim/sim/cluster"
)

// population holds the inputs that showed a new feature, and the features that all runs have shown.
type population struct {
	members []*member
	// byName holds the indexes of features by name. Nothing ranges over it.
	features []feature
	byName   map[string]int
}

// member is an input of the population.
type member struct {
	Input
	// shows lists the features that this input was the first to show.
	shows []int
	// moments caches, by point, the number of draws made when the run first reached the point.
	moments map[string]uint64
}

// feature is a point in a range of counts, or two points of one run.
type feature struct {
	name string
	// point is the point to go back to: the only point, or the alphabetically later of two.
	point string
	runs  uint64 // number of runs that showed it
	owner *member
}

// featuresOf returns the names of the features of a run: each point with the magnitude of its count, and each pair of
// points. Points about build changes (with "->" in their names) are numerous and form no pairs.
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

// add counts the features of a run and keeps its input if any feature is new. It returns the names of the new features.
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

// rare draws a few features and returns the one that the fewest runs have shown.
func (p *population) rare(draw func(n int) int) *feature {
	best := &p.features[draw(len(p.features))]
	for range 6 {
		if f := &p.features[draw(len(p.features))]; f.runs < best.runs {
			best = f
		}
	}
	return best
}

// points returns the number of distinct points reached.
func (p *population) points() int {
	var names []string
	for i := range p.features {
		names = append(names, p.features[i].point)
	}
	slices.Sort(names)
	return len(slices.Compact(names))
}
