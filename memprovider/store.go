package memprovider

import (
	"fmt"
	"math"
	"reflect"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/observe"
)

// Never is a time that is never reached.
const Never int64 = math.MaxInt64

// The types of a store's observations (docs/architecture.md#observations).
type (
	// Sink receives observations.
	Sink = observe.Sink
	// Observation is one thing the store did; see the documentation of its Kind.
	Observation = observe.Observation
	// Caller identifies the caller of a provider method by its node number, counting from 1, and its incarnation. The
	// zero value is a client.
	Caller = observe.Caller
	// InstanceNo and MessageNo number a store's instances and messages, counting from 1.
	InstanceNo = observe.InstanceNo
	MessageNo  = observe.MessageNo
)

// Options configure a Store. The zero value gives a store with the contract's rules, at time 0 and without a sink.
type Options struct {
	// Sink receives every observation. It may be nil.
	Sink Sink
	// Rules are the store's rules; nil means memprovider.Default.
	Rules *Rules
	// RulesOf, if not nil, returns the rules for one caller's calls, or nil for the store's own: each caller may run
	// its own version of the provider's code. The order in which fetches find work always follows the store's own rules
	// for locks, orphans, pins and session owners.
	RulesOf func(caller Caller) *Rules
	// StartMs is the store's initial time in milliseconds.
	StartMs int64
	// BeforeAckStep is called before each step of an orchestration ack, and can fail the ack by returning an error. An
	// error that is not an *engine.ProviderError is reported as retryable. BeforeAckStep must not touch the store. Nil
	// means that no step fails.
	BeforeAckStep func(step AckStep) error
	// CallersClock allows time to move backward, so that each call can use its caller's clock.
	CallersClock bool
	// Plain makes the store report the extensions of an item, which are its status, pin and parent, only if the history
	// does not show them, because it cannot be decoded.
	Plain bool
	// Arena is memory that the store reuses. If it is nil, the store allocates its own.
	Arena *Arena
	// Recheck makes the store decode again whatever it keeps decoded beside its bytes, when that is written and when it is
	// read, and panic if the result differs.
	Recheck bool
}

// Store is the storage shared by all handles. It is single-threaded: neither its methods nor those of its handles may
// be called concurrently. It reads no clock; SetNow sets its time.
type Store struct {
	options Options
	own     *Rules // the store's
	rules   *Rules // for the current call
	now     int64
	schema  schema
	// generation increases with each change that may affect what an orchestration fetch finds; workGeneration does the
	// same for work fetches.
	generation, workGeneration uint64

	names     map[string]InstanceNo // lookups only, never iterated over
	instances []*instance           // indexed by number - 1
	rows      []*row                // indexed by number - 1; nil once removed
	arena     *Arena                // Options.Arena, or a fresh one that nobody uses again
	view      View                  // what View returns
	codecs    []engine.Codec        // indexed by codec number; one per name
	pins      []*engine.Version     // interned

	index *index
	work  workIndex
	dirty []*instance // the end of the call updates their index positions
	// childrenOf maps a parent's name to its children, sorted by number.
	childrenOf map[string][]*instance // lookups only, never iterated over

	// Sessions by id, sorted by number, and the live ones by expiry.
	sessionIDs  map[string]*session // lookups only, never iterated over
	sessions    []*session
	lastSession uint64
	owners      map[string]*owner // lookups only, never iterated over
	expiring    heap[*session]

	// The current call.
	call          uint64 // the last call's number
	inCall        bool
	arrival       *Arrival // nil if the call did not wait
	mirror        *Found   // nil if the store chooses what the fetch finds
	undoing       bool
	observation   observe.Observation
	request       observe.CallRequest
	caller        Caller
	callKind      observe.CallKind
	delivered     []MessageNo
	journal       []undo
	journaling    bool
	acking        engine.OrchestrationAck
	encoded       [][]byte // what the ack in progress stores
	scratch       []byte
	candidates    []*instance
	candidateRows []*row
}

// holding is what a token locks: an instance or a worker row.
type holding struct {
	instance InstanceNo
	message  MessageNo
}

// New returns an empty store.
func New(o Options) *Store {
	s := &Store{options: o, own: o.Rules, now: o.StartMs, names: make(map[string]InstanceNo)}
	if s.own == nil {
		s.own = DefaultRules()
	}
	s.rules = s.own
	s.view = view{s}
	s.index = &index{rules: s.own}
	if s.arena = o.Arena; s.arena == nil {
		s.arena = &Arena{}
	} else {
		s.arena.reset()
	}
	return s
}

// Now returns the store's time in milliseconds.
func (s *Store) Now() int64 { return s.now }

// SetNow sets the store's time. It panics if time would move backward and the options do not allow that.
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

// Generation returns a number that increases with each change, including the passage of time, that may affect what a
// fetch finds.
func (s *Store) Generation() uint64 { return s.generation + s.workGeneration }

