package memprovider

import (
	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/internal/slab"
)

// Memory lets a store reuse the memory of an earlier store that is no longer in use: stored bytes, messages and tokens.
// It is sized for a small run; a store that needs more allocates the rest as usual. The zero value is ready to use.
type Memory struct {
	bytes    [][]byte // byteBlock long each
	rows     [][]row  // rowBlock each
	holdings holdingTable
	texts    [2][]string // of all tokens issued so far, by prefix and number
	kept
	// nextBytes and nextRows index the first block of each kind that the store has not taken yet.
	nextBytes, nextRows int
}

// kept holds a store's reusable objects other than bytes and messages, including those handed out to callers. Without a
// Memory nothing is reused.
type kept struct {
	instances  slab.Slab[instance]
	executions slab.Slab[execution]
	lists      slab.Slab[*execution]
	events     slab.Slab[event]
	decoded    slab.Slab[decodedHistory]
	seen       slab.Slab[*decodedHistory]
	histories  slab.Slab[engine.Event]
	messages   slab.Slab[engine.WorkItem]
	read       slab.Slab[decodedItem]
	fetched    slab.Slab[engine.FetchedOrchestration]
	work       slab.Slab[engine.FetchedWork]
	parents    slab.Slab[engine.ParentLink]
	metas      slab.Slab[instanceMeta]
	states     slab.Slab[executionState]
	queues     slab.Slab[*row]
}

func (k *kept) reset() {
	k.instances.Reset()
	k.executions.Reset()
	k.lists.Reset()
	k.events.Reset()
	k.decoded.Reset()
	k.seen.Reset()
	k.histories.Reset()
	k.messages.Reset()
	k.read.Reset()
	k.fetched.Reset()
	k.work.Reset()
	k.parents.Reset()
	k.metas.Reset()
	k.states.Reset()
	k.queues.Reset()
}

// memoryTokens limits how many token texts a Memory keeps.
const memoryTokens = 4096

// memoryBlocks limits how many blocks of each kind a Memory keeps.
const memoryBlocks = 64

// reset makes all memory available again.
func (m *Memory) reset() {
	m.nextBytes, m.nextRows, m.holdings.n = 0, 0, 0
	m.kept.reset()
}

// tokenText returns a token's text, reusing the copy from an earlier run. A nil Memory keeps nothing.
func (m *Memory) tokenText(prefix byte, n uint64) string {
	if m == nil || n >= memoryTokens {
		return tokenText(prefix, n)
	}
	texts := &m.texts[countIf(prefix == workerToken)]
	for uint64(len(*texts)) <= n {
		*texts = append(*texts, "")
	}
	if (*texts)[n] == "" {
		(*texts)[n] = tokenText(prefix, n)
	}
	return (*texts)[n]
}

// takeBytes returns an empty block of bytes. A nil Memory keeps nothing.
func (m *Memory) takeBytes() []byte {
	if m == nil || m.nextBytes == memoryBlocks {
		return make([]byte, 0, byteBlock)
	}
	if m.nextBytes == len(m.bytes) {
		m.bytes = append(m.bytes, make([]byte, 0, byteBlock))
	}
	m.nextBytes++
	return m.bytes[m.nextBytes-1][:0]
}

// takeRows returns a block of rows. The caller overwrites their old contents. A nil Memory keeps nothing.
func (m *Memory) takeRows() []row {
	if m == nil || m.nextRows == memoryBlocks {
		return make([]row, rowBlock)
	}
	if m.nextRows == len(m.rows) {
		m.rows = append(m.rows, make([]row, rowBlock))
	}
	m.nextRows++
	return m.rows[m.nextRows-1]
}
