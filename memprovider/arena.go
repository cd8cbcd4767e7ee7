package memprovider

import (
	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/internal/arena"
)

// Arena lets a store reuse the memory of an earlier store that is no longer in use: stored bytes, messages, tokens, and
// objects, including those handed out to callers. It is sized for a small run; a store that needs more allocates the
// rest as usual. The zero value is ready to use.
type Arena struct {
	holdings []holding   // of all tokens issued so far, by number - 1
	texts    [2][]string // of all tokens issued so far, by prefix and number

	// Events live as long as their execution, and messages only until they are taken, so they do not share blocks.
	eventBytes   arena.Of[byte]
	messageBytes arena.Of[byte]

	rows       arena.Of[row]
	instances  arena.Of[instance]
	executions arena.Of[execution]
	lists      arena.Of[*execution]
	events     arena.Of[event]
	decoded    arena.Of[decodedHistory]
	seen       arena.Of[*decodedHistory]
	histories  arena.Of[engine.Event]
	messages   arena.Of[engine.WorkItem]
	read       arena.Of[decodedItem]
	fetched    arena.Of[engine.FetchedOrchestration]
	work       arena.Of[engine.FetchedWork]
	metas      arena.Of[instanceMeta]
	states     arena.Of[executionState]
	queues     arena.Of[*row]
}

// arenaTokens limits how many token texts an Arena keeps.
const arenaTokens = 4096

// reset makes all memory available again, and keeps it from then on.
func (a *Arena) reset() {
	a.holdings = a.holdings[:0]
	a.eventBytes.Reset()
	a.messageBytes.Reset()
	a.rows.Reset()
	a.instances.Reset()
	a.executions.Reset()
	a.lists.Reset()
	a.events.Reset()
	a.decoded.Reset()
	a.seen.Reset()
	a.histories.Reset()
	a.messages.Reset()
	a.read.Reset()
	a.fetched.Reset()
	a.work.Reset()
	a.metas.Reset()
	a.states.Reset()
	a.queues.Reset()
}

// tokenText returns a token's text, reusing the copy from an earlier run.
func (a *Arena) tokenText(prefix byte, n uint64) string {
	if n >= arenaTokens {
		return tokenText(prefix, n)
	}
	texts := &a.texts[countIf(prefix == workerToken)]
	for uint64(len(*texts)) <= n {
		*texts = append(*texts, "")
	}
	if (*texts)[n] == "" {
		(*texts)[n] = tokenText(prefix, n)
	}
	return (*texts)[n]
}
