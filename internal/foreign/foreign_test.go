package foreign_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/durosim/durosim/internal/foreign"
	"github.com/durosim/durosim/internal/sample"
)

// The test binary also acts as the child process. Its first argument selects what the child does.
func TestMain(m *testing.M) {
	if behaviour := os.Getenv("FOREIGN_TEST_CHILD"); behaviour != "" {
		os.Exit(child(behaviour))
	}
	os.Exit(m.Run())
}

func child(behaviour string) int {
	switch behaviour {
	case "echo":
		if _, err := io.Copy(os.Stdout, os.Stdin); err != nil {
			return 1
		}
	case "dies":
		bufio.NewScanner(os.Stdin).Scan()
		fmt.Fprintln(os.Stderr, strings.Repeat("much ado\n", 1000)+"and then it died")
		return 3
	case "stays": // does not exit when its input ends
		<-time.After(time.Hour)
	}
	return 0
}

func start(t *testing.T, behaviour string) *foreign.Process {
	t.Helper()
	t.Setenv("FOREIGN_TEST_CHILD", behaviour)
	self := sample.Must(os.Executable())(t)
	return sample.Must(foreign.Start(self))(t)
}

func TestEcho(t *testing.T) {
	p := start(t, "echo")
	for _, message := range []string{"one", strings.Repeat("long", 100_000)} {
		sent := make(chan error, 1)
		go func() { sent <- p.Send([]byte(message)) }() // a pipe's buffer is smaller than the long message
		if got, err := p.Recv(); err != nil || string(got) != message {
			t.Errorf("got %d bytes, %v; want the %d that were sent", len(got), err, len(message))
		}
		sample.OK(t, <-sent)
	}
	if err := p.Send([]byte("two\nlines")); err == nil {
		t.Error("a message of two lines was sent")
	}
	sample.OK(t, p.Stop(time.Minute))
	if !p.Ended() {
		t.Error("it has been stopped, and goes on")
	}
}

// TestChildThatDies checks that the error about a dead child quotes its last output and says how it ended.
func TestChildThatDies(t *testing.T) {
	p := start(t, "dies")
	sample.OK(t, p.Send([]byte("hello")))
	if _, err := p.Recv(); !errors.Is(err, io.EOF) {
		t.Errorf("got %v, want the end of its output", err)
	}
	said := p.Describe(time.Minute)
	if !strings.Contains(said, "ended: exit status 3; it wrote to standard error:\n") || !strings.HasSuffix(said, "and then it died") || len(said) > 4096 {
		t.Errorf("it is described as %q", said)
	}
	if err := p.Stop(time.Minute); err == nil || !strings.Contains(err.Error(), "exit status 3") {
		t.Errorf("stopped with %v, want its exit status", err)
	}
}

// TestChildThatStays checks that a child that does not exit when its input ends is killed.
func TestChildThatStays(t *testing.T) {
	p := start(t, "stays")
	if said := p.Describe(0); !strings.HasSuffix(said, "is still running") {
		t.Errorf("it is described as %q", said)
	}
	if err := p.Stop(time.Millisecond); err != nil || !p.Ended() {
		t.Errorf("stopped with %v; ended: %v", err, p.Ended())
	}
}

func TestStartOfNothing(t *testing.T) {
	if _, err := foreign.Start("./no-such-program"); err == nil || !strings.HasPrefix(err.Error(), "start ./no-such-program: ") {
		t.Errorf("got %v", err)
	}
}

type nothing struct{}

func (nothing) Write([]byte) (int, error) { return 0, nil }
func (nothing) Close() error              { return nil }

func TestLinesRecv(t *testing.T) {
	huge := strings.Repeat("x", foreign.MaxMessage+1)
	lines := foreign.NewLines(strings.NewReader("one\n\n  \r\n"+huge+"\ntwo\r\nthree"), nothing{})
	var got []string
	for {
		message, err := lines.Recv()
		if err != nil {
			got = append(got, err.Error())
		} else {
			got = append(got, string(message))
		}
		if errors.Is(err, io.EOF) {
			break
		}
	}
	want := []string{"one", "a message of 16777218 bytes exceeds the maximum of 16777216", "two", "three", "EOF"}
	if strings.Join(got, "|") != strings.Join(want, "|") {
		t.Errorf("got %q, want %q", got, want)
	}
	if err := lines.Send([]byte(huge)); err == nil {
		t.Error("a message that is too long was sent")
	}
}
