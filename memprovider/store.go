package memprovider

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/internal/observe"
	"github.com/durosim/durosim/internal/storerules"
)

// Never is the time of an event that does not happen as time passes.
const Never int64 = math.MaxInt64

// The types of a store's observations (docs/architecture.md#observations).
type (
	// Sink receives observations.
	Sink = observe.Sink
	// Observation is one thing that the store did; see the documentation of its Kind.
	Observation = observe.Observation
	// Caller identifies the caller of a provider method: a node's number, from 1, and its incarnation. The zero value
	// is a client.
	Caller = observe.Caller
	// InstanceNo and MessageNo are the numbers of instances and messages in a store, from 1.
	InstanceNo = observe.InstanceNo
	MessageNo  = observe.MessageNo
)

// Options configure a Store. The zero value gives a store with the contract's rules, at time 0, without a sink.
type Options struct {
	// Sink receives every observation; nil means no observations.
	Sink Sink
	// Rules are the rules of the store; nil means storerules.Default.
	Rules *storerules.Rules
	// RulesOf, if not nil, returns the rules for a caller's calls, nil for the store's: each caller may use its own
	// version of the provider's code. The order in which fetches find things always follows the store's own rules for
	// locks, orphans, pins and session owners.
	RulesOf func(caller Caller) *storerules.Rules
	// StartMs is the time at which the store begins, in milliseconds.
	StartMs int64
	// BeforeAckStep is called with the number of the call before each step of an orchestration ack, and can fail the
	// ack by returning an error. An error that is not an *engine.ProviderError is reported as retryable. It must not
	// touch the store. Nil means no faults.
	BeforeAckStep func(call uint64, step storerules.AckStep) error
	// CallersClock allows the time to move backward, so that each call can use its caller's clock.
	CallersClock bool
	// Memory is memory for the store to reuse; if nil, the store allocates its own.
	Memory *Memory
	// Recheck decodes again every event that an ack or an append puts into the cache, and panics if the result differs.
	Recheck bool
}

// Store is the storage that all handles share. It is single-threaded: its methods and those of its handles must not be
// called concurrently. It reads no clock; SetNow tells it the time.
type Store struct {
	options Options
	own     *storerules.Rules // the store's
	rules   *storerules.Rules // the current call's
	now     int64
	// generation grows with each change that may alter what an orchestration fetch finds, workGeneration with each that
	// may alter what a work fetch finds.
	generation, workGeneration uint64

	names     map[string]InstanceNo // looked up only, never ranged over
	instances []*instance           // by number - 1
	rows      []*row                // by number - 1, nil once they are removed
	memory    *Memory               // nil if none is reused
	kept      *kept                 // part of memory, or one that reuses nothing
	view      View                  // what View returns
	block     []byte                // the current block for stored events
	passing   []byte                // the current block for messages
	spareRows []row                 // unused rows for the next messages
	holdings  *holdingTable         // by token number - 1
	codecs    []engine.Codec        // by codec number; one for each name
	pins      []*engine.Version     // interned

	index *index
	work  workIndex
	dirty []*instance // the call's end updates their index positions
	// childrenOf maps a parent's name to its children, in order of number.
	childrenOf map[string][]*instance // looked up only, never ranged over

	// Sessions by id, in order of number (with occasional removal of deleted ones), and the live ones by expiry.
	sessionIDs   map[string]*session // looked up only, never ranged over
	sessions     []*session
	lastSession  uint64
	goneSessions int
	owners       map[string]*owner // looked up only, never ranged over
	expiring     heap[*session]

	// The current call.
	call          uint64 // number of the last call
	inCall        bool
	arrival       *Arrival // nil if the call did not wait
	lead          *Lead    // nil if the store chooses what a fetch finds
	undoing       bool
	observation   observe.Observation
	request       observe.CallRequest
	caller        Caller
	callKind      observe.CallKind
	delivered     []MessageNo
	journal       []undo
	journaling    bool
	acking        engine.OrchestrationAck
	ack           preparedAck
	scratch       []byte
	candidates    []*instance
	candidateRows []*row
}

// holding is what a token locks: an instance or a worker row.
type holding struct {
	instance InstanceNo
	message  MessageNo
}

// holdingTable has the holding of every token. It consists of blocks, so that it can grow with each successful fetch
// without copying.
type holdingTable struct {
	blocks []*[holdingBlock]holding
	n      uint64
}

