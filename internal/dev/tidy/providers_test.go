package tidy

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

// providerFindings lists the known mistakes of released providers, taken from a file that the checks read.
func providerFindings(name string) string {
	var file struct {
		Known []struct {
			Title, Reason, Consequence, Fix, Where, Releases, Upstream, Shown, Story, Link string
			Classes, Cases, Deny                                                           []string
		}
	}
	if _, err := toml.DecodeFile(filepath.Join(root, releasedProviders, name), &file); err != nil {
		return err.Error() + "\n"
	}
	var b strings.Builder
	for _, k := range file.Known {
		fmt.Fprintf(&b, "### %s\n\nWhat it does: %s.\n\n- **Consequence**: %s\n- **Fix**: %s\n- **Where**: %s.\n- **Releases**: %s.\n- **Upstream**: %s.\n", k.Title, k.Reason, k.Consequence, k.Fix, k.Where, k.Releases, strings.TrimSpace(k.Upstream+" "+k.Link))
		var by []string
		for _, id := range k.Cases {
			by = append(by, "case `"+id+"`")
		}
		if len(k.Classes) > 0 && len(k.Deny) > 0 {
			by = append(by, "the oracle with `--deny "+strings.Join(k.Deny, "` or `--deny ")+"`")
		} else if len(k.Classes) > 0 {
			by = append(by, "the oracle")
		}
		if k.Shown != "" {
			by = append(by, k.Shown)
		}
		fmt.Fprintf(&b, "- **Shown by**: %s.\n\n```text\n", strings.Join(by, ", "))
		for line := range strings.Lines(strings.TrimSpace(k.Story) + "\n") {
			b.WriteString("    " + line)
		}
		b.WriteString("```\n\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// TestProviderStoriesAreShort checks that each finding's story has at most eight calls.
func TestProviderStoriesAreShort(t *testing.T) {
	const most = 8
	for _, story := range strings.Split(providerFindings("known.toml")+providerFindings("known-pg.toml"), "```text\n")[1:] {
		story, _, _ = strings.Cut(story, "```")
		if n := strings.Count(story, "\n"); n == 0 || n > most {
			t.Errorf("a story of %d lines, expected 1 to %d:\n%s", n, most, story)
		}
	}
}

// TestRustCases checks that the macro that creates a test for each case knows every case.
func TestRustCases(t *testing.T) {
	const name = "properties/oracle/rust/src/cases.rs"
	var b strings.Builder
	b.WriteString("// Generated from the catalogue of cases: go -C internal/dev test ./tidy -update. Do not edit.\n\n/// Gives each case to `tests_of_cases!`.\n")
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
		t.Errorf("%s does not have the cases of the catalogue (%v): go -C internal/dev test ./tidy -update", name, err)
	}
}
