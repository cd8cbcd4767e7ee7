package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
)

// RecoveryData is the data of the events that clients raise during recovery.
const RecoveryData = "recovery"

// ParseHandler parses an orchestration's name and version, such as Ship@1.0.0.
func ParseHandler(s string) (name string, v engine.Version, err error) {
	name, version, ok := strings.Cut(s, "@")
	if !ok || name == "" {
		return "", v, fmt.Errorf("handler %q: want NAME@VERSION, as in ProcessOrder@1.0.0", s)
	}
	v, err = engine.ParseVersion(version)
	if err != nil {
		return "", v, fmt.Errorf("handler %q: %w", s, err)
	}
	return name, v, nil
}

// Applies reports whether entry, from a plan.HandlerChange, applies to code. code is either an orchestration version
// (Ship@1.0.0) or an activity's name. An entry without a version applies to all versions.
func Applies(entry, code string) bool {
	name, _, _ := strings.Cut(code, "@")
	return entry == code || entry == name
}

// VariableKinds returns the event kinds that some builds lack. All other kinds have existed as long as the format.
func VariableKinds() []engine.EventKind {
	return []engine.EventKind{eventdata.KindExternalSubscribed2, eventdata.KindExternalEvent2, eventdata.KindLegacyNote}
}

var releasedBuilds = engine.ReleasedBuilds()

// FindBuild returns the build called name, or nil. It finds released builds even if they are not in builds.
func FindBuild(builds []*engine.Build, name string) *engine.Build {
	version, released := strings.CutPrefix(name, engine.ReleasePrefix)
	if released {
		builds = slices.Concat(builds, releasedBuilds)
	}
	for _, b := range builds {
		if b.Name() == name {
			return b
		}
	}
	if released {
		return engine.ReleasedBuild(version)
	}
	return nil
}
