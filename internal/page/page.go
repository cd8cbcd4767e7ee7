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

// Page is what a file shows. Parts that are nil or empty are left out.
type Page struct {
	Title string
	// Verdict is one sentence, and Bad says that it is bad news.
	Verdict string
	Bad     bool
	// Command shows the same again, on a line of its own.
	Command string
	// At is the command that shows the run at a step, which is appended; empty if there is none.
	At string
	// Map is the rollback map of a plan.
	Map *Map
	// Tables are those of a campaign or of a plan.
	Tables []Table
	Run    *timeline.Timeline
}

// Map is the rollback map of a plan: for each number of steps done, what stopping and rolling back do.
type Map struct {
	Steps    []MapStep
	Summary  string // of the point of no return
	NoReturn int    // 0 if there is none
}

// MapStep is a row of the map.
type MapStep struct {
	Name       string
	Stop, Back []Cell
}

// Cell is a value of the map; Weight says how bad it is, from 0 to 3.
type Cell struct {
	Text   string
	Weight int
	Title  string
}

// Table is a table with a title. Bad rows are marked; one that is not open shows its title until it is clicked.
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

// packed returns a value as JSON, compressed, in base 64 for URLs, which no template escapes: a run of 5,000 instances is ten times smaller so.
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
