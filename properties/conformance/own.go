package conformance

import "strings"

// Script plays lines in the language of the cases on a store, for tests that ask more of it than the contract: its exact
// answers, and what only this store can do.
type Script struct{ run *caseRun }

// NewScript returns a Script for a store, which must be empty. own holds the test's own operations by name; they get the
// words behind the name.
func NewScript(s *Store, own map[string]func(words []string) (string, error)) *Script {
	w := &caseRun{factory: Factory{New: func() (*Store, error) { return s, nil }}, own: own, stretch: 1, marks: map[string]uint64{}}
	w.fresh()
	return &Script{w}
}

// Play carries out the operations of a script and returns the script with the store's answers, whatever answers it had:
// a script that had the right ones comes back unchanged. An error is given as perm, retryable or unclassified. Play
// panics if a line is mistaken, or if the store lacks what it needs.
func (s *Script) Play(script string) string {
	lines := strings.Split(script, "\n")
	for i, line := range lines {
		op, _, _ := strings.Cut(line, " -> ")
		if strings.TrimSpace(op) == "" {
			continue
		}
		got, err := s.run.run(strings.TrimSpace(op))
		if err != nil {
			got = class(err)
		}
		lines[i] = strings.TrimSuffix(op+" -> "+got, " -> ")
	}
	return strings.Join(lines, "\n")
}

// Token returns the token that a fetch stored under a name.
func (s *Script) Token(name string) string { return s.run.token(name) }
