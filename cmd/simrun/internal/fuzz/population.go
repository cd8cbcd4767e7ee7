package fuzz

import (
	"math/bits"
	"slices"
	"strings"

	"github.com/durosim/durosim/sim/cluster"
)

// population holds every input that showed a new feature, and all features seen so far.
type population struct {
	members []*member
	// features lists all features. byName maps their names to indexes and is never iterated over.
	features []feature
	byName   map[string]int
}

// member is an input in the population.
type member struct {
	Input
	// shows lists the features that this input was the first to show.
	shows []int
	// moments caches momentOf for this input, keyed by point.
	moments map[string]uint64
}

// feature is either a point with a range of counts, or a pair of points reached in the same run.
type feature struct {
	// point is the point to return to. For a pair, it is the point that comes later in the run's list.
	point string
	runs  uint64 // number of runs that showed it
	owner *member
}

// featuresOf returns the names of a run's features, each with the point to return to. The features are each point with
// the magnitude of its count, and each pair of points. Points for build changes, whose names contain "->", are too
// numerous to be paired.
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

// add counts a run's features and returns the names of the new ones. If there are any, the input joins the population.
func (p *population) add(in Input, points []cluster.Point) (news []string) {
	m := &member{Input: in, moments: map[string]uint64{}}
	for _, f := range featuresOf(points) {
		i, known := p.byName[f[0]]
		if !known {
			i = len(p.features)
			p.byName[f[0]] = i
			p.features = append(p.features, feature{point: f[1], owner: m})
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

// rare picks seven features at random and returns the one that the fewest runs have shown.
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
