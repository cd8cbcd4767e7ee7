package conformance

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/call"
	"github.com/durosim/durosim/properties/oracle"
	"github.com/durosim/durosim/properties/undertest"
)

// How many calls a walk makes, and how many walks there are in virtual and in real time.
const (
	walkSteps = 150
	walks     = 20
	realWalks = 4
)

// walk makes random calls, the same ones every time, and lets the specification judge every answer. If the
// specification rejects an answer and the clock can be set, walk shortens the sequence. search.Check goes further,
// because it draws new sequences.
func walk(w *caseRun) {
	number := uint64(walks)
	if w.Advance == nil {
		number = realWalks
	}
	for n := range number {
		r := rand.New(rand.NewPCG(157, n))
		ops := make([]string, walkSteps)
		for step := range ops {
			ops[step] = randomStep(r, step)
		}
		at, refusal := w.take(ops)
		if refusal == nil {
			continue
		}
		if w.Advance != nil {
			_, refusal = w.take(w.least(ops[:at], refusal))
		}
		fail("walk %d: an answer that the specification does not allow\n%v", n, refusal)
	}
	if !w.judged {
		lacks("the provider has none of the methods")
	}
}

// stop is the panic that ends a walk when an answer is rejected.
type stop struct{ refusal *oracle.Refusal }

// take makes a walk's calls on a fresh store until an answer is rejected. It returns how many calls it made, and the
// refusal, or nil if no answer was rejected.
func (w *caseRun) take(ops []string) (made int, refusal *oracle.Refusal) {
	w.fresh()
	w.done = nil
	judge := oracle.New(oracle.Options{Deny: []oracle.Freedom{"F5"}})
	w.p = oracle.Watch(w.Provider, "", func() int64 { return int64(w.now()) }, func(e oracle.Exchange) {
		if errors.Is(e.Answer.Err, engine.ErrUnsupported) {
			return // the provider lacks this method; its other methods can still be judged
		}
		w.judged = true
		if refusal := judge.Apply(e); refusal != nil {
			panic(stop{refusal})
		}
	})
	defer func() {
		switch p := recover().(type) {
		case nil:
		case stop:
			w.done = append(w.done, ops[made])
			made, refusal = made+1, p.refusal
		default:
			panic(p)
		}
	}()
	for _, op := range ops {
		got, err := w.run(op)
		if err != nil {
			got = class(err)
		}
		w.note(op, got)
		made++
	}
	return made, nil
}

// least removes calls from a walk while the specification still rejects an answer of the same method.
func (w *caseRun) least(ops []string, refusal *oracle.Refusal) []string {
	return undertest.Least(ops, func(some []string) (int, bool) {
		// Release the store at once; otherwise hundreds of them would stay open.
		w.Release()
		w.all = w.all[:len(w.all)-1]
		at, again := w.take(some)
		return at, again != nil && call.Method(again.Call) == call.Method(refusal.Call)
	})
}

// steps are the templates of a walk's calls. %i stands for an instance, %t for an instance's token, %w for an
// activity's token, %n for a new event id, %d for a short time, %l for a lock timeout, %o for an owner, %s for a
// status, %v for a version, and %k for a key.
var steps = []string{
	"send start:%i", "send start:%i", "send ext:%i:e", "send ext:%i:e", "send queue:%i:q", "send stop:%i", "send ext:%i:late delay=%d",
	"send timer:%i:+500", "send done:%i:7", "send can:%i",
	"fetch %t lock=%l", "fetch %t lock=%l", "fetch %t lock=%l", "fetch %t lock=%l filter=1.0.0..%v", "fetch %t lock=%l filter=%v..9.0.0", "fetch %t filter=",
	"ack %t", "ack %t events=%n name=TestOrch@1.0.0 pin=%v", "ack %t events=%n,%n:set:%k:v work=act:%i:%n", "ack %t exec=2 events=%n name=TestOrch@2.0.0",
	"ack %t events=%n status=%s output=o", "ack %t events=1,%n send=ext:%i:sent,timer:%i:+300", "ack %t events=%n:status:s,%n:clear:%k cancel=%i:7",
	"ack %t events=%n:clearall,%n:set:%k:w status=%s name=TestOrch@1.0.0",
	"abandon %t", "abandon %t delay=%d", "abandon %t ignore", "renew %t %l",
	"act %i:7", "act %i:8@s1", "act %i:9@s2/gpu", "act %i:7/gpu",
	"work %w lock=%l", "work %w lock=%l owner=%o slock=%l", "work %w lock=%l owner=%o slock=%l tags=any", "work %w tags=gpu", "work %w tags=+gpu",
	"finish %w", "finish %w done:%i:7", "quit %w", "quit %w delay=%d", "quit %w ignore", "extend %w %l",
	"hold %o %l", "hold %o %l idle=%d", "sweep",
	"wait %d", "wait %d", "wait %d", "wait 1", "read %i", "read %i 1", "kv %i %k", "kvs %i", "status %i 0", "stats %i",
}

func randomStep(r *rand.Rand, step int) string {
	pick := func(from ...string) string { return from[r.IntN(len(from))] }
	form := steps[r.IntN(len(steps))]
	op := ""
	for i := 0; i < len(form); i++ {
		if form[i] != '%' {
			op += form[i : i+1]
			continue
		}
		i++
		switch form[i] {
		case 'i':
			op += pick("A", "A", "B")
		case 't':
			op += pick("t1", "t1", "t2")
		case 'w':
			op += pick("w1", "w1", "w2")
		case 'n':
			op += fmt.Sprint(100 + 10*step + len(op)%10)
		case 'd':
			op += pick("100", "300", "500")
		case 'l':
			op += pick("300", "1000", "30000")
		case 'o':
			op += pick("worker-A", "worker-B")
		case 's':
			op += pick("Completed", "Failed", "ContinuedAsNew", "Running")
		case 'v':
			op += pick("1.0.0", "2.0.0", "3.0.0")
		case 'k':
			op += pick("x", "y")
		}
	}
	return op
}
