package memprovider

// Memory is room that a store takes over from one that nobody uses any more: for stored bytes, messages and tokens. It keeps
// what a small run needs; what a store needs beyond that lives no longer than what is in it. The zero value is ready.
type Memory struct {
	bytes    [][]byte // byteBlock long each
	rows     [][]row  // rowBlock each
	holdings holdingTable
	// nextBytes and nextRows are the first that the store has not taken yet.
	nextBytes, nextRows int
}

// memoryBlocks bounds the blocks of each kind that a Memory keeps.
const memoryBlocks = 64

// reset makes all of it free again.
func (m *Memory) reset() { m.nextBytes, m.nextRows, m.holdings.n = 0, 0, 0 }

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

// takeRows returns room for messages, which are to be overwritten. A nil Memory keeps nothing.
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
