package memprovider

// Memory is room that a store takes over from one that nobody uses any more: for stored bytes, messages and tokens. The
// zero value is ready.
type Memory struct {
	bytes    [][]byte // byteBlock long each
	rows     [][]row  // rowBlock each
	holdings holdingTable
	// nextBytes and nextRows are the first that the store has not taken yet.
	nextBytes, nextRows int
}

// reset makes all of it free again.
func (m *Memory) reset() { m.nextBytes, m.nextRows, m.holdings.n = 0, 0, 0 }

// takeBytes returns an empty block of bytes.
func (m *Memory) takeBytes() []byte {
	if m.nextBytes == len(m.bytes) {
		m.bytes = append(m.bytes, make([]byte, 0, byteBlock))
	}
	m.nextBytes++
	return m.bytes[m.nextBytes-1][:0]
}

// takeRows returns room for messages.
func (m *Memory) takeRows() []row {
	if m.nextRows == len(m.rows) {
		m.rows = append(m.rows, make([]row, rowBlock))
	}
	m.nextRows++
	rows := m.rows[m.nextRows-1]
	clear(rows)
	return rows
}
