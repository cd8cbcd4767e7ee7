package upgrade

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/memprovider"
	"github.com/durosim/durosim/sim/plan"
)

// Snapshot holds the contents of an export. Of a large store it holds some of the instances, each for those like it.
type Snapshot struct {
	// Store holds the running instances and their queues.
	Store plan.Contents
	// NoQueues is set if the export has no queues, so that those in Store are taken from the histories.
	NoQueues bool
	// Ended counts the instances that have ended. They are not in Store.
	Ended int
	// Delivered counts the messages that had been delivered at least once, by their kind. A run resets their delivery
	// counts to 0.
	Delivered []Delivered
	// LeftOut lists what stores contain in ordinary operation but runs cannot use. Problems lists the damage to the
	// export, because of which it may lack what the store has.
	LeftOut  []LeftOut
	Problems []Problem

	shapes map[string]*shape       // calls of new instances, keyed by orchestration
	own    map[executionKey]*shape // calls made so far
	first  map[string]uint64       // the first execution that is not in the export, keyed by instance
	loops  map[string]bool         // the orchestrations, by name, of which some execution has continued as new
	survey *survey
	ends   map[string]plan.End // the expected ends of the running instances, unless they are to complete
}

// LeftOut counts the rows that a run does not use for the same reason. Example is the first of them, and Instances lists
// all instances that they are of.
type LeftOut struct {
	Reason    string   `json:"reason"`
	Count     int      `json:"count"`
	Example   Problem  `json:"example"`
	Instances []string `json:"instances"`
}

// Delivered counts the queued messages of a kind that had been delivered at least once, at most Attempts times. Instance is
// the recipient of the one that had been delivered most often.
type Delivered struct {
	Instance string
	Kind     engine.WorkItemKind
	Attempts uint32
	Count    int
}

// Problem describes an unusable part of an export. Field is empty if the problem is not in a particular field.
type Problem struct {
	File  string
	Line  int
	Field string
	Text  string
}

// Error returns the file, the line and the field, followed by the problem.
func (p Problem) Error() string {
	switch {
	case p.File == "":
		return p.Text
	case p.Field == "":
		return fmt.Sprintf("%s:%d: %s", p.File, p.Line, p.Text)
	}
	return fmt.Sprintf("%s:%d: field %q: %s", p.File, p.Line, p.Field, p.Text)
}

// MarshalText returns the same.
func (p Problem) MarshalText() ([]byte, error) { return []byte(p.Error()), nil }

// Read reads the export called name: a file, or a directory of .jsonl files. Event kinds are known if one of the builds
// knows them. Read returns an error only if it cannot read the export at all.
func Read(fsys fs.FS, name string, builds []*engine.Build) (*Snapshot, error) {
	info, err := fs.Stat(fsys, name)
	if err != nil {
		return nil, err
	}
	files := []string{name}
	if info.IsDir() {
		if files, err = fs.Glob(fsys, path.Join(name, "*.jsonl")); err != nil {
			return nil, err
		}
		if len(files) == 0 {
			return nil, fmt.Errorf("%s: no file there ends in .jsonl", name)
		}
		slices.Sort(files)
	}
	r := &reader{survey: &survey{index: map[string]uint32{}, traits: map[trait]uint32{}, sets: newSets()}, codecs: codecsOf(builds), instances: map[string]*instanceRow{}, executions: map[executionKey]*executionRow{}}
	open := func(file string) (io.ReadCloser, error) { return fsys.Open(file) }
	if !info.IsDir() && !info.Mode().IsRegular() { // a pipe can be read once
		data, err := fs.ReadFile(fsys, name)
		if err != nil {
			return nil, err
		}
		open = func(string) (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil }
	}
	for _, file := range files {
		if err := reading(open, file, func(in io.Reader) error { return r.file(file, in) }); err != nil {
			return nil, err
		}
	}
	r.survey.choose()
	r.surveyed = true
	for i, file := range files {
		if err := reading(open, file, func(in io.Reader) error { return r.again(file, in, r.owners[i]) }); err != nil {
			return nil, err
		}
	}
	s := r.snapshot()
	if len(s.Store.Instances)+len(s.Store.Messages)+s.Ended == 0 && len(s.Problems) > 0 {
		return nil, fmt.Errorf("no line of it can be used; the first problem: %w", s.Problems[0])
	}
	return s, nil
}

