package page

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"html/template"
	"io"

	"github.com/durosim/durosim/internal/timeline"
)

// Page is the content of a file. Write omits parts that are nil or empty.
type Page struct {
	Title string
	// Verdict is one sentence. Bad marks it as a failure.
	Verdict string
	Bad     bool
	// Command is the command that reproduces the page; the page shows it on a separate line.
	Command string
	// At is the beginning of the command that shows the run at a step; the page appends the step's number. Empty if
	// there is none.
	At string
	// Map is the rollback map of a plan.
	Map *Map
	// Tables are the tables of a campaign or a plan.
	Tables []Table
	Run    *timeline.Timeline
}

// Map is the rollback map of a plan: the effect of stopping and of rolling back after each number of steps.
type Map struct {
	Steps    []MapStep
	Summary  string // summary of the point of no return
	NoReturn int    // 0 if there is none
}

// MapStep is a row of the map.
type MapStep struct {
	Name       string
	Stop, Back []Cell
}

// Cell is a value in the map. Weight is its severity, from 0 to 3.
type Cell struct {
	Text   string
	Weight int
	Title  string
}

// Table is a table with a title. The page marks bad rows. A table that is not open shows only its title until a click.
type Table struct {
	Title string
	Open  bool
	Head  []string
	Rows  []Row
}

// Row is a row of a table.
type Row struct {
	Cells []string
	Bad   bool
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

// packed returns a value as compressed JSON in URL-safe base64, which templates do not escape. This makes a run of
// 5,000 instances ten times smaller.
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