// QueueGeneration is like Generation for fetches from one queue: what they find can change only if the number has
// increased.
func (s *Store) QueueGeneration(q observe.Queue) uint64 {
	if q == observe.QueueWorker {
		return s.workGeneration
	}
	return s.generation
}

// InstanceName returns the name of the instance with the given number, or "" if there is none.
func (s *Store) InstanceName(no InstanceNo) string {
	if no == 0 || uint64(no) > uint64(len(s.instances)) {
		return ""
	}
	return s.instances[no-1].name
}

// InstanceNumber returns an instance's number, and whether the store has heard of the instance.
func (s *Store) InstanceNumber(name string) (InstanceNo, bool) {
	no, ok := s.names[name]
	if !ok {
		no, ok = s.names[asStored(name)]
	}
	return no, ok
}

func asStored(name string) string {
	if utf8.ValidString(name) {
		return name
	}
	return string([]rune(name))
}

// Handle returns a provider for one caller. It uses the codec of the caller's build, and its observations name the
// caller. Its Admin is never nil. It never waits: poll timeouts and contexts are ignored
// (docs/contract/provider.md#f3). Handles whose codecs have the same name share decoded data, so those codecs must be
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

// named returns the instance called name, assigning a number if the instance is new to the store. Names are spelled as
// in stored messages, with U+FFFD for each byte that is not UTF-8.
func (s *Store) named(name string) *instance {
	if no, ok := s.InstanceNumber(name); ok {
		return s.instances[no-1]
	}
	name = asStored(name)
	in := s.arena.instances.New()
	in.no, in.name = InstanceNo(len(s.instances)+1), name
	s.names[name] = in.no
	s.instances = append(s.instances, in)
	if o := s.observe(observe.InstanceNamed); o != nil {
		o.Instance, o.Name = in.no, name
		s.send()
	}
	return in
}

// known returns the instance with the given name, or nil if the store has not heard of it.
func (s *Store) known(name string) *instance {
	if no, ok := s.InstanceNumber(name); ok {
		return s.instances[no-1]
	}
	return nil
}

// executionOf returns the execution of the instance with the given name, or nil if the store has none.
func (s *Store) executionOf(instance string, id uint64) *execution {
	if in := s.known(instance); in != nil {
		return in.execution(id)
	}
	return nil
}

// touch records that the instance's position in the index may have changed.
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
		in.promote(s.arena, s.now)
		s.index.update(in, s.now)
		s.dirty[i] = nil
	}
	s.dirty = s.dirty[:0]
}

// intern returns the store's only copy of a pin. It drops the pre-release part, since a store keeps only three
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

// encode returns the encoded message in a slice without spare capacity.
func (p *provider) encode(item engine.WorkItem) ([]byte, error) {
	s := p.store
	var err error
	if s.scratch, err = p.codec.AppendWorkItem(s.scratch[:0], item); err != nil {
		return nil, err
	}
	return s.arena.messageBytes.Clone(s.scratch), nil
}

// token issues the next token for an instance or a row.
func (s *Store) token(prefix byte, h holding, untilMs int64) lock {
	s.arena.holdings = append(s.arena.holdings, h)
	n := uint64(len(s.arena.holdings))
	return lock{number: n, token: s.arena.tokenText(prefix, n), takenMs: s.now, untilMs: untilMs}
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
	if n > uint64(len(s.arena.holdings)) {
		return 0, holding{}, false
	}
	h = s.arena.holdings[n-1]
	return n, h, (h.message == 0) == (prefix == orchestratorToken)
}

// The first letters of tokens.
const (
	orchestratorToken = 'o'
	workerToken       = 'w'
)

// milliseconds returns a duration in whole milliseconds, or 0 if it is negative.
func milliseconds(d time.Duration) int64 { return max(d.Milliseconds(), 0) }

// recheck panics if an event does not decode to the value that was written.
func (s *Store) recheck(codec engine.Codec, data []byte, e engine.Event) {
	if !s.options.Recheck {
		return
	}
	back, err := codec.DecodeEvent(data)
	if err != nil || !reflect.DeepEqual(back, e) {
		panic(fmt.Sprintf("memprovider: codec %s wrote %+v and reads %+v, %v", codec.Name(), e, back, err))
	}
}

// recheckItem is recheck for a message, whose decoding may have failed.
func (s *Store) recheckItem(data []byte, d *decodedItem) {
	if !s.options.Recheck {
		return
	}
	codec := s.codecs[d.codec-1]
	back, err := codec.DecodeWorkItem(data)
	if (err == nil) != (d.err == nil) || !reflect.DeepEqual(back, d.item) {
		panic(fmt.Sprintf("memprovider: codec %s has decoded %+v, %v, and now reads %+v, %v", codec.Name(), d.item, d.err, back, err))
	}
}