const holdingBlock = 512

// add adds a holding and returns its number, from 1.
func (t *holdingTable) add(h holding) uint64 {
	if t.n == uint64(len(t.blocks))*holdingBlock {
		t.blocks = append(t.blocks, new([holdingBlock]holding))
	}
	t.n++
	t.blocks[(t.n-1)/holdingBlock][(t.n-1)%holdingBlock] = h
	return t.n
}

func (t *holdingTable) at(n uint64) holding { return t.blocks[(n-1)/holdingBlock][(n-1)%holdingBlock] }

// New returns an empty store.
func New(o Options) *Store {
	s := &Store{options: o, own: o.Rules, now: o.StartMs, names: make(map[string]InstanceNo)}
	if s.own == nil {
		s.own = storerules.Default()
	}
	s.rules = s.own
	s.view = view{s}
	s.index = &index{rules: s.own}
	s.memory = o.Memory
	if s.memory == nil {
		s.holdings, s.kept = &holdingTable{}, &kept{}
		return s
	}
	s.memory.reset()
	s.holdings, s.kept = &s.memory.holdings, &s.memory.kept
	return s
}

// Now returns the store's time in milliseconds.
func (s *Store) Now() int64 { return s.now }

// SetNow sets the time. It panics if the time would go back, unless the options allow that.
func (s *Store) SetNow(ms int64) {
	if ms < s.now {
		if s.options.CallersClock {
			s.setBack(ms)
			return
		}
		panic(fmt.Sprintf("memprovider: time moves backward from %d to %d ms", s.now, ms))
	}
	if ms == s.now {
		return
	}
	s.now = ms
	for in := s.index.due(ms); in != nil; in = s.index.due(ms) {
		s.touch(in)
		s.settle()
	}
	for r := s.work.dueRow(ms); r != nil; r = s.work.dueRow(ms) {
		s.placeWork(r)
	}
	for e := s.expiring.head(); e != nil && e.key <= ms; e = s.expiring.head() {
		s.placeSession(e.item)
	}
}

// Generation returns a number that grows with each change, including the passage of time, that may alter what a fetch
// finds.
func (s *Store) Generation() uint64 { return s.generation + s.workGeneration }

// QueueGeneration returns the part of Generation for fetches from one queue: what they find changes only when it grows.
func (s *Store) QueueGeneration(q observe.Queue) uint64 {
	if q == observe.QueueWorker {
		return s.workGeneration
	}
	return s.generation
}

// InstanceName returns the name of the instance with that number, empty if there is none.
func (s *Store) InstanceName(no InstanceNo) string {
	if no == 0 || uint64(no) > uint64(len(s.instances)) {
		return ""
	}
	return s.instances[no-1].name
}

// InstanceNumber returns the number of an instance that the store has heard of.
func (s *Store) InstanceNumber(name string) (InstanceNo, bool) {
	no, ok := s.names[asStored(name)]
	return no, ok
}

func asStored(name string) string {
	if utf8.ValidString(name) {
		return name
	}
	return string([]rune(name))
}

// Handle returns a provider for one caller: it uses the codec of the caller's build, and its observations carry the
// caller's name. Its Admin is never nil. It never waits: poll timeouts and contexts are ignored
// (docs/contract/provider.md#f3). Handles whose codecs have the same name share decoded data, so such codecs must be
// equal.
func (s *Store) Handle(codec engine.Codec, caller Caller) engine.Provider {
	n := s.codecNumber(codec)
	return &provider{store: s, codec: s.codecs[n], codecNo: n, caller: caller}
}

func (s *Store) codecNumber(codec engine.Codec) int {
	for i, c := range s.codecs {
		if c.Name() == codec.Name() {
			return i
		}
	}
	s.codecs = append(s.codecs, codec)
	return len(s.codecs) - 1
}

// named returns the instance with that name and assigns a number to a new one. Names are spelled as in stored messages:
// with U+FFFD for each byte that is not UTF-8.
func (s *Store) named(name string) *instance {
	name = asStored(name)
	if no, ok := s.names[name]; ok {
		return s.instances[no-1]
	}
	in := s.kept.instances.New()
	in.no, in.name = InstanceNo(len(s.instances)+1), name
	s.names[name] = in.no
	s.instances = append(s.instances, in)
	if o := s.observe(observe.InstanceNamed); o != nil {
		o.Instance, o.Name = in.no, name
		s.send()
	}
	return in
}

