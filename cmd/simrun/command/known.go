package command

import (
	"fmt"
	"slices"

	"github.com/BurntSushi/toml"

	"github.com/durosim/durosim/properties/conformance"
	"github.com/durosim/durosim/properties/oracle/search"
)

// knownFile lists the mistakes of a provider that are known: the verbs oracle and conformance read the same file.
type knownFile struct {
	Known []knownMistake
}

// knownMistake is one entry: where it shows, and why it stays.
type knownMistake struct {
	// Class, or each of Classes, is part of the class of what the oracle finds.
	Class   string
	Classes []string
	// Cases are the ids of the cases that fail for it.
	Cases []string
	// Reason says what is wrong, or why it stays.
	Reason string
	Link   string
}

// readKnown reads a file of known mistakes; an empty name means none.
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
		return nil, fmt.Errorf("--known: %s: unknown key %q; an entry is [[known]] with class, classes or cases, and with reason and link", name, unknown[0].String())
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
		if len(k.Classes)+len(k.Cases) == 0 || slices.Contains(k.Classes, "") || k.Reason == "" {
			return nil, fmt.Errorf("--known: %s: entry %d: it needs a class, which is part of the class of what is found, or cases, and a reason", name, i+1)
		}
		for _, id := range k.Cases {
			if !ids[id] {
				return nil, fmt.Errorf("--known: %s: entry %d: no case has the id %q", name, i+1, id)
			}
		}
	}
	return file, nil
}

// classes returns the entries as the oracle takes them.
func (f *knownFile) classes() []search.Known {
	var list []search.Known
	for _, k := range f.Known {
		for _, class := range k.Classes {
			list = append(list, search.Known{Class: class, Reason: k.Reason, Link: k.Link})
		}
	}
	return list
}

// ofCase returns the entry that expects a case to fail, nil if there is none.
func (f *knownFile) ofCase(id string) *knownMistake {
	for i := range f.Known {
		if slices.Contains(f.Known[i].Cases, id) {
			return &f.Known[i]
		}
	}
	return nil
}
