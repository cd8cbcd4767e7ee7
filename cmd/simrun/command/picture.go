package command

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/timeline"
)

// pictureFlags are the flags for writing a run in a graphical format.
type pictureFlags struct {
	HTML     string `name:"html" help:"Write a page that shows the run over virtual time: one file, for any browser, without a network." placeholder:"FILE"`
	Perfetto string `help:"Write the run as trace events, for ui.perfetto.dev." placeholder:"FILE"`
	ShiViz   string `name:"shiviz" help:"Write the messages between nodes and store as a log with vector clocks, for ShiViz." placeholder:"FILE"`
}

func (f *pictureFlags) any() bool { return f.HTML+f.Perfetto+f.ShiViz != "" }

// watch returns a collector to which the run configured by cfg reports, in addition to cfg's own narrator and monitor.
func watch(cfg *cluster.Config) *timeline.Collector {
	c := timeline.New(cfg.Plan)
	tell, monitor := cfg.Narrator, cfg.Monitor
	cfg.Narrator = func(l cluster.Line) {
		if tell != nil {
			tell(l)
		}
		c.Tell(l)
	}
	cfg.Monitor = func(w *cluster.World) cluster.Monitor { return c.Watch(w, monitor(w)) }
	return c
}

// draw writes the requested pictures.
func (r *replayed) draw(f *pictureFlags) error {
	if r.picture == nil {
		return nil
	}
	t := r.picture.Timeline(decimal(r.seed), r.result)
	if f.HTML != "" {
		rep := newReport(r.subject, r.summary())
		p := timeline.Page{Title: r.title(), Command: r.repro(), At: r.repro() + " --step", Run: t}
		p.Verdict, p.Bad = rep.contract()+"; "+rep.sum.Plan(), rep.sum.Passed == 0
		if err := writeFile(f.HTML, p.Write); err != nil {
			return err
		}
	}
	if f.Perfetto != "" {
		if err := writeFile(f.Perfetto, t.Perfetto); err != nil {
			return err
		}
	}
	if f.ShiViz != "" {
		return writeFile(f.ShiViz, t.ShiViz)
	}
	return nil
}

// inDirectory returns an error if the directory of file name does not exist, so that the user learns of it before a
// long run rather than after it. An empty name is accepted.
func inDirectory(name string) error {
	if name == "" {
		return nil
	}
	info, err := os.Stat(filepath.Dir(name))
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", name, err)
	case !info.IsDir():
		return fmt.Errorf("%s: %s is not a directory", name, filepath.Dir(name))
	}
	return nil
}

// writeFile writes what write gives to a file, as a whole.
func writeFile(name string, write func(w io.Writer) error) error {
	if err := inDirectory(name); err != nil {
		return err
	}
	var b bytes.Buffer
	if err := write(&b); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return writeWhole(name, b.Bytes())
}
