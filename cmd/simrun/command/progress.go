package command

import (
	"fmt"
	"io"
	"math"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// terminal returns the file that w writes to, if any, and reports whether it is a terminal.
func terminal(w io.Writer) (*os.File, bool) {
	f, ok := w.(*os.File)
	return f, ok && term.IsTerminal(int(f.Fd())) && os.Getenv("TERM") != "dumb"
}

// progress is a campaign's progress bar. It does nothing unless it writes to a terminal.
type progress struct {
	bar    *progressbar.ProgressBar
	what   string
	failed uint64
}

func newProgress(w io.Writer, what string, total uint64) *progress {
	f, ok := terminal(w)
	if !ok || total > math.MaxInt64 {
		return &progress{}
	}
	return &progress{bar: newBar(w, what, total, widthOf(f), 100*time.Millisecond), what: what}
}

// widthOf returns the number of columns of a terminal.
func widthOf(f *os.File) int {
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil || width == 0 {
		return usualWidth
	}
	return width
}

// usualWidth is the width in columns used if the terminal's width is unknown.
const usualWidth = 80

// newBar returns a progress bar for a line of width columns. It is redrawn at most once per every. It shows rates and
// times only if the line has at least wideLine columns.
func newBar(w io.Writer, what string, total uint64, width int, every time.Duration) *progressbar.ProgressBar {
	options := []progressbar.Option{
		progressbar.OptionSetWriter(w),
		progressbar.OptionSetDescription(what),
		progressbar.OptionThrottle(every),
		progressbar.OptionClearOnFinish(),
		progressbar.OptionEnableColorCodes(false),
		progressbar.OptionSetPredictTime(width >= wideLine),
	}
	length := width - len(what) - len(" 100% |||") - len(", 9999 failed")
	if width >= wideLine {
		length -= len(" (1000000/1000000, 1000000 seeds/s) [59m59s:59m59s]")
		options = append(options, progressbar.OptionShowCount(), progressbar.OptionShowIts(), progressbar.OptionSetItsString("seeds"))
	}
	return progressbar.NewOptions64(int64(total), append(options, progressbar.OptionSetWidth(min(max(length, 1), 30)))...)
}

// wideLine is the smallest width in columns at which the bar shows rates and times.
const wideLine = 100

// show updates the numbers of finished and failed seeds.
func (p *progress) show(done, failed uint64) {
	if p.bar == nil {
		return
	}
	if failed != p.failed {
		p.failed = failed
		p.bar.Describe(fmt.Sprintf("%s, %d failed", p.what, failed))
	}
	_ = p.bar.Set64(int64(done)) // the campaign continues even if the terminal is closed
}

// clear removes the bar from the terminal.
func (p *progress) clear() {
	if p != nil && p.bar != nil {
		_ = p.bar.Clear()
	}
}

// style highlights words on a terminal, unless NO_COLOR is set.
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
