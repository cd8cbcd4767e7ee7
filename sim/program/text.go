package program

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/durosim/durosim/internal/pretty"
)

// OpInfo describes a statement for use in listings.
type OpInfo struct {
	Op Op
	// Form is the statement's syntax. Words in capitals are placeholders.
	Form    string
	Meaning string
	args    []arg
	block   bool
}

type arg uint8

// A statement's arguments, in the order in which they are written. An argument whose name begins with may is optional.
const (
	argName  arg = iota + 1 // Node.Name
	argText                 // Node.Text
	mayText                 // Node.Text, or empty if omitted
	mayTopic                // "topic" followed by Node.Text, as one of the pairs
	argDelay                // Node.Delay
	argCount                // Node.Count
	argValue                // Node.Text, which may be empty
	argSize                 // Node.Size

	// The remaining arguments are pairs, each a keyword and a value.
	maySession
	mayTag
	mayID
	mayVersion
	mayPadded
)

// pairs holds the keyword of each optional pair.
var pairs = map[arg]string{mayTopic: "topic", maySession: "session", mayTag: "tag", mayID: "as", mayVersion: "version", mayPadded: "padded"}

// paired returns the text field that pair a sets, or nil for the padding pair, which sets none.
func paired(n *Node, a arg) *string {
	switch a {
	case mayTopic:
		return &n.Text
	case maySession:
		return &n.Session
	case mayTag:
		return &n.Tag
	case mayID:
		return &n.ID
	case mayVersion:
		return &n.Version
	}
	return nil
}

func (i *OpInfo) has(a arg) bool { return slices.Contains(i.args, a) }

// Ops returns all statements. The caller owns the slice.
func Ops() []OpInfo { return slices.Clone(opTable) }

var opTable = []OpInfo{
	{Op: OpSay, Form: "say TEXT", Meaning: "yields the text", args: []arg{argText}},
	{Op: OpInput, Form: "input", Meaning: "yields the instance's input"},
	{Op: OpCall, Form: "call TEXT [session NAME] [tag TAG]", Meaning: "runs an activity that yields call(TEXT), optionally in a session or on a worker that accepts the tag", args: []arg{argText, maySession, mayTag}},
	{Op: OpCallFails, Form: "call-fails TEXT", Meaning: "runs an activity that fails with failed(TEXT)", args: []arg{argText}},
	{Op: OpFail, Form: "fail TEXT", Meaning: "fails with the text", args: []arg{argText}},
	{Op: OpPanic, Form: "panic TEXT", Meaning: "panics with the text", args: []arg{argText}},
	{Op: OpTimer, Form: "timer TIME", Meaning: "waits for TIME and yields nothing", args: []arg{argDelay}},
	{Op: OpWait, Form: "wait EVENT [topic TOPIC]", Meaning: "waits for an event and yields its data; with a topic, it is a second-generation wait", args: []arg{argName, mayTopic}},
	{Op: OpChild, Form: "child PROGRAM [INPUT] [as ID] [version VERSION]", Meaning: "runs a program as a child and yields its output, or fails as it does; with ID, the child's id is the parent's id, a slash and ID", args: []arg{argName, mayText, mayID, mayVersion}},
	{Op: OpDetach, Form: "detach PROGRAM [INPUT] [version VERSION]", Meaning: "starts a program as an independent instance and yields nothing", args: []arg{argName, mayText, mayVersion}},
	{Op: OpDrop, Form: "drop ... end", Meaning: "starts each statement and drops it; yields nothing", block: true},
	{Op: OpSeq, Form: "seq ... end", Meaning: "runs the statements in sequence; fails with the first failure", block: true},
	{Op: OpJoin, Form: "join ... end", Meaning: "runs the statements concurrently; yields their texts in order, with failures prefixed by !", block: true},
	{Op: OpSelect, Form: "select ... end", Meaning: "runs the statements concurrently and takes the first to finish: yields its number (from 0), a colon and its text, or fails as it does", block: true},
	{Op: OpTry, Form: "try ... catch ... end", Meaning: "runs the statements in sequence; if one fails, yields ~, the failure, > and the texts of the statements after catch", block: true},
	{Op: OpRepeat, Form: "repeat COUNT ... end", Meaning: "runs its statements in sequence, COUNT times (1 to 10)", args: []arg{argCount}, block: true},
	{Op: OpAgain, Form: "again COUNT [version VERSION]", Meaning: "continues as new, unless COUNT executions (1 to 10) have already done so; the output so far, the keys and the custom status are kept", args: []arg{argCount, mayVersion}},
	{Op: OpDequeue, Form: "dequeue QUEUE", Meaning: "takes a message from a queue and yields its data", args: []arg{argName}},
	{Op: OpSet, Form: "set KEY VALUE [padded BYTES]", Meaning: "sets a key and yields nothing; padded fills the value up to BYTES bytes with dots", args: []arg{argName, argValue, mayPadded}},
	{Op: OpSetMany, Form: "set-many COUNT", Meaning: "sets the keys many-1 to many-COUNT to v and yields nothing", args: []arg{argSize}},
	{Op: OpGet, Form: "get KEY", Meaning: "yields the value of a key, or - if there is none", args: []arg{argName}},
	{Op: OpClear, Form: "clear KEY", Meaning: "removes a key and yields nothing", args: []arg{argName}},
	{Op: OpClearAll, Form: "clear-all", Meaning: "removes all keys and yields nothing"},
	{Op: OpKeys, Form: "keys", Meaning: "yields KEY=VALUE, for each key, in ascending order, with a comma after each"},
	{Op: OpPrune, Form: "prune", Meaning: "prunes all keys, regardless of their age, and yields their number"},
	{Op: OpRemote, Form: "remote KEY", Meaning: "yields the value of one of the instance's own keys as read by a worker, or - if there is none", args: []arg{argName}},
	{Op: OpStatus, Form: "status VALUE [padded BYTES]", Meaning: "sets the custom status and yields nothing", args: []arg{argValue, mayPadded}},
	{Op: OpStatusReset, Form: "status-reset", Meaning: "removes the custom status and yields nothing"},
	{Op: OpStatusGet, Form: "status-get", Meaning: "yields the custom status, or - if there is none"},
	{Op: OpGUID, Form: "guid", Meaning: "requests a unique id and yields \"guid\""},
	{Op: OpNow, Form: "now", Meaning: "requests a worker's time and yields \"now\""},
}

