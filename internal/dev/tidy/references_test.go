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
	// referencePattern matches a page in docs/ as cited in comments, messages and scenarios, with its anchor and
	// further anchors in the same page: "docs/contract/provider.md#p7.3 and #p7.4".
	referencePattern = regexp.MustCompile(`\bdocs/[\w./-]+\.md(?:#\w[\w.-]*\w(?:(?:,| and| to) #\w[\w.-]*\w)*)?`)
	anchorPattern    = regexp.MustCompile(`#(\w[\w.-]*\w)`)
	// shortPattern matches what looks like the name of a page of the contract.
	shortPattern = regexp.MustCompile(`[\w./-]*\b(?:design|provider|runtime|conformance|incidents)\.md\b`)
	// sectionPattern matches a reference to a section by number alone, which identifies neither the page nor the place.
	sectionPattern = regexp.MustCompile(`\b[Ss]ections? \d`)

	// clausePattern matches how the specification of a provider names the section that requires something. Its messages
	// turn this into a reference.
	clausePattern = regexp.MustCompile(`\b(?:by|free|refuse)\((?:\w+, )?"(\d[\d.]*)"`)

	headingPattern  = regexp.MustCompile(`(?m)^#{1,6} +(.*?) *$`)
	explicitPattern = regexp.MustCompile(`<a id="([^"]+)">`)
	slugDrops       = regexp.MustCompile(`[^\p{L}\p{N}_ -]`)
)

const providerPage = "docs/contract/provider.md"

// TestReferences checks that everything in docs/ that the sources cite exists, and that references have the right form.
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
		add := func(line int, format string, args ...any) {
			out = append(out, finding{x.name, line, fmt.Sprintf(format, args...)})
		}
		page := path.Ext(x.name) == ".md"
		if page {
			ids := slices.Sorted(slices.Values(pages[x.name]))
			for i := 1; i < len(ids); i++ {
				if ids[i] == ids[i-1] {
					add(0, "duplicate anchor #%s", ids[i])
				}
			}
		}
		for i, text := range strings.Split(string(x.data), "\n") {
			if page {
				for _, l := range linkPattern.FindAllStringSubmatch(text, -1) {
					target := path.Join(path.Dir(x.name), l[1])
					if l[1] == "" {
						target = x.name
					}
					switch anchor := strings.TrimPrefix(l[2], "#"); {
					case strings.Contains(l[1], "://"):
					case !files[target]:
						add(i+1, "no file %s", target)
					case anchor != "" && pages[target] != nil && !slices.Contains(pages[target], anchor):
						add(i+1, "%s has no anchor #%s", target, anchor)
					}
				}
			}
			// Deliberate mistakes, cells of pages, and quotations from documents of released crates.
			if d := path.Dir(x.name); d == "internal/dev/tidy" || d == "internal/dev/pages" || d == "docs/reports" {
				continue
			}
			if !page && strings.Contains(text, "ection") && sectionPattern.MatchString(text) && path.Base(x.name) != "LICENSE" {
				add(i+1, "a section by its number: cite a page and its anchor, as docs/contract/provider.md#p5")
			}
			if !page && strings.HasPrefix(x.name, "properties/oracle/") {
				for _, c := range clausePattern.FindAllStringSubmatch(text, -1) {
					if !slices.Contains(pages[providerPage], "p"+c[1]) {
						add(i+1, "%s has no anchor #p%s", providerPage, c[1])
					}
				}
			}
			if !strings.Contains(text, ".md") { // most texts contain none, and the check below is slow
				continue
			}
			for _, cited := range referencePattern.FindAllString(text, -1) {
				name, _, _ := strings.Cut(cited, "#")
				if pages[name] == nil {
					add(i+1, "no page %s", name)
					continue
				}
				for _, a := range anchorPattern.FindAllStringSubmatch(cited, -1) {
					if !slices.Contains(pages[name], a[1]) {
						add(i+1, "%s has no anchor #%s", name, a[1])
					}
				}
			}
			if page {
				continue
			}
			for _, short := range shortPattern.FindAllString(text, -1) {
				if !strings.Contains(short, "docs/") {
					add(i+1, "%s: cite a page by its path from the module's root, as docs/contract/provider.md#p5", short)
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
		slug := strings.ReplaceAll(slugDrops.ReplaceAllString(strings.ToLower(m[1]), ""), " ", "-")
		if !slices.Contains(ids, slug) { // GitHub numbers a repeated name, which no source should cite
			ids = append(ids, slug)
		}
	}
	return ids
}

// linkPattern matches a link. Its groups are the target, which is empty for the page itself, and the anchor.
var linkPattern = regexp.MustCompile(`\]\(([^)#\s]*)(#[^)\s]*)?\)`)

var codeBlock = regexp.MustCompile("(?s)```.*?```")