func reading(open func(file string) (io.ReadCloser, error), file string, do func(in io.Reader) error) error {
	f, err := open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	in := bufio.NewReaderSize(f, 1<<20)
	if head, _ := in.Peek(16); string(head) == "SQLite format 3\x00" {
		return fmt.Errorf("%s is an SQLite database: write what it holds as lines first: duroxide-export %[1]s > export.jsonl", file)
	}
	return do(in)
}

// codecsOf returns the builds' codecs, newest first, followed by a codec for all kinds.
func codecsOf(builds []*engine.Build) []engine.Codec {
	builds = slices.Clone(builds)
	slices.SortStableFunc(builds, func(a, b *engine.Build) int { return b.Version.Compare(a.Version) })
	var codecs []engine.Codec
	for _, b := range builds {
		codecs = append(codecs, b.Codec)
	}
	return append(codecs, engine.NewJSONCodec("any", engine.Kinds2x(), engine.WorkItemKinds2x()))
}

// EndCancelled is the expected end of an instance for which a cancel request is queued.
const EndCancelled = plan.EndCompleted + "|" + plan.EndFailed

// Instances returns the running instances as instances of a plan, with their expected ends: an instance completes, unless
// its orchestration continues as new (plan.EndEternal), or a cancel request is queued for it or an ancestor
// (EndCancelled).
func (s *Snapshot) Instances() []plan.Instance {
	var all []plan.Instance
	for i := range s.Store.Instances {
		in := &s.Store.Instances[i]
		all = append(all, plan.Instance{ID: in.Instance, Orchestration: in.Orchestration, Existing: true, Expect: s.ends[in.Instance]})
	}
	for _, m := range s.Store.Messages {
		if start, ok := m.Item.(engine.StartItem); ok && s.Store.Instance(start.Instance) == nil {
			all = append(all, plan.Instance{ID: start.Instance, Orchestration: start.Orchestration, Existing: true, Expect: s.ends[start.Instance]})
		}
	}
	slices.SortStableFunc(all, func(a, b plan.Instance) int { return strings.Compare(a.ID, b.ID) })
	return slices.CompactFunc(all, func(a, b plan.Instance) bool { return a.ID == b.ID })
}

// Counts returns how many instances of the store are running, how many messages are queued, and how many of these are
// starts.
func (s *Snapshot) Counts() (running, queued, starts int) {
	for _, in := range s.Instances() {
		starts += s.Weight(in.ID)
	}
	for i := range s.Store.Instances {
		running += s.Weight(s.Store.Instances[i].Instance)
	}
	for _, m := range s.Store.Messages {
		queued += s.Weight(m.Item.Target())
	}
	return running, queued, starts - running
}

// Pins returns the distinct pins of the running instances, in ascending order, with the number of instances that have
// each. A nil pin stands for unpinned instances.
func (s *Snapshot) Pins() []PinCount {
	var all []PinCount
	for i := range s.Store.Instances {
		pin := Current(&s.Store.Instances[i]).Pin
		count := entry(&all, func(c PinCount) bool { return PinText(c.Pin) == PinText(pin) }, PinCount{Pin: pin})
		count.Instances += s.Weight(s.Store.Instances[i].Instance)
	}
	slices.SortFunc(all, func(a, b PinCount) int {
		if a.Pin == nil || b.Pin == nil {
			return cmp.Compare(PinText(a.Pin), PinText(b.Pin))
		}
		return a.Pin.Compare(*b.Pin)
	})
	return all
}

// PinCount is the number of instances with a pin.
type PinCount struct {
	Pin       *engine.Version
	Instances int
}

// PinText returns a pin, or none if v is nil.
func PinText(v *engine.Version) string {
	if v == nil {
		return "none"
	}
	return v.String()
}

// Current returns the instance's current execution.
func Current(in *memprovider.PreloadedInstance) *memprovider.PreloadedExecution {
	i := slices.IndexFunc(in.Executions, func(x memprovider.PreloadedExecution) bool { return x.ID == in.Current })
	if i < 0 {
		i = len(in.Executions) - 1
	}
	return &in.Executions[i]
}