func lookup(op Op) (*OpInfo, bool) {
	if i := slices.IndexFunc(opTable, func(i OpInfo) bool { return i.Op == op }); i >= 0 {
		return &opTable[i], true
	}
	return &OpInfo{}, false
}

// Parser parses the text of one program line by line, starting after the `program NAME` line.
type Parser struct {
	p Program
	// open holds the blocks that are still open, outermost first.
	open []block
}

type block struct {
	node  Node
	catch bool
}

// NewParser returns a parser for a program with that name and version. An empty version means DefaultVersion.
func NewParser(name, version string) *Parser {
	return &Parser{p: Program{Name: name, Version: version}}
}

// Line parses one line, split into words. words must not be empty. done reports whether this was the program's last
// line.
func (p *Parser) Line(words []string) (done bool, err error) {
	head, words := words[0], words[1:]
	switch {
	case head == "end" && len(words) == 0:
		if len(p.open) == 0 {
			return true, nil
		}
		b := p.open[len(p.open)-1]
		if b.node.Op == OpTry && !b.catch {
			return false, errors.New(`this "end" closes a try without a catch: expected "catch" before it`)
		}
		p.open = p.open[:len(p.open)-1]
		p.add(b.node)
		return false, nil
	case head == "catch" && len(words) == 0:
		if len(p.open) == 0 || p.open[len(p.open)-1].node.Op != OpTry || p.open[len(p.open)-1].catch {
			return false, errors.New(`"catch" outside a try`)
		}
		p.open[len(p.open)-1].catch = true
		return false, nil
	}
	info, known := lookup(Op(head))
	if !known {
		return false, fmt.Errorf("unknown statement %q of a program: expected %s, catch or end", head,
			strings.Join(pretty.Texts(opTable, func(i OpInfo) string { return string(i.Op) }), ", "))
	}
	n, err := info.node(words)
	if err != nil {
		return false, fmt.Errorf("%w, as in: %s", err, info.Form)
	}
	if info.block {
		if len(p.open) >= maxDepth {
			return false, fmt.Errorf("blocks are nested deeper than %d", maxDepth)
		}
		p.open = append(p.open, block{node: n})
		return false, nil
	}
	p.add(n)
	return false, nil
}

