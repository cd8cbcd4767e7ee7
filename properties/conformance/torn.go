package conformance

// This file has the acks that fail midway. Such a case runs once for each of the first steps of an ack, each time on a
// new store. The store determines how many steps an ack has; an ack with fewer steps succeeds.

// tornOp begins the line of a torn ack.
const tornOp = "\ttorn "

// tornSteps is the number of steps at which the ack is made to fail.
const tornSteps = 12

// committed is the panic of an ack that succeeded because it has fewer steps.
type committed struct{}

// playTorn plays a script once for each step before which its ack fails.
func (w *caseRun) playTorn(script string) {
	torn := false
	for w.step = range tornSteps {
		w.fresh()
		w.done = nil
		torn = w.playUntilCommitted(script) || torn
	}
	if !torn {
		lacks("no ack of the store failed midway")
	}
}

// playUntilCommitted plays a script, and reports whether its ack was torn.
func (w *caseRun) playUntilCommitted(script string) (torn bool) {
	defer func() {
		switch p := recover().(type) {
		case nil, committed:
		default:
			panic(p)
		}
	}()
	w.play(script)
	return true
}

// tear makes an ack fail before a step. The store decides whether its storage failure is retryable.
func (w *caseRun) tear(a *arguments) error {
	if w.FailAckStep == nil {
		lacks("the store cannot fail in the middle of an ack (Store.FailAckStep)")
	}
	w.FailAckStep(w.step)
	err := w.p.AckOrchestrationItem(ctx, a.ack(w.token(a.word(0)), 1))
	if err == nil {
		panic(committed{})
	}
	if class(err) == "unclassified" {
		return err
	}
	return nil
}
