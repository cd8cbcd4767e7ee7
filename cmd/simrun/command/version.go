package command

import (
	"runtime"
	"runtime/debug"
)

// helpCmd implements `simrun help`.
type helpCmd struct {
	Verb []string `arg:"" optional:"" help:"The verb; without one, what there is."`
}

func (c *helpCmd) run(a *app) (int, error) { return a.main(append(c.Verb, "--help")), nil }

// versionCmd implements `simrun version`.
type versionCmd struct{}

func (versionCmd) run(a *app) (int, error) {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	a.printf("%s", versionText(a.program.name(), info))
	return exitOK, nil
}

// durosimModule is the path of the module that contains this package.
const durosimModule = "github.com/durosim/durosim"

// versionText returns the versions of the program's module and of Go. If durosim is a separate module, the text
// includes its version, too.
func versionText(name string, info *debug.BuildInfo) string {
	version := func(m *debug.Module) string {
		if m.Replace != nil {
			m = m.Replace
		}
		if m.Version == "" {
			return "(devel)"
		}
		return m.Version
	}
	text := name + " " + version(&info.Main) + "\n"
	for _, m := range info.Deps {
		if m.Path == durosimModule {
			text += "durosim " + version(m) + "\n"
		}
	}
	return text + runtime.Version() + " " + runtime.GOOS + "/" + runtime.GOARCH + "\n"
}
