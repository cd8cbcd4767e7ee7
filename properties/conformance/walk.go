package conformance

func walk(w *world) { w.play("fetch -> none") }