// Program returns the program parsed so far.
func (p *Parser) Program() Program { return p.p }

func (p *Parser) add(n Node) {
	list := &p.p.Body
	if len(p.open) > 0 {
		b := &p.open[len(p.open)-1]
		if list = &b.node.Kids; b.catch {
			list = &b.node.Else
		}
	}
	*list = append(*list, n)
}

// node parses a statement's arguments.
func (i *OpInfo) node(words []string) (Node, error) {
	n := Node{Op: i.Op}
	for _, a := range i.args {
		word, isPair := pairs[a]
		switch {
		case isPair && (len(words) < 2 || words[0] != word), a == mayText && len(words)%2 == 0: // only pairs follow, or nothing
			continue
		case isPair:
			words = words[1:]
		case len(words) == 0:
			return n, errors.New("the line ends too early")
		}
		if err := n.take(a, words[0]); err != nil {
			return n, err
		}
		words = words[1:]
	}
	if len(words) > 0 {
		return n, fmt.Errorf("unexpected %q", words[0])
	}
	return n, nil
}

// take sets the field for argument a.
func (n *Node) take(a arg, word string) (err error) {
	switch a {
	case argName:
		n.Name = word
	case argText, mayText, argValue:
		n.Text = word
	case argDelay:
		if n.Delay, err = time.ParseDuration(word); err != nil || n.Delay < 0 {
			return fmt.Errorf("%q: expected a time such as 250ms or 10s", word)
		}
	case argCount:
		if n.Count, err = strconv.Atoi(word); err != nil || n.Count < 1 || n.Count > maxCount {
			return fmt.Errorf("%q: expected a number from 1 to %d", word, maxCount)
		}
	case argSize, mayPadded:
		if n.Size, err = strconv.Atoi(word); err != nil || n.Size < 1 || n.Size > maxSize {
			return fmt.Errorf("%q: expected a number from 1 to %d", word, maxSize)
		}
	default:
		if *paired(n, a) = word; word == "" {
			return fmt.Errorf("%s: expected a text after it", pairs[a])
		}
	}
	return nil
}

// Format writes the line "program NAME" and the program's text, which a Parser accepts. quote formats a value as a
// single word.
func (p *Program) Format(w io.Writer, quote func(string) string) {
	fmt.Fprintf(w, "program %s", quote(p.Name))
	if p.Version != "" {
		fmt.Fprintf(w, " version %s", p.Version)
	}
	fmt.Fprintln(w)
	format(w, quote, p.Body, "  ")
	fmt.Fprintln(w, "end")
}

func format(w io.Writer, quote func(string) string, list []Node, indent string) {
	for i := range list {
		n := &list[i]
		info, _ := lookup(n.Op)
		line := indent + string(n.Op)
		for _, a := range info.args {
			switch {
			case a == argName:
				line += " " + quote(n.Name)
			case a == argText, a == argValue, a == mayText && n.Text != "":
				line += " " + quote(n.Text)
			case a == argSize:
				line += " " + strconv.Itoa(n.Size)
			case a == mayPadded && n.Size > 0:
				line += " padded " + strconv.Itoa(n.Size)
			case paired(n, a) != nil && *paired(n, a) != "":
				line += " " + pairs[a] + " " + quote(*paired(n, a))
			case a == argDelay:
				line += " " + n.Delay.String()
			case a == argCount:
				line += " " + strconv.Itoa(n.Count)
			}
		}
		fmt.Fprintln(w, line)
		if !info.block {
			continue
		}
		format(w, quote, n.Kids, indent+"  ")
		if n.Op == OpTry {
			fmt.Fprintln(w, indent+"catch")
			format(w, quote, n.Else, indent+"  ")
		}
		fmt.Fprintln(w, indent+"end")
	}
}
