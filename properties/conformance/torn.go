package conformance

// This file has the acks that fail midway. A case with one is played for each of an ack's first steps, on a store of its
// own; how many steps there are is up to the store, and an ack that has fewer of them is not torn.

// tornOp begins the line of a torn ack.
const tornOp = "\ttorn "

// tornSteps is the number of steps that are tried.
const tornSteps = 12

// committed is the panic of a torn ack that was not: the step is beyond its last.
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

// tear makes an ack fail before a step. Whether a failure of the storage may be tried again is the store's to say.
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
