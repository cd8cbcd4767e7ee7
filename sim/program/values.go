package program

import (
	"strconv"
	"strings"

	"github.com/durosim/durosim/engine"
)

// The names from which the generator chooses, simplest first. Some are prefixes of others, and some resemble parts of
// ids or patterns.
var (
	eventNames = []string{"go", "stop", "go-on", "g"}
	topics     = []string{"topic", "top", "to/pic"}
	queueNames = []string{"jobs", "job", "jobs ", "Jobs"}
	keyNames   = []string{"k", "k1", "k10", "K", "k%_", "\u00e9", "many-1"}
	sessions   = []string{"s", "s1"}
	childIDs   = []string{"kin", "kin2"}
)

// The sizes from which the generator chooses, most common first. 0 means no padding; the others are close to the
// limits.
var (
	keySizes    = []int{0, engine.MaxKVValueBytes, engine.MaxKVValueBytes - 1, engine.MaxKVValueBytes + 1}
	statusSizes = []int{0, engine.MaxCustomStatusBytes, engine.MaxCustomStatusBytes + 1}
	manySizes   = []int{2, 99, engine.MaxKVKeys, engine.MaxKVKeys + 1}
)

// corners lists suffixes that codecs and parsers are likely to get wrong.
var corners = []string{
	"\u00e9", "e\u0301", "\U0001F600", "\u2028\u2029", "\"\\", "\x7f\t", "</b>&amp;", "\ufeff\ufffd", "null", "{}[]", ";|}", "  ", strings.Repeat("long ", 200),
}

func (g *generator) among(names []string) string {
	// Choose the first one half of the time.
	if g.choose(2) == 0 {
		return names[0]
	}
	return names[g.choose(len(names))]
}

// text returns a text that no other statement uses, so that a misplaced result can be detected.
func (g *generator) text() string {
	g.texts++
	text := "t" + strconv.Itoa(g.texts)
	if g.rarely(12) {
		text += corners[g.choose(len(corners))]
	}
	return text
}

// value returns a text that may be empty.
func (g *generator) value() string {
	if g.rarely(12) {
		return ""
	}
	return g.text()
}

func (g *generator) size(sizes []int) int {
	if !g.rarely(16) {
		return 0
	}
	return sizes[g.choose(len(sizes))]
}

func (g *generator) version(of []string) string {
	if v := of[g.choose(len(of))]; v != "" {
		return v
	}
	return DefaultVersion
}

// placed chooses a call's session or tag. Because no worker takes a tag, the only tag it chooses is longer than the
// limit for all activities.
func (g *generator) placed(n *Node) {
	switch g.choose(10) {
	case 7, 8:
		n.Session = g.among(sessions)
	case 5:
		if g.choose(8) == 5 { // a tag of this length ends the program
			n.Tag = strings.Repeat("g", engine.MaxTagNameBytes+1)
		}
	}
}

// started chooses the program to start, its version and, for a child, an id.
func (g *generator) started(n *Node) {
	n.Name = g.set[g.choose(len(g.set))].Name
	n.Text = g.text()
	if g.rarely(4) {
		var versions []string
		for _, p := range g.set.Versions(n.Name, "") {
			versions = append(versions, p.Version)
		}
		n.Version = g.version(versions)
	}
	if n.Op == OpChild && g.rarely(3) {
		n.ID = g.among(childIDs)
	}
}
