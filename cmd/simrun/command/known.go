package command

import (
	"fmt"
	"slices"

	"github.com/BurntSushi/toml"

	"github.com/durosim/durosim/properties/conformance"
	"github.com/durosim/durosim/properties/oracle"
	"github.com/durosim/durosim/properties/oracle/search"
)

// knownFile lists a provider's known mistakes. oracle and conformance read the same file.
type knownFile struct {
	Known []knownMistake
}

// knownMistake is one entry. It says how to recognize the mistake and why it has not been fixed.
type knownMistake struct {
	// Class, or each element of Classes, is a substring of the class of one of the oracle's findings.
	Class   string
	Classes []string
	// Cases lists the IDs of the cases that fail because of the mistake.
	Cases []string
	// Deny lists freedoms granted by the contract. If Deny is not empty, the mistake is expected only if one of these
	// freedoms is denied; otherwise, the mistake does not show.
	Deny []string
	// Reason describes the mistake or explains why it has not been fixed.
	Reason string
	Link   string
	// The remaining fields are for human readers. Title is a heading, Consequence the effect on users, Fix the remedy,
	// and Where the location. Releases lists the affected releases, and Upstream gives the upstream authors' view.
	// Shown says how to reproduce a mistake that these checks do not reveal. Story is the shortest sequence of calls
	// that reveals it.
	Title, Consequence, Fix, Where, Releases, Upstream, Shown, Story string
}

// readKnown reads a file of known mistakes. If name is empty, there are none.
func readKnown(name string) (*knownFile, error) {
	file := &knownFile{}
	if name == "" {
		return file, nil
	}
	meta, err := toml.DecodeFile(name, file)
	if err != nil {
		return nil, fmt.Errorf("--known: %s: %w", name, err)
	}
	if unknown := meta.Undecoded(); len(unknown) > 0 {
		return nil, fmt.Errorf("--known: %s: unknown key %q; an entry is [[known]] with class, classes or cases, with reason and link, and optionally deny, title, consequence, fix, where, releases, upstream, shown and story", name, unknown[0].String())
	}
	ids := map[string]bool{}
	for _, c := range conformance.Cases() {
		ids[c.ID] = true
	}
	for i := range file.Known {
		k := &file.Known[i]
		if k.Class != "" {
			k.Classes = append(k.Classes, k.Class)
		}
		if len(k.Classes)+len(k.Cases) == 0 && k.Story == "" || slices.Contains(k.Classes, "") || k.Reason == "" {
			return nil, fmt.Errorf("--known: %s: entry %d: expected a class, which is part of the class of a finding, or cases, and a reason", name, i+1)
		}
		for _, id := range k.Cases {
			if !ids[id] {
				return nil, fmt.Errorf("--known: %s: entry %d: no case has the id %q", name, i+1, id)
			}
		}
	}
	return file, nil
}

// classes converts the entries to the oracle's form. denied lists the denied freedoms. Entries that require a denial
// come first.
func (f *knownFile) classes(denied []oracle.Freedom) []search.Known {
	var needing, others []search.Known
	for _, k := range f.Known {
		expected := slices.ContainsFunc(k.Deny, func(id string) bool { return slices.Contains(denied, oracle.Freedom(id)) })
		for _, class := range k.Classes {
			entry := search.Known{Class: class, Reason: k.Reason, Link: k.Link}
			switch {
			case len(k.Deny) == 0:
				others = append(others, entry)
			case expected:
				needing = append(needing, entry)
			}
		}
	}
	return append(needing, others...)
}

// ofCase returns the entry that expects case id to fail, or nil if there is none.
func (f *knownFile) ofCase(id string) *knownMistake {
	for i := range f.Known {
		if slices.Contains(f.Known[i].Cases, id) {
			return &f.Known[i]
		}
	}
	return nil
}
