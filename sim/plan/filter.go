package plan

import (
	"fmt"
	"strings"

	"github.com/durosim/durosim/engine"
)

// ParseFilter parses "any", "none", or ranges separated by " | ".
func ParseFilter(text string) (*engine.CapabilityFilter, error) {
	switch text {
	case "any":
		return nil, nil
	case "none":
		return &engine.CapabilityFilter{}, nil
	}
	f := &engine.CapabilityFilter{}
	for part := range strings.SplitSeq(text, "|") {
		r, err := engine.ParseRange(strings.TrimSpace(part))
		if err != nil {
			return nil, fmt.Errorf("filter %q: %w", text, err)
		}
		f.SupportedVersions = append(f.SupportedVersions, r)
	}
	return f, nil
}
