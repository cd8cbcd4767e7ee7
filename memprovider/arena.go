package memprovider

import (
	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/internal/arena"
)

// Arena lets a store reuse the memory of an earlier store that is no longer in use: stored bytes, messages, tokens, and
// objects, including those handed out to callers. It is sized for a small run; a store that needs more allocates the
// rest as usual. The zero value is ready to use.
type Arena struct {
	bytes    [][]byte // byteBlock long each
	rows     [][]row  // rowBlock each
	holdings holdingTable
	texts    [2][]string // of all tokens issued so far, by prefix and number
	// nextBytes and nextRows index the first block of each kind that the store has not taken yet.
	nextBytes, nextRows int

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

// arenaBlocks limits how many blocks of each kind an Arena keeps.
const arenaBlocks = 64

// reset makes all memory available again, and keeps it from then on.
func (a *Arena) reset() {
	a.nextBytes, a.nextRows, a.holdings.n = 0, 0, 0
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

// takeBytes returns an empty block of bytes.
func (a *Arena) takeBytes() []byte {
	if a.nextBytes == arenaBlocks {
		return make([]byte, 0, byteBlock)
	}
	if a.nextBytes == len(a.bytes) {
		a.bytes = append(a.bytes, make([]byte, 0, byteBlock))
	}
	a.nextBytes++
	return a.bytes[a.nextBytes-1][:0]
}

// takeRows returns a block of rows. The caller overwrites their old contents.
func (a *Arena) takeRows() []row {
	if a.nextRows == arenaBlocks {
		return make([]row, rowBlock)
	}
	if a.nextRows == len(a.rows) {
		a.rows = append(a.rows, make([]row, rowBlock))
	}
	a.nextRows++
	return a.rows[a.nextRows-1]
}
