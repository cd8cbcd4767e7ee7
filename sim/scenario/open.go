package scenario

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/durosim/durosim/engine"
)

// Source defines where Open looks up names.
type Source struct {
	// Builds lists the builds that a text may use. Nil means the shipped ones.
	Builds []*engine.Build
	// ReadFile reads files, like os.ReadFile. Nil means that there are no files.
	ReadFile func(name string) ([]byte, error)
}

// Open resolves a name, which may be a built-in scenario, a file that contains a scenario or a stored run, or, if it
// has several lines, the text of a scenario. An empty name means Default. Open returns the scenario or, for a stored
// run, the entry. The error wraps fs.ErrNotExist if the name is unknown; for malformed text it is an *Error.
func (s Source) Open(name string) (*Scenario, *Entry, error) {
	if name == "" {
		name = Default
	}
	if strings.Contains(strings.TrimSpace(name), "\n") {
		text, err := Parse("scenario.txt", []byte(name), s.Builds...)
		return text, nil, err
	}
	known, lookupErr := Lookup(name, s.Builds...)
	if known != nil || errors.As(lookupErr, new(*Error)) {
		return known, nil, lookupErr
	}
	data, err := []byte(nil), fs.ErrNotExist
	if s.ReadFile != nil {
		data, err = s.ReadFile(name)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist) && isStatement(name):
		return nil, nil, notFound{fmt.Sprintf("%q is neither a scenario nor a file: text of a scenario has more than one line, each with one statement", name)}
	case errors.Is(err, fs.ErrNotExist) && strings.ContainsAny(name, `/\.`):
		return nil, nil, notFound{fmt.Sprintf("there is no file %s%s", name, nearest(name))}
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil, notFound{fmt.Sprintf("%q is neither a scenario nor a file%s", name, nearest(name))}
	case err != nil:
		return nil, nil, err
	case isEntry(data):
		entry, err := ParseEntry(name, data, s.Builds...)
		return nil, entry, err
	}
	text, err := Parse(name, data, s.Builds...)
	return text, nil, err
}

func isStatement(text string) bool {
	first, rest, _ := strings.Cut(text, " ")
	return rest != "" && (lookup(table.statements, first) != nil || lookup(table.statements, strings.TrimSuffix(first, "s")) != nil)
}

// notFound is the error for an unknown name.
type notFound struct{ text string }

func (e notFound) Error() string { return e.text }

func (e notFound) Is(target error) bool { return target == fs.ErrNotExist }

// isEntry reports whether the text is a stored run rather than a scenario.
func isEntry(data []byte) bool {
	for line := range strings.Lines(string(data)) {
		words := strings.Fields(line)
		if len(words) > 0 && !strings.HasPrefix(words[0], "#") {
			return words[0] == "durosim"
		}
	}
	return false
}
