package program

import (
	"errors"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/Masterminds/semver/v3"

	"github.com/durosim/durosim/engine"
)

// Validate returns an error that lists all mistakes in the programs.
func (s Set) Validate() error {
	var errs []error
	for i := range s {
		c := check{set: s[:i]}
		for j := i - 1; j >= 0 && s[j].Name == s[i].Name; j-- {
			c.set = s[:j]
		}
		if s[i].Name == "" {
			c.fail("a program without a name")
		}
		c.version(s, i)
		if len(s[i].Body) == 0 {
			c.fail("it has no statements")
		}
		c.list(s[i].Body, 0, true)
		if work := s[i].work(c.set); len(c.errs) == 0 && work > maxWork {
			c.fail("it schedules %d operations, including those of the programs it starts: want at most %d", work, maxWork)
		}
		if waits := s[i].waits(); len(c.errs) == 0 && waits > maxWaits {
			c.fail("it waits for %d events: want at most %d", waits, maxWaits)
		}
		for _, err := range c.errs {
			errs = append(errs, fmt.Errorf("program %s: %w", s[i].Name, err))
		}
	}
	return errors.Join(errs...)
}

// check is the state of validating one program. set holds the programs that it may start, and own the programs with the
// same name.
type check struct {
	set, own Set
	errs     []error
}

// version checks the version of program i in s, and that the versions of each program are adjacent.
func (c *check) version(s Set, i int) {
	if _, err := engine.ParseVersion(s[i].At()); err != nil {
		c.fail("%v", err)
	}
	for j := range s {
		if s[j].Name == s[i].Name {
			c.own = append(c.own, s[j])
		}
	}
	switch {
	case c.set.Lookup(s[i].Name) != nil:
		c.fail("another program comes between its versions: want them next to each other")
	case i > len(c.set) && s[i-1].At() == s[i].At():
		c.fail("duplicate name and version")
	case i > len(c.set):
		// The order is that of semantic versioning, whatever the registry under test takes it for.
		before, err := semver.StrictNewVersion(s[i-1].At())
		if own, bad := semver.StrictNewVersion(s[i].At()); err == nil && bad == nil && before.Compare(own) >= 0 {
			c.fail("its version %s comes after %s: want ascending order", own, before)
		}
	}
}

func (c *check) fail(format string, args ...any) {
	c.errs = append(c.errs, fmt.Errorf(format, args...))
}

func (c *check) list(list []Node, depth int, top bool) {
	if depth > maxDepth {
		c.fail("it is nested deeper than %d blocks", maxDepth)
		return
	}
	for i := range list {
		c.node(&list[i], depth, top)
	}
}

func (c *check) node(n *Node, depth int, top bool) {
	info, known := lookup(n.Op)
	if !known {
		c.fail("unknown statement %q", n.Op)
		return
	}
	for _, text := range []string{n.Name, n.Text, n.Session, n.Tag, n.ID, n.Version} {
		if !utf8.ValidString(text) {
			c.fail("%s: text is not valid UTF-8", n.Op)
		}
	}
	if info.has(argName) && n.Name == "" || info.has(argText) && n.Text == "" {
		c.fail("%s: expected %s", n.Op, info.Form)
	}
	if info.has(argDelay) && (n.Delay < 0 || n.Delay > maxDelay || n.Delay%time.Millisecond != 0) {
		c.fail("%s %v: want whole milliseconds up to %v", n.Op, n.Delay, maxDelay)
	}
	if info.has(argCount) && (n.Count < 1 || n.Count > maxCount) {
		c.fail("%s %d: want a number from 1 to %d", n.Op, n.Count, maxCount)
	}
	if n.Size < 0 || n.Size > maxSize || n.Op == OpSetMany && (n.Size < 1 || n.Size > maxKeys) {
		c.fail("%s: a size of %d: want at most %d, and keys from 1 to %d", n.Op, n.Size, maxSize, maxKeys)
	}
	if info.block && len(n.Kids) == 0 || n.Op == OpTry && len(n.Else) == 0 {
		c.fail("%s: a block without statements", n.Op)
	}
	switch {
	case n.Op == OpAgain && !top:
		c.fail("again is inside a block: want it at the top level of the program")
	case (n.Op == OpChild || n.Op == OpDetach) && c.set.Lookup(n.Name) == nil:
		c.fail("%s %s: want the name of an earlier program", n.Op, n.Name)
	case (n.Op == OpChild || n.Op == OpDetach) && len(c.set.Versions(n.Name, n.Version)) == 0:
		c.fail("%s %s: it has no version %s", n.Op, n.Name, n.Version)
	case n.Op == OpAgain && len(c.own.Versions(c.own[0].Name, n.Version)) == 0:
		c.fail("again: there is no version %s of this program", n.Version)
	case (n.Op == OpChild || n.Op == OpDetach) && !IsInput(n.Text):
		c.fail("%s %s: an input that begins with %q", n.Op, n.Name, carryMark)
	}
	c.list(n.Kids, depth+1, false)
	c.list(n.Else, depth+1, false)
}

// work returns the maximum number of operations scheduled by an instance of the program, including everything that it
// starts. Large numbers are capped.
func (p *Program) work(set Set) int {
	memo := make([]int, len(set))
	for i := range set {
		memo[i] = set[i].workOver(set[:i], memo[:i])
	}
	return p.workOver(set, memo)
}

func (p *Program) workOver(set Set, memo []int) int {
	work := sum(p.Body, maxWork*maxCount, func(n *Node, inside int) int {
		switch n.Op {
		case OpChild, OpDetach:
			most := 0
			for j := range set {
				if set[j].Name == n.Name {
					most = max(most, memo[j])
				}
			}
			return 1 + most
		case OpCall, OpCallFails, OpTimer, OpWait, OpDequeue, OpRemote, OpGUID, OpNow:
			return 1
		}
		return inside
	})
	return min(work*(1+agains(p.Body)), maxWork*maxCount)
}

// sum adds up what weigh says of each statement, which is told the sum of those inside it, up to most.
func sum(nodes []Node, most int, weigh func(n *Node, inside int) int) int {
	total := 0
	for i := range nodes {
		n := &nodes[i]
		inside := sum(n.Kids, most, weigh) + sum(n.Else, most, weigh)
		if n.Op == OpRepeat {
			inside *= max(n.Count, 1)
		}
		total = min(total+weigh(n, inside), most)
	}
	return total
}

// waits returns the maximum number of events for which an instance of the program itself waits. Large numbers are
// capped.
func (p *Program) waits() int {
	waits := sum(p.Body, maxWork, func(n *Node, inside int) int {
		if n.Op == OpWait || n.Op == OpDequeue {
			return 1
		}
		return inside
	})
	return waits * (1 + agains(p.Body))
}
