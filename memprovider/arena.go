package memprovider

import (
	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/internal/arena"
)

// Arena lets a store reuse the memory of an earlier store that is no longer in use: stored bytes, messages, tokens, and
// objects, including those handed out to callers. It is sized for a small run; a store that needs more allocates the
// rest as usual. The zero value is ready to use.
type Arena struct {
	bytes    blocks[byte] // byteBlock long each
	rows     blocks[row]  // rowBlock each; whoever takes one overwrites its old contents
	holdings holdingTable
	texts    [2][]string // of all tokens issued so far, by prefix and number

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
	a.bytes.next, a.rows.next, a.holdings.n = 0, 0, 0
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

// blocks are blocks of one length that stores use one after another.
type blocks[T any] struct {
	list [][]T
	next int // index of the first block that the store has not taken yet
}

// take returns a block of the given length, which has its old contents.
func (b *blocks[T]) take(length int) []T {
	if b.next == arenaBlocks {
		return make([]T, length)
	}
	if b.next == len(b.list) {
		b.list = append(b.list, make([]T, length))
	}
	b.next++
	return b.list[b.next-1]
}
