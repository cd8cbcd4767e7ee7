package oracle

import (
	"context"
	"fmt"
	"strings"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/call"
)

// Call is a provider call with its arguments. Watch reports calls, so other packages do not need to create them.
type Call = call.Call

// Answer is what a call returned.
type Answer = call.Answer

// Exchange is a call with its answer.
type Exchange struct {
	// Build names the codec of the handle that made the call, which determines what the caller can decode. An empty
	// name stands for a caller that decodes everything that is not damaged.
	Build  string
	Call   Call
	Answer Answer
	// Lost is set if no answer arrived, so the call may or may not have taken effect.
	Lost bool
	// Failing is set if the storage was made to fail during the call. The call may then return a retryable error,
	// without effect.
	Failing bool
	// Crash says on its first line that the provider panicked during the call, that its process ended, or that its answer
	// has the wrong form; the others have the stack or the process's last words. No contract allows that. If Call is nil, it
	// says why the provider does not go on after it was killed.
	Crash string
	// At is the span of store time in which the call took effect.
	At Span
}

// String returns the call as it appears in a transcript: the method, with its parameters in JSON,
// and on a line of its own that the storage was made to fail.
func (e Exchange) String() string {
	if e.Call == nil {
		return "restart"
	}
	text := brief(call.CallText(e.Call))
	if e.Build != "" {
		text += " by build " + e.Build
	}
	if e.Failing {
		text += "\n       while the storage was made to fail"
	}
	return text
}

// AnswerText returns the answer as it appears in a transcript.
func (e Exchange) AnswerText() string {
	switch {
	case e.Lost:
		return "no answer"
	case e.Crash != "":
		return "no valid answer"
	}
	return brief(call.AnswerText(call.Method(e.Call), e.Answer))
}

// brief writes a long run of one letter as x{65536}.
func brief(text string) string {
	const most = 100
	if len(text) <= most {
		return text
	}
	var b strings.Builder
	for len(text) > 0 {
		n := 1
		for n < len(text) && text[n] == text[0] {
			n++
		}
		if n > most {
			fmt.Fprintf(&b, "%c{%d}", text[0], n)
		} else {
			b.WriteString(text[:n])
		}
		text = text[n:]
	}
	return b.String()
}

// answer is an answer in the form that the specification works with.
type answer struct {
	*call.Answer
	Err  *failure // shadows the provider's error
	Lost bool
}

// failure is a failed call. It has the error's class and message, the only parts that the contract describes.
type failure struct {
	Retryable bool
	Message   string
}

func (e *Exchange) answer() *answer {
	a := &answer{Answer: &e.Answer, Lost: e.Lost}
	if e.Answer.Err != nil {
		a.Err = &failure{Retryable: engine.IsRetryable(e.Answer.Err), Message: call.ErrorOf(e.Answer.Err).Message}
	}
	return a
}

// Token returns the lock token in an answer, or "" if there is none.
func Token(a Answer) string { return tokenIn(&a) }

func tokenIn(a *Answer) string {
	switch {
	case a.Orchestration != nil:
		return a.Orchestration.LockToken
	case a.Work != nil:
		return a.Work.LockToken
	}
	return ""
}

// Watch wraps a provider, including its management surface, and passes each call to tell once the call has returned.
// Answers are passed on unchanged. If the caller makes calls concurrently, they run concurrently, and tell must be safe
// for concurrent use. build names the codec of the provider's handle; nowMs returns the store's time in milliseconds.
func Watch(p engine.Provider, build string, nowMs func() int64, tell func(Exchange)) engine.Provider {
	return call.Through(p.Name(), p.Version(), p.Admin() != nil, func(ctx context.Context, c call.Call) call.Answer {
		began := nowMs()
		a := call.Perform(ctx, p, c)
		tell(Exchange{Build: build, Call: c, Answer: a, At: Between(began, nowMs())})
		return a
	})
}
