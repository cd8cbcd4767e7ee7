package timeline

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/durosim/durosim/internal/pretty"
)

// Page is the content of one file. Write omits parts that are nil or empty.
type Page struct {
	Title string
	// Verdict is a one-sentence verdict. Bad marks it as a failure.
	Verdict string
	Bad     bool
	// Command is the command that reproduces the page. It is shown on a separate line.
	Command string
	// At is the beginning of a command that shows the run at a certain step; the page appends the step's number. It is
	// empty if there is no such command.
	At string
	// Map is a plan's rollback map.
	Map *Map
	// Tables holds the tables of a campaign or a plan.
	Tables []Table
	Run    *Timeline
	// More holds other runs, among which the reader selects.
	More []Run
}

// Run is a run with its name, and what Page.At is for it.
type Run struct {
	Name, At string
	*Timeline
}

// Map is a plan's rollback map. For each number of steps, it shows the effects of stopping the upgrade at that point
// and of rolling back from it.
type Map struct {
	Steps    []MapStep
	Summary  string // a summary of the point of no return
	NoReturn int    // number of the step, or 0 if there is none
}

// MapStep is one row of the map.
type MapStep struct {
	Name       string
	Stop, Back []Cell
}

// Cell is a value in the map. Weight is its severity, from 0 (harmless) to 3 (worst). Command, if any, shows the run that
// Title is about, and in it Instance. Run is the place of that run in Page.More, counted from 1, or 0 if it is not there.
type Cell struct {
	Text     string
	Weight   int
	Title    string
	Command  string
	Run      int
	Instance string
}

// Table is a table with a title. The page highlights bad rows and the best one. Unless Open is set, the page shows only the title until
// the user clicks on it.
type Table struct {
	Title string
	Open  bool
	Head  []string
	Rows  []Row
	// Commands is the first of the columns that hold commands, up to the last one; 0 if there are none.
	Commands int
}

// Row is one row of a table.
type Row struct {
	Cells []string
	Bad   bool
	Best  bool
}

// Holds reports whether column i of a table holds commands.
func (t Table) Holds(i int) bool { return t.Commands > 0 && i >= t.Commands }

// Named returns the name of column i, or "" if it has none.
func (t Table) Named(i int) string {
	if i >= len(t.Head) {
		return ""
	}
	return t.Head[i]
}

// Row adds a row.
func (t *Table) Row(bad bool, cells ...string) { t.Rows = append(t.Rows, Row{Cells: cells, Bad: bad}) }

// Text returns the table without its title in aligned columns: the first columns of it, indented, with a gap between them.
func (t *Table) Text(indent string, columns, gap int) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, gap, ' ', 0)
	oneLine := strings.NewReplacer("\n", `\n`, "\t", `\t`)
	line := func(cells []string) {
		cells = cells[:min(columns, len(cells))]
		for len(cells) > 1 && cells[len(cells)-1] == "" {
			cells = cells[:len(cells)-1]
		}
		fmt.Fprintln(w, indent+strings.Join(pretty.Texts(cells, oneLine.Replace), "\t"))
	}
	if t.Head != nil {
		line(t.Head)
	}
	for _, r := range t.Rows {
		line(r.Cells)
	}
	_ = w.Flush() // writing to a strings.Builder never fails
	return b.String()
}

// Markdown returns the table without its title. Without a head, the first column has names.
func (t *Table) Markdown() string {
	columns := len(t.Head)
	for _, r := range t.Rows {
		columns = max(columns, len(r.Cells))
	}
	var b strings.Builder
	row := func(cells []string, code bool) {
		for i := range columns {
			cell := ""
			if i < len(cells) {
				cell = strings.ReplaceAll(strings.Join(strings.Fields(cells[i]), " "), "|", "\\|")
			}
			if code && t.Holds(i) {
				cell = "`" + cell + "`"
			}
			b.WriteString("| " + cell + " ")
		}
		b.WriteString("|\n")
	}
	row(t.Head, false)
	row(slices.Repeat([]string{"---"}, columns), false)
	for _, r := range t.Rows {
		row(r.Cells, true)
	}
	return b.String()
}

//go:embed page.html
var source string

//go:embed page.css
var style string

//go:embed page.js
var script string

var page = template.Must(template.New("page").Parse(source))

// Write writes the page.
func (p *Page) Write(w io.Writer) error {
	type packedRun struct{ Name, At, Data string }
	data := struct {
		*Page
		Style  template.CSS
		Script template.JS
		Packed []packedRun
	}{Page: p, Style: template.CSS(style), Script: template.JS(script)}
	if p.Run != nil {
		for _, r := range append([]Run{{"", p.At, p.Run}}, p.More...) {
			text, err := packed(r.Timeline)
			if err != nil {
				return err
			}
			data.Packed = append(data.Packed, packedRun{r.Name, r.At, text})
		}
	}
	return page.Execute(w, data)
}

// packed returns v as compressed JSON in URL-safe base64, which templates do not escape. This form is ten times smaller
// for a run with 5,000 instances.
func packed(v any) (string, error) {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return "", err
	}
	if err := json.NewEncoder(z).Encode(v); err != nil {
		return "", err
	}
	if err := z.Close(); err != nil {
		return "", err
	}
	return base64.RawURLEncoding.EncodeToString(b.Bytes()), nil
}
