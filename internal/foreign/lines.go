package foreign

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync"
)

// MaxMessage is the maximum size of a message in bytes.
const MaxMessage = 16 << 20

// TooLongError reports a line longer than MaxMessage. Recv has already skipped the rest of the line.
type TooLongError struct{ Size int }

func (e *TooLongError) Error() string {
	return fmt.Sprintf("a message of %d bytes exceeds the maximum of %d", e.Size, MaxMessage)
}

// Lines exchanges messages over two streams. Each message is one line, terminated by a newline. One goroutine may send
// while another receives.
type Lines struct {
	in    *bufio.Reader
	begun *begun
	out   io.WriteCloser

	closing sync.Once
	closed  error
}

// NewLines returns a Lines that reads messages from in and writes them to out.
func NewLines(in io.Reader, out io.WriteCloser) *Lines {
	b := &begun{in: in}
	return &Lines{in: bufio.NewReader(b), begun: b, out: out}
}

// Begun returns the beginning of the line that has begun to arrive and has not ended, or nil.
func (l *Lines) Begun() []byte {
	l.begun.mu.Lock()
	defer l.begun.mu.Unlock()
	return bytes.Clone(l.begun.line)
}

// begun is a reader that keeps the beginning of the line that has not ended.
type begun struct {
	in   io.Reader
	mu   sync.Mutex
	line []byte
}

func (b *begun) Read(p []byte) (int, error) {
	n, err := b.in.Read(p)
	b.mu.Lock()
	defer b.mu.Unlock()
	rest := p[:n]
	if end := bytes.LastIndexByte(rest, '\n'); end >= 0 {
		b.line, rest = nil, rest[end+1:]
	}
	const most = 1 << 10
	b.line = append(b.line, rest[:min(len(rest), most-len(b.line))]...)
	return n, err
}

// Send writes one message. It rejects a message that is too long or contains a newline.
func (l *Lines) Send(message []byte) error {
	switch {
	case len(message) > MaxMessage:
		return &TooLongError{len(message)}
	case bytes.IndexByte(message, '\n') >= 0:
		return errors.New("a message with a newline in it")
	}
	line := append(append(make([]byte, 0, len(message)+1), message...), '\n')
	_, err := l.out.Write(line)
	return err
}

// Recv returns the next message without its newline, skipping blank lines. It returns io.EOF at the end of the stream.
// A final line without a newline still counts as a message. After a TooLongError, the next call returns the next
// message.
func (l *Lines) Recv() ([]byte, error) {
	for {
		line, err := l.line()
		if line = bytes.TrimSpace(line); len(line) > 0 && (err == nil || errors.Is(err, io.EOF)) {
			return line, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// line reads up to the next newline and returns at most MaxMessage bytes.
func (l *Lines) line() ([]byte, error) {
	var line []byte
	size := 0
	for {
		part, err := l.in.ReadSlice('\n')
		size += len(part)
		if size <= MaxMessage+1 {
			line = append(line, part...)
		} else {
			line = nil
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case size > MaxMessage+1 && (err == nil || errors.Is(err, io.EOF)):
			return nil, &TooLongError{size}
		default:
			return line, err
		}
	}
}

// Close closes the output stream. Further calls have no effect.
func (l *Lines) Close() error {
	l.closing.Do(func() { l.closed = l.out.Close() })
	return l.closed
}
