package conformance

import (
	"errors"
	"strings"
	"testing"
)

// TestUselessFactory checks that a factory that makes no store is reported, and that no case runs.
func TestUselessFactory(t *testing.T) {
	for want, f := range map[string]Factory{
		"Factory.New is not set":  {},
		"returned no store":       {New: func() (*Store, error) { return nil, nil }},
		"Provider is not set":     {New: func() (*Store, error) { return &Store{}, nil }},
		"the disk is not mounted": {New: func() (*Store, error) { return nil, errors.New("the disk is not mounted") }},
	} {
		if _, err := f.Make(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}
