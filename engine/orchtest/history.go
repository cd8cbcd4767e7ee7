package orchtest

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/engine/node"
	"github.com/durosim/durosim/engine/orch"
	"github.com/durosim/durosim/engine/replay"
	"github.com/durosim/durosim/internal/pretty"
)

// codec returns a codec for all event kinds known to any shipped build.
func codec() engine.Codec {
	return engine.NewJSONCodec("history", engine.Kinds2x(), engine.WorkItemKinds2x())
}

// WriteHistory writes a history as a file with one event per line, in the contract's JSON. To record a history from a
// running system, read it from the provider's management surface (engine.ProviderAdmin.ReadHistory).
func WriteHistory(w io.Writer, history []engine.Event) error {
	c := codec()
	var out []byte
	for _, e := range history {
		var err error
		if out, err = c.AppendEvent(out, e); err != nil {
			return err
		}
		out = append(out, '\n')
	}
	_, err := w.Write(out)
	return err
}

// ReadHistory reads a file written by WriteHistory. It skips empty lines. Errors name the line.
func ReadHistory(r io.Reader) ([]engine.Event, error) {
	c := codec()
	var history []engine.Event
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 64<<20)
	for line := 1; lines.Scan(); line++ {
		text := bytes.TrimSpace(lines.Bytes())
		if len(text) == 0 {
			continue
		}
		e, err := c.DecodeEvent(text)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", line, err)
		}
		history = append(history, e)
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	if len(history) == 0 {
		return nil, fmt.Errorf("the history has no event")
	}
	return history, single(history)
}

// single returns an error if events are not one whole history, in its order. Ids jump only where code continued as new,
// perhaps before something else ended it: the call uses up an id. So does the event that a damaged history ends with.
func single(history []engine.Event) error {
	mayJump := slices.ContainsFunc(history, func(e engine.Event) bool {
		kind := e.Kind()
		return kind == eventdata.KindOrchestrationContinuedAsNew || kind == eventdata.KindOrchestrationFailed
	})
	for i, e := range history[1:] {
		if e.Kind() == eventdata.KindOrchestrationFailed && e.InstanceID == "" && e.ExecutionID == 0 { // by a release before 0.1.30
			e.InstanceID, e.ExecutionID = history[0].InstanceID, history[0].ExecutionID
		}
		if was := history[i]; e.EventID <= was.EventID || e.EventID > was.EventID+1 && !mayJump || e.InstanceID != was.InstanceID || e.ExecutionID != was.ExecutionID {
			return fmt.Errorf("event %d of %s, execution %d, follows event %d of %s, execution %d: a history, and a file, has all events of one execution, in order",
				e.EventID, e.InstanceID, e.ExecutionID, was.EventID, was.InstanceID, was.ExecutionID)
		}
	}
	return nil
}

// CheckHistory replays the recorded history of an execution, ended or running, and describes where the code diverges
// from it. The text is empty if it does not. It is stricter than a node, which fails an execution as nondeterministic
// only where the code asks for something else than is recorded: keys and statuses that the code no longer sets, events
// that are left when the code has returned, other outputs, and calls beyond the end of a history that has ended are
// differences, too.
//
// Keys set by an earlier execution of the instance are not part of a history, so the code does not see them. A difference
// of a later execution whose code reads keys says so.
func CheckHistory(handler orch.Handler, history []engine.Event) (difference string, err error) {
	if len(history) == 0 {
		return "", fmt.Errorf("orchtest: the history has no event")
	}
	if err := single(history); err != nil {
		return "", fmt.Errorf("orchtest: %w", err)
	}
	first, last := history[0], history[len(history)-1]
	keys := &keyReads{}
	difference, err = verify(replay.Input{
		Build: latestBuild(), Instance: first.InstanceID, ExecutionID: first.ExecutionID, History: history, Handler: handler, NowMs: last.TimestampMs, Watcher: keys,
	})
	if difference != "" && keys.any && first.ExecutionID > 1 {
		difference += fmt.Sprintf("; this is execution %d and reads keys: a history lacks those that an earlier execution set, so the code need not have changed", first.ExecutionID)
	}
	return difference, err
}

