package foreign

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// keptErrors is the number of bytes at the end of a child's standard error that errors quote.
const keptErrors = 2 << 10

// Process is a child process.
type Process struct {
	// Lines reads the child's standard output and writes its standard input.
	*Lines
	name    string
	in      *os.File // nil if the child's standard input is no file here
	out     *os.File
	command *exec.Cmd
	errors  tail
	ended   chan struct{} // closed when the child has ended and status is set
	status  error
}

// Start runs program with args. It looks program up as a shell would, and keeps the end of its standard error for use
// in error messages. A signal to the caller's process group does not reach it.
func Start(program string, args ...string) (*Process, error) {
	p := &Process{name: program, command: exec.Command(program, args...), ended: make(chan struct{})}
	alone(p.command)
	p.command.Stderr = &p.errors
	// A grandchild that keeps standard error open must not block Wait.
	p.command.WaitDelay = time.Second
	in, err := p.command.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", program, err)
	}
	p.in, _ = in.(*os.File)
	// StdoutPipe is unsuitable: Wait would close its reader, and the child's last output would be lost.
	out, child, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", program, err)
	}
	p.command.Stdout = child
	if err := p.command.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", program, errors.Join(err, out.Close(), child.Close()))
	}
	p.out, p.Lines = out, NewLines(out, in)
	go func() {
		p.status = p.command.Wait()
		close(p.ended)
	}()
	if err := child.Close(); err != nil { // the parent's copy; the child has its own
		return nil, errors.Join(fmt.Errorf("start %s: %w", program, err), p.Stop(0))
	}
	return p, nil
}

// Ended reports whether the child process has exited.
func (p *Process) Ended() bool { return p.endsWithin(0) }

func (p *Process) endsWithin(patience time.Duration) bool {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-p.ended:
	case <-timer.C:
	}
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}

// Describe describes how the child exited and quotes the end of its standard error. If the child has not exited yet,
// Describe first waits for up to patience.
func (p *Process) Describe(patience time.Duration) string {
	state := "is still running"
	if p.endsWithin(patience) {
		state = "ended with status 0"
		if p.status != nil {
			state = "ended: " + p.status.Error()
		}
	}
	if said := strings.TrimSpace(p.errors.String()); said != "" {
		return fmt.Sprintf("%s %s; it wrote to standard error:\n%s", p.name, state, said)
	}
	return fmt.Sprintf("%s %s", p.name, state)
}

// Stop closes the child's standard input, which asks it to exit, and kills it if it has not exited after patience. If
// the child exits with a failure before it is killed, Stop returns that failure.
func (p *Process) Stop(patience time.Duration) error {
	_ = p.Close()       // already closed if the child has ended
	defer p.out.Close() // a grandchild may still have the other end open
	if p.endsWithin(patience) {
		if p.status != nil {
			return errors.New(p.Describe(0))
		}
		return nil
	}
	_ = kill(p.command) // it may have exited in the meantime
	<-p.ended
	return nil
}

// Kill ends the child at once, without a request to exit.
func (p *Process) Kill() {
	if !p.Ended() {
		_ = kill(p.command) // it may have exited in the meantime
	}
	<-p.ended
	_ = p.Close()
	_ = p.out.Close()
}

// Unread returns how many bytes the child has not read yet, or -1 if that is unknown.
func (p *Process) Unread() int {
	if p.in == nil {
		return -1
	}
	return unread(p.in)
}

// tail is a writer that keeps the last bytes written.
type tail struct {
	mu   sync.Mutex
	data []byte
}

func (t *tail) Write(data []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.data = append(t.data, data...)
	if over := len(t.data) - keptErrors; over > 0 {
		t.data = append(t.data[:0], t.data[over:]...)
	}
	return len(data), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.data)
}
