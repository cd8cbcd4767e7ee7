package tidy

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	// citationPattern matches a page in docs/ as cited in comments, messages and scenarios, with its anchor and further
	// anchors in the same page: "docs/contract/provider.md#p7.3 and #p7.4".
	citationPattern = regexp.MustCompile(`\b(docs/[\w./-]+\.md)((?:#\w[\w.-]*\w(?:(?:,| and| to) #\w[\w.-]*\w)*)?)`)
	// linkPattern matches a link. Its groups are the target, which is empty for the page itself, and the anchor.
	linkPattern   = regexp.MustCompile(`\]\(([^)#\s]*)(#[^)\s]*)?\)`)
	anchorPattern = regexp.MustCompile(`#([^\s,]*\w)`)
	// clausePattern matches how the specification of a provider names the section that requires something. Its messages
	// turn this into a reference.
	clausePattern = regexp.MustCompile(`\b(?:by|free|refuse)\((?:\w+, )?"(\d[\d.]*)"`)

	codeBlock       = regexp.MustCompile("(?s)```.*?```")
	headingPattern  = regexp.MustCompile(`(?m)^#{1,6} +(.*?) *$`)
	explicitPattern = regexp.MustCompile(`<a id="([^"]+)">`)
	slugDrops       = regexp.MustCompile(`[^\p{L}\p{N}_ -]`)
)

const providerPage = "docs/contract/provider.md"

// TestReferences checks that everything in docs/ that the sources cite exists.
func TestReferences(t *testing.T) { report(t, checkReferences(loadModule(t))) }

// checkReferences compares the references in all files, and the links in documents, with the pages and their anchors.
func checkReferences(m *module) []finding {
	pages := map[string][]string{}
	files := map[string]bool{}
	for _, x := range m.texts {
		for dir := x.name; dir != "."; dir = path.Dir(dir) {
			files[dir] = true
		}
		if path.Ext(x.name) == ".md" {
			pages[x.name] = anchors(string(x.data))
		}
	}
	var out []finding
	for _, x := range m.texts {
		page := path.Ext(x.name) == ".md"
		oracle := strings.HasPrefix(x.name, "properties/oracle/")
		// Deliberate mistakes, cells of pages, and quotations from documents of released crates.
		quotes := slices.Contains([]string{"internal/dev/tidy", "internal/dev/pages", "docs/reports"}, path.Dir(x.name))
		for i, text := range strings.Split(string(x.data), "\n") {
			see := func(name, anchorList string) {
				if !files[name] {
					out = append(out, finding{x.name, i + 1, "no file " + name})
					return
				}
				for _, a := range anchorPattern.FindAllStringSubmatch(anchorList, -1) {
					if pages[name] != nil && !slices.Contains(pages[name], a[1]) {
						out = append(out, finding{x.name, i + 1, fmt.Sprintf("%s has no anchor #%s", name, a[1])})
					}
				}
			}
			if page {
				for _, l := range linkPattern.FindAllStringSubmatch(text, -1) {
					if l[1] == "" {
						see(x.name, l[2])
					} else if !strings.Contains(l[1], "://") {
						see(path.Join(path.Dir(x.name), l[1]), l[2])
					}
				}
			}
			if !quotes && strings.Contains(text, ".md") { // most texts contain none, and the pattern is slow
				for _, c := range citationPattern.FindAllStringSubmatch(text, -1) {
					see(c[1], c[2])
				}
			}
			if oracle && !page {
				for _, c := range clausePattern.FindAllStringSubmatch(text, -1) {
					see(providerPage, "#p"+c[1])
				}
			}
		}
	}
	return out
}

// anchors returns a document's explicit anchors and those that GitHub creates for its headings.
func anchors(doc string) []string {
	ids := []string{}
	for _, m := range explicitPattern.FindAllStringSubmatch(doc, -1) {
		ids = append(ids, m[1])
	}
	for _, m := range headingPattern.FindAllStringSubmatch(codeBlock.ReplaceAllString(doc, ""), -1) {
		ids = append(ids, strings.ReplaceAll(slugDrops.ReplaceAllString(strings.ToLower(m[1]), ""), " ", "-"))
	}
	return ids
}
