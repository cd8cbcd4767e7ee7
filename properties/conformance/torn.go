package conformance

// This file implements acks that fail midway. A case with such an ack runs several times: the ack fails before its
// first step in the first run, before its second step in the second, and so on, each time on a new store. How many
// steps an ack has is up to the store; if the ack has fewer steps than that, it succeeds.

// tornOp starts the script line of a torn ack.
const tornOp = "\ttorn "

// tornSteps is how many steps of an ack are made to fail.
const tornSteps = 12

// committed is the panic raised when an ack succeeds because it has too few steps.
type committed struct{}

// playTorn plays a script once for each step, making its ack fail before that step.
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

// playUntilCommitted plays a script, and reports whether its ack failed midway.
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

// tear makes an ack fail before a given step. Whether the error is retryable is up to the store.
func (w *caseRun) tear(a *arguments) error {
	if w.FailAckStep == nil {
		lacks("the store cannot fail in the middle of an ack (fail_ack_step; in Go, Store.FailAckStep)")
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
