package conformance

import (
	"cmp"
	"errors"
	"path"
	"slices"
	"strings"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/properties/oracle"
)

// A script consists of lines of the form `OPERATION -> ANSWER`. The ANSWER is left out if the operation only has to
// succeed. It may list several answers that the contract allows: `none | A#1 x1 [ext:a]`. In a word, `*` matches
// anything, and `>=3` matches any number that is at least 3. In place of a result, an ANSWER may be
//
//	ok                    success without a result, as one of several answers
//	perm                  a permanent error
//	perm(text/other)      a permanent error whose message contains one of the texts, ignoring case
//	error, error(text)    an error of either class
//
// An answer that follows a freedom's number (`F9: none`) is allowed unless the release named by Factory.Contract denies
// that freedom.
//
// An operation takes its plain words first, then its key=value words; operations documents the
// operations. Times are in milliseconds, or most. Text after // is a comment.

// play runs a script and fails the case at the first answer that the script does not allow.
func (w *caseRun) play(script string) {
	for _, line := range strings.Split(script, "\n") {
		line, _, _ = strings.Cut(line, "//")
		op, want, _ := strings.Cut(strings.TrimSpace(line), "->")
		if op = strings.TrimSpace(op); op == "" {
			continue
		}
		want = strings.TrimSpace(want)
		got, err := w.run(op)
		shown := got
		if err != nil {
			shown = class(err) + ": " + err.Error()
		}
		w.note(op, shown)
		if !w.allowed(want, got, err) {
			fail("%s\n  got  %s\n  want %s", op, cmp.Or(shown, noResult), cmp.Or(want, noResult))
		}
	}
}

// noResult stands for the answer of a call that succeeds and has no result.
const noResult = "success, without a result"

// note adds an operation and its answer to the calls so far.
func (w *caseRun) note(op, answer string) {
	w.done = append(w.done, strings.TrimSuffix(op+" -> "+answer, " -> "))
}

// run runs an operation. If there can be no more answers, that ends the case.
func (w *caseRun) run(op string) (answer string, err error) {
	defer func() {
		if broken := w.broken(); broken != nil {
			w.note(op, "no valid answer")
			fail("%v", broken)
		}
	}()
	words := strings.Fields(op)
	if own := w.own[words[0]]; own != nil {
		return own(words[1:])
	}
	a := &arguments{w: w, line: op, named: map[string]string{}}
	for _, word := range words[1:] {
		if k, v, ok := strings.Cut(word, "="); ok {
			a.named[k] = v
		} else {
			a.plain = append(a.plain, word)
		}
	}
	return w.do(words[0], a)
}

// try runs an operation for a case written in Go. The operation must succeed.
func (w *caseRun) try(op string) string {
	got, err := w.run(op)
	w.note(op, got)
	if err != nil {
		fail("%s\n  got  %s: %v", op, class(err), err)
	}
	return got
}

// allowed reports whether the answers that a script lists include the given one.
func (w *caseRun) allowed(want, got string, err error) bool {
	denied, _ := oracle.Denied(w.factory.Contract) // ignoring the error is safe: an unknown contract never gets as far as making a store
	for _, one := range strings.Split(want, " | ") {
		if freedom, answer, ok := strings.Cut(one, ": "); ok && slices.ContainsFunc(oracle.Freedoms(), func(f oracle.FreedomInfo) bool { return string(f.ID) == freedom }) {
			if slices.Contains(denied, oracle.Freedom(freedom)) {
				continue
			}
			one = answer
		}
		if matches(strings.TrimSpace(one), got, err) {
			return true
		}
	}
	return false
}

func matches(want, got string, err error) bool {
	kind, texts, _ := strings.Cut(strings.TrimSuffix(want, ")"), "(")
	if kind == "perm" || kind == "error" {
		return err != nil && (class(err) == kind || kind == "error" && class(err) != "unclassified") && mentions(err, texts)
	}
	if err != nil {
		return false
	}
	if want == "ok" {
		return got == ""
	}
	return slices.EqualFunc(strings.Fields(want), strings.Fields(got), fits)
}

// mentions reports whether an error's message contains one of the texts in a list separated by slashes.
func mentions(err error, texts string) bool {
	message := err.Error()
	var p *engine.ProviderError
	if errors.As(err, &p) {
		message = p.Message
	}
	message = strings.ToLower(message)
	return slices.ContainsFunc(strings.Split(strings.ToLower(texts), "/"), func(text string) bool { return strings.Contains(message, text) })
}

// fits reports whether a word of an answer matches a word of the script.
func fits(want, got string) bool {
	if at, ok := strings.CutPrefix(want, ">="); ok {
		return atLeast(got, at)
	}
	if want == got {
		return true
	}
	if !strings.Contains(want, "*") {
		return false
	}
	plain := strings.NewReplacer("/", ":", "[", "(", "]", ")") // path.Match gives these characters a meaning, but * must match all of them
	ok, err := path.Match(plain.Replace(want), plain.Replace(got))
	return ok && err == nil
}
