package pages

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"

	"github.com/durosim/durosim/properties/conformance"
)

func init() {
	generated["providers"] = func() string { return providerFindings("known.toml") }
	generated["postgres"] = func() string { return providerFindings("known-pg.toml") }
}

// releasedProviders is the directory for testing the released providers.
const releasedProviders = "properties/oracle/rust/released"

// knownMistake is an entry of a file of known mistakes of released providers, which the checks read.
type knownMistake struct {
	Title, Consequence, Where, Releases, Upstream, Shown, Story, Link string
	Classes, Cases, Deny                                              []string
}

func knownMistakes(name string) ([]knownMistake, error) {
	var file struct{ Known []knownMistake }
	_, err := toml.DecodeFile(filepath.Join(root, releasedProviders, name), &file)
	return file.Known, err
}

// providerFindings lists the known mistakes of released providers, the harmless ones without their consequences.
func providerFindings(name string) string {
	known, err := knownMistakes(name)
	if err != nil {
		return err.Error() + "\n"
	}
	var b strings.Builder
	var harmless []string
	for _, k := range known {
		if strings.HasPrefix(k.Consequence, "None") {
			harmless = append(harmless, strings.ToLower(k.Title[:1])+k.Title[1:])
			continue
		}
		fmt.Fprintf(&b, "- **%s.** %s %s", k.Title, k.Consequence, strings.ToUpper(k.Releases[:1])+k.Releases[1:])
		if k.Upstream != "not reported" {
			b.WriteString("; " + strings.TrimSpace(k.Upstream+" "+k.Link))
		}
		b.WriteString(".\n")
	}
	if harmless != nil {
		fmt.Fprintf(&b, "- Harmless with the runtime: %s.\n", strings.Join(harmless, "; "))
	}
	return b.String()
}

// TestProviderStoriesAreShort checks that each mistake's story has at most eight calls.
func TestProviderStoriesAreShort(t *testing.T) {
	const most = 8
	for _, name := range []string{"known.toml", "known-pg.toml"} {
		known, err := knownMistakes(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range known {
			if n := len(strings.Split(strings.TrimSpace(k.Story), "\n")); k.Story == "" || n > most {
				t.Errorf("%s: a story of %d lines, expected 1 to %d:\n%s", name, n, most, k.Story)
			}
		}
	}
}

// TestRustCases checks that the macro that creates a test for each case knows every case.
func TestRustCases(t *testing.T) {
	const name = "properties/oracle/rust/src/cases.rs"
	var b strings.Builder
	b.WriteString("// Generated from the catalogue of cases: go -C internal/dev test -count=1 ./pages -update. Do not edit.\n\n/// Gives each case to `tests_of_cases!`.\n")
	b.WriteString("#[doc(hidden)]\n#[macro_export]\nmacro_rules! each_case {\n    ($factory:expr, $known:expr) => {\n        $crate::tests_of_cases! {\n            $factory, $known,\n")
	for _, c := range conformance.Cases() {
		fmt.Fprintf(&b, "            %s %q\n", strings.ReplaceAll(strings.ToLower(c.ID), "-", "_"), c.ID)
	}
	b.WriteString("        }\n    };\n}\n")
	path := filepath.Join(root, name)
	if *update {
		if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if have, err := os.ReadFile(path); err != nil || string(have) != b.String() {
		t.Errorf("%s does not have the cases of the catalogue (%v): go -C internal/dev test -count=1 ./pages -update", name, err)
	}
}
