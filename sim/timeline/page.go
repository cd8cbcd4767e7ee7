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

// Cell is a value in the map. Weight is its severity, from 0 (harmless) to 3 (worst).
type Cell struct {
	Text   string
	Weight int
	Title  string
}

// Table is a table with a title. The page highlights bad rows. Unless Open is set, the page shows only the title until
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
}

// Row adds a row.
func (t *Table) Row(bad bool, cells ...string) { t.Rows = append(t.Rows, Row{cells, bad}) }

// Text returns the table without its title in aligned columns: the first columns of it, indented, with a gap between them.
func (t *Table) Text(indent string, columns, gap int) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, gap, ' ', 0)
	line := func(cells []string) {
		cells = cells[:min(columns, len(cells))]
		for len(cells) > 1 && cells[len(cells)-1] == "" {
			cells = cells[:len(cells)-1]
		}
		fmt.Fprintln(w, indent+strings.Join(cells, "\t"))
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
			if t.Commands > 0 && i >= t.Commands && code {
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
	data := ""
	if p.Run != nil {
		var err error
		if data, err = packed(p.Run); err != nil {
			return err
		}
	}
	return page.Execute(w, struct {
		*Page
		Style  template.CSS
		Script template.JS
		Data   string
	}{p, template.CSS(style), template.JS(script), data})
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