// known returns the instance with that name, nil if the store has not heard of it.
func (s *Store) known(name string) *instance {
	if no, ok := s.InstanceNumber(name); ok {
		return s.instances[no-1]
	}
	return nil
}

// touch records that the instance's index position may have changed.
func (s *Store) touch(in *instance) {
	s.generation++
	if !in.dirty {
		in.dirty = true
		s.dirty = append(s.dirty, in)
	}
}

// settle updates the index positions of the touched instances.
func (s *Store) settle() {
	for i, in := range s.dirty {
		in.dirty = false
		in.promote(s.kept, s.now)
		s.index.update(in, s.now)
		s.dirty[i] = nil
	}
	s.dirty = s.dirty[:0]
}

// intern returns the store's only copy of a pin, without its pre-release part, since a store keeps only the three
// integers.
func (s *Store) intern(pin *engine.Version) *engine.Version {
	if pin == nil {
		return nil
	}
	for _, p := range s.pins {
		if p.Compare(*pin) == 0 {
			return p
		}
	}
	v := pin.Triple()
	s.pins = append(s.pins, &v)
	return &v
}

// encode returns an encoded message in a byte slice without spare capacity.
func (p *provider) encode(item engine.WorkItem) ([]byte, error) {
	s := p.store
	var err error
	if s.scratch, err = p.codec.AppendWorkItem(s.scratch[:0], item); err != nil {
		return nil, err
	}
	return s.keep(&s.passing, s.scratch), nil
}

// keep returns a copy of data without spare capacity. To save allocations, the copy is in a block that it shares with
// data of a similar lifetime. keep replaces a full block.
func (s *Store) keep(block *[]byte, data []byte) []byte {
	if len(data) > byteBlock {
		return slices.Clip(slices.Clone(data))
	}
	if len(data) > cap(*block)-len(*block) {
		*block = s.memory.takeBytes()
	}
	from := len(*block)
	*block = append(*block, data...)
	return (*block)[from:len(*block):len(*block)]
}

const byteBlock = 16 << 10

// row returns an unused row for a message.
func (s *Store) row() *row {
	if len(s.spareRows) == 0 {
		s.spareRows = s.memory.takeRows()
	}
	r := &s.spareRows[0]
	s.spareRows = s.spareRows[1:]
	return r
}

const rowBlock = 32

// token issues the next token for an instance or a row.
func (s *Store) token(prefix byte, h holding, untilMs int64) lock {
	n := s.holdings.add(h)
	return lock{number: n, token: s.memory.tokenText(prefix, n), takenMs: s.now, untilMs: untilMs}
}

func tokenText(prefix byte, n uint64) string {
	return string(strconv.AppendUint(append(make([]byte, 0, 12), prefix), n, 10))
}

// lookup returns a token's number and its holding; ok is false if the token was never issued.
func (s *Store) lookup(prefix byte, token string) (n uint64, h holding, ok bool) {
	if len(token) < 2 || len(token) > 20 || token[0] != prefix || token[1] == '0' {
		return 0, holding{}, false
	}
	for i := 1; i < len(token); i++ {
		if token[i] < '0' || token[i] > '9' {
			return 0, holding{}, false
		}
		n = n*10 + uint64(token[i]-'0')
	}
	if n > s.holdings.n {
		return 0, holding{}, false
	}
	h = s.holdings.at(n)
	return n, h, (h.message == 0) == (prefix == orchestratorToken)
}

// The first letters of tokens.
const (
	orchestratorToken = 'o'
	workerToken       = 'w'
)

// milliseconds returns the whole milliseconds of a duration, 0 if it is negative.
func milliseconds(d time.Duration) int64 { return max(d.Milliseconds(), 0) }

// recheck panics if an event does not read back as it was written.
func (s *Store) recheck(codec engine.Codec, data []byte, e engine.Event) {
	if !s.options.Recheck {
		return
	}
	back, err := codec.DecodeEvent(data)
	if err != nil || !reflect.DeepEqual(back, e) {
		panic(fmt.Sprintf("memprovider: codec %s wrote %+v and reads %+v, %v", codec.Name(), e, back, err))
	}
}
