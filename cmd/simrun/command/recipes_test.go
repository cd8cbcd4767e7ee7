package command

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/durosim/durosim/internal/sample"
)

// TestRecipes runs each scenario of docs/recipes.md, which must hold, and its variant, which must fail as a plan.
func TestRecipes(t *testing.T) {
	page := sample.Must(os.ReadFile("../../../docs/recipes.md"))(t)
	recipe := regexp.MustCompile("(?s)\n## ([^\n]+)\n.*?```text\n(.*?)```\n\n(Instead [^\n]+)")
	swap := regexp.MustCompile("of `([^`]+)`, `([^`]+)`")
	found := recipe.FindAllStringSubmatch(string(page), -1)
	if want := strings.Count(string(page), "\n## "); len(found) != want {
		t.Fatalf("%d recipes of %d have a scenario and a variant", len(found), want)
	}
	for _, r := range sample.Of(found, 5) {
		variant := r[2]
		for _, s := range swap.FindAllStringSubmatch(r[3], -1) {
			if !strings.Contains(variant, s[1]+"\n") {
				t.Errorf("%s: it has no line %q", r[1], s[1])
			}
			variant = strings.Replace(variant, s[1]+"\n", s[2]+"\n", 1)
		}
		for text, status := range map[string]int{r[2]: 0, variant: 7} {
			file := filepath.Join(t.TempDir(), "recipe.txt")
			sample.OK(t, os.WriteFile(file, []byte(text), 0o644))
			var b bytes.Buffer
			got := (Program{}).Run([]string{"run", file, "--seeds", "10"}, &b, &b)
			out := b.String()
			if got != status || strings.Contains(out, "warning") {
				t.Errorf("%s: exit status %d, want %d\n%s%s", r[1], got, status, text, out)
			}
		}
	}
}