// CheckHistories replays every .jsonl file in a tree against a registry's code. The test fails, naming the file, for
// each history that cannot be read, that the code diverges from, that has not ended and whose orchestration and version
// are not in the registry, or which waits for an activity without a tag that is not among the registry's, if it has any.
// It also fails if that leaves no file to check.
//
//	orchtest.CheckHistories(t, os.DirFS("testdata/histories"), registry)
func CheckHistories(t T, tree fs.FS, registry *node.Registry) {
	t.Helper()
	if tree == nil || registry == nil {
		t.Fatalf("orchtest: CheckHistories needs a tree of files and a registry, not nil")
	}
	type mistake struct {
		text  string
		files uint64
	}
	var mistakes []*mistake
	alike := map[string]*mistake{}
	checked, unchecked := 0, ""
	err := fs.WalkDir(tree, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(name, ".jsonl") {
			return err
		}
		err = checkFile(tree, name, registry)
		if errors.Is(err, errNotNeeded) {
			unchecked = fmt.Sprintf("%s: %v", name, err)
			return nil
		}
		checked++
		if err == nil {
			return nil
		}
		but := quoted.ReplaceAllStringFunc(err.Error(), func(text string) string { return number.ReplaceAllString(text, "0") })
		if alike[but] == nil {
			alike[but] = &mistake{text: fmt.Sprintf("%s: %v", name, err)}
			mistakes = append(mistakes, alike[but])
		}
		alike[but].files++
		return nil
	})
	for _, m := range mistakes {
		if more := m.files - 1; more > 0 {
			m.text += fmt.Sprintf("\nand %s, where at most numbers in texts are others", pretty.Plural(more, "more file", "more files"))
		}
		t.Errorf("%s", m.text)
	}
	switch {
	case err != nil:
		t.Errorf("orchtest: %s: %v", nameOf(tree), err)
	case checked == 0 && unchecked != "":
		t.Errorf("orchtest: nothing was checked: %s", unchecked)
	case checked == 0:
		t.Errorf("orchtest: no file ends in .jsonl: nothing was checked")
	case unchecked != "":
		if l, ok := t.(interface{ Logf(string, ...any) }); ok {
			l.Logf("orchtest: not checked: %s", unchecked)
		}
	}
}

// Mistakes that differ in such numbers alone are reported once.
var quoted, number = regexp.MustCompile(`"(\\.|[^"\\])*"`), regexp.MustCompile(`[0-9]+`)

// nameOf returns the directory of an os.DirFS.
func nameOf(tree fs.FS) string {
	if v := reflect.ValueOf(tree); v.Kind() == reflect.String {
		return v.String()
	}
	return fmt.Sprintf("%T", tree)
}

var errNotNeeded = errors.New("is not registered, and the history has ended")

func checkFile(tree fs.FS, name string, registry *node.Registry) error {
	f, err := tree.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	history, err := ReadHistory(f)
	if err != nil {
		return err
	}
	started, ok := history[0].Data.(eventdata.OrchestrationStarted)
	if !ok {
		return fmt.Errorf("the history begins with %s; want OrchestrationStarted", history[0].Kind())
	}
	ended := slices.ContainsFunc(history, func(e engine.Event) bool { return replay.IsEnd(e.Data) })
	resolved, found := registry.ResolveStarted(started.Name, started.Version)
	switch {
	case !found && ended:
		return fmt.Errorf("%s@%s %w", started.Name, started.Version, errNotNeeded)
	case !found:
		return fmt.Errorf("%s@%s is not registered: the instance could not continue", started.Name, started.Version)
	}
	difference, err := CheckHistory(resolved.Handler, history)
	if err == nil && difference != "" {
		err = fmt.Errorf("the code of %s differs from the history: %s", resolved, difference)
	}
	if err != nil || ended {
		return err
	}
	if lacked := waitsFor(history, registry); lacked != "" {
		return fmt.Errorf("the activity %s is not registered, and the instance waits for it", lacked)
	}
	return nil
}

// waitsFor returns the first activity that a running execution waits for and that the registry lacks. A registry
// without any activity is that of a process that runs none; an activity with a tag may be another worker's.
func waitsFor(history []engine.Event, registry *node.Registry) (lacked string) {
	settled := map[uint64]bool{}
	for _, e := range history {
		switch e.Data.(type) {
		case eventdata.ActivityCompleted, eventdata.ActivityFailed, eventdata.ActivityCancelRequested:
			settled[e.SourceEventID] = true
		}
	}
	for _, e := range history {
		if d, ok := e.Data.(eventdata.ActivityScheduled); ok && d.Tag == "" && !settled[e.EventID] {
			if _, found := registry.Activity(d.Name); !found && len(registry.Activities()) > 0 {
				return d.Name
			}
		}
	}
	return ""
}
