package command

import (
	"io"
	"math"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// terminal is the writer's file if that is a terminal.
func terminal(w io.Writer) (*os.File, bool) {
	f, ok := w.(*os.File)
	return f, ok && term.IsTerminal(int(f.Fd())) && os.Getenv("TERM") != "dumb"
}

// progress shows how far a campaign is, how fast, and how long it will take. On anything but a terminal it does nothing.
type progress struct{ bar *progressbar.ProgressBar }

func newProgress(w io.Writer, what string, total uint64) *progress {
	if _, ok := terminal(w); !ok || total > math.MaxInt64 {
		return &progress{}
	}
	return &progress{progressbar.NewOptions64(int64(total),
		progressbar.OptionSetWriter(w),
		progressbar.OptionSetDescription(what),
		progressbar.OptionSetWidth(30),
		progressbar.OptionShowCount(),
		progressbar.OptionShowIts(),
		progressbar.OptionSetItsString("seeds"),
		progressbar.OptionSetPredictTime(true),
		progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionClearOnFinish(),
		progressbar.OptionEnableColorCodes(false),
	)}
}

// show tells how many are done.
func (p *progress) show(done uint64) {
	if p.bar != nil {
		_ = p.bar.Set64(int64(done)) // a terminal that takes nothing more is no reason to stop
	}
}

// clear takes the bar away.
func (p *progress) clear() {
	if p != nil && p.bar != nil {
		_ = p.bar.Clear()
	}
}

// style marks words on a terminal; elsewhere, and where NO_COLOR is set, it leaves them alone.
type style struct{ on bool }

func newStyle(w io.Writer) style {
	_, ok := terminal(w)
	return style{on: ok && os.Getenv("NO_COLOR") == ""}
}

func (s style) bad(text string) string   { return s.with("\x1b[1;31m", text) }
func (s style) title(text string) string { return s.with("\x1b[1m", text) }
func (s style) quiet(text string) string { return s.with("\x1b[2m", text) }

func (s style) with(code, text string) string {
	if !s.on {
		return text
	}
	return code + text + "\x1b[0m"
}
