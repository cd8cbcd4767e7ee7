package conformance

import (
	"slices"
	"strings"
)

// form describes which arguments an operation takes: the minimum and maximum number of plain words, its switches, and
// its keys.
type form struct {
	least, most    int
	switches, keys string
}

// forms lists the operations of scripts. Unknown words must be rejected, because an operation that ignored one would
// silently weaken its case.
var forms = map[string]form{
	"send": {1, 1, "", "delay"}, "fetch": {0, 1, "+name +history +kv +kvtime", "lock poll filter"}, "fetchall": {0, 0, "", "filter"},
	"fetchin": {1, 2, "", "filter"}, "ack": {1, 1, "", ackKeys}, "abandon": {1, 1, "ignore", "delay"}, "renew": {2, 2, "", ""},
	"make": {1, 1, "", ackKeys}, "bare": {1, 1, "", ackKeys}, "turn": {1, 1, "", ackKeys}, "can": {2, 2, "", ackKeys}, "fin": {1, 1, "", ackKeys},
	"act": {1, 1, "", ""}, "work": {0, 1, "", "lock poll tags owner slock"}, "finish": {1, 2, "", ""}, "quit": {1, 1, "ignore", "delay"},
	"extend": {2, 2, "", ""}, "hold": {2, 2, "", "idle"}, "sweep": {0, 0, "", ""}, "wait": {1, 1, "", ""}, "mark": {1, 3, "", ""}, "store": {0, 0, "", ""},

	"read": {1, 2, "+kinds", ""}, "history": {1, 2, "+kinds", ""}, "append": {3, 3, "", ""}, "corrupt": {3, 3, "", ""}, "damage": {1, 1, "", ""}, "torn": {1, 1, "", ackKeys},
	"info": {1, 1, "", ""}, "execution": {2, 2, "", ""}, "list": {0, 1, "", ""}, "executions": {1, 1, "", ""}, "latest": {1, 1, "", ""},
	"children": {1, 1, "", ""}, "parent": {1, 1, "", ""}, "tree": {1, 1, "", ""}, "metrics": {0, 0, "", ""}, "depths": {0, 0, "", ""},
	"status": {2, 2, "", ""}, "kv": {2, 2, "", ""}, "kvs": {1, 1, "", ""}, "stats": {1, 1, "", ""},

	"delete": {1, 1, "force", ""}, "deleteall": {1, 1, "force", ""}, "bulk": {0, 0, "", "ids before limit"},
	"prune": {1, 1, "", "keep before"}, "prunebulk": {0, 0, "", "ids ended limit keep before"},
}

const ackKeys = "exec events name status output parent pin work send cancel"

// checkForm ends a case if its script has an unknown operation or an unexpected word.
func checkForm(op string, a *arguments) {
	f, ok := forms[op]
	if !ok {
		mistaken("%s: no such operation", a.line)
	}
	plain := 0
	for _, word := range a.plain {
		if !slices.Contains(strings.Fields(f.switches), word) {
			plain++
		}
	}
	if plain < f.least || plain > f.most {
		mistaken("%s: %d plain words, %s takes %d to %d", a.line, plain, op, f.least, f.most)
	}
	for key := range a.named {
		if !slices.Contains(strings.Fields(f.keys), key) {
			mistaken("%s: %s takes no %s=", a.line, op, key)
		}
	}
}
