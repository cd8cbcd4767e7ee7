package replay

import (
	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/engine/orchhost"
)

// queue holds the dequeues and messages of one queue (docs/contract/runtime.md#r7.7). A dequeue is open until the code
// takes its result or the turn applies its cancellation. The n-th open dequeue gets the n-th untaken message, whenever
// that message arrived. Each message is therefore taken at most once, and a dropped dequeue's message goes to the next
// dequeue.
type queue struct {
	name     string
	subs     []dequeue
	messages []queueMessage
	// closed is the number of leading subs that are taken or cancelled; cancelled is the number of cancelled ones among
	// them. taken is the number of leading messages that are taken.
	closed    int
	cancelled int
	taken     int
}

type dequeue struct {
	pos              int
	token            orchhost.Token
	taken, cancelled bool
}

type queueMessage struct {
	pos   int
	data  string
	taken bool
}

// message returns the index of the message that the i-th dequeue would currently get, or -1 if there is none.
func (q *queue) message(i int, slot func(open, cancelled int) int) int {
	open, cancelled := 0, q.cancelled
	for j := q.closed; j < i; j++ {
		switch s := &q.subs[j]; {
		case s.cancelled:
			cancelled++
		case !s.taken:
			open++
		}
	}
	n := slot(open, cancelled)
	for j := q.taken; j < len(q.messages); j++ {
		if q.messages[j].taken {
			continue
		}
		if n == 0 {
			return j
		}
		n--
	}
	return -1
}

// take permanently assigns the message to the i-th dequeue.
func (q *queue) take(i, message int) {
	q.subs[i].taken, q.messages[message].taken = true, true
	for q.taken < len(q.messages) && q.messages[q.taken].taken {
		q.taken++
	}
	q.settle()
}

func (q *queue) settle() {
	for ; q.closed < len(q.subs) && (q.subs[q.closed].taken || q.subs[q.closed].cancelled); q.closed++ {
		if q.subs[q.closed].cancelled {
			q.cancelled++
		}
	}
}

// queues holds all queues, keyed by name.
type queues struct {
	byName map[string]int // index into all
	all    []queue
	place  map[int]dequeuePlace // keyed by the position of the schedule event
}

// dequeuePlace locates a dequeue by its queue and its index in that queue.
type dequeuePlace struct{ queue, index int }

func (qs *queues) named(name string) *queue {
	i, ok := qs.byName[name]
	if !ok {
		if qs.byName == nil {
			qs.byName, qs.place = map[string]int{}, map[int]dequeuePlace{}
		}
		i = len(qs.all)
		qs.byName[name] = i
		qs.all = append(qs.all, queue{name: name})
	}
	return &qs.all[i]
}

func (qs *queues) subscribe(name string, pos int, token orchhost.Token) *queue {
	q := qs.named(name)
	qs.place[pos] = dequeuePlace{qs.byName[name], len(q.subs)}
	q.subs = append(q.subs, dequeue{pos: pos, token: token})
	return q
}

func (qs *queues) arrive(name string, pos int, data string) *queue {
	q := qs.named(name)
	q.messages = append(q.messages, queueMessage{pos: pos, data: data})
	return q
}

// cancel cancels the dequeue at pos and returns its queue. It returns nil if there is no such dequeue or it has already
// taken its message.
func (qs *queues) cancel(pos int) *queue {
	p, ok := qs.place[pos]
	if !ok || qs.all[p.queue].subs[p.index].taken {
		return nil
	}
	q := &qs.all[p.queue]
	q.subs[p.index].cancelled = true
	q.settle()
	return q
}

// queueMessage returns the queue of the dequeue at pos, the dequeue's index in that queue, and the index of the message
// that it would get.
func (t *turn) queueMessage(pos int) (q *queue, index, message int) {
	p := t.queues.place[pos]
	q = &t.queues.all[p.queue]
	return q, p.index, q.message(p.index, t.rules.QueueSlot)
}

func (t *turn) dequeue(name string, pos int, token orchhost.Token) {
	t.queueServed(t.queues.subscribe(name, pos, token), true)
}

func (t *turn) queueArrive(name string, pos int, data string) {
	t.queueServed(t.queues.arrive(name, pos, data), true)
}

// queueServed wakes the tasks whose dequeue now has a message.
func (t *turn) queueServed(q *queue, due bool) {
	for i := q.closed; i < len(q.subs); i++ {
		s := &q.subs[i]
		if s.cancelled || t.futures[s.token].state != futurePending {
			continue
		}
		if q.message(i, t.rules.QueueSlot) < 0 {
			return
		}
		t.due = t.due || due
		t.wake(s.token)
	}
}

// carried returns the queue messages that are carried to the next execution, in history order, and those lost to the
// limit.
func (t *turn) carried() (carried, lost []engine.CarriedEvent) {
	taken := make(map[int]bool)
	waiting := make(map[string]int) // number of dequeues per queue that count as having read a message without having taken it
	for i := range t.queues.all {
		q := &t.queues.all[i]
		for _, m := range q.messages {
			taken[m.pos] = m.taken
		}
		for _, s := range q.subs {
			if !s.taken && !s.cancelled {
				waiting[q.name]++
			}
		}
	}
	var unread []engine.CarriedEvent
	started, _ := t.at(0).Data.(eventdata.OrchestrationStarted)
	arrivals, carriedOn := 0, 0
	for pos := range t.sched {
		d, ok := t.at(pos).Data.(eventdata.QueueEventDelivered)
		if !ok {
			continue
		}
		arrivals++
		if taken[pos] {
			continue
		}
		if waiting[d.Name] > 0 && t.rules.PendingDequeueReads {
			waiting[d.Name]--
			continue
		}
		unread = append(unread, engine.CarriedEvent(d))
		if arrivals <= len(started.CarryForwardEvents) && t.rules.CarriesOn {
			carriedOn++
		}
	}
	return t.rules.CarryForward(unread, max(t.in.Build.Bounds().CarriedEvents, carriedOn))
}

// carryOldest carries the oldest messages, up to limit.
func carryOldest(unread []engine.CarriedEvent, limit int) (carried, lost []engine.CarriedEvent) {
	n := min(len(unread), limit)
	return unread[:n:n], unread[n:]
}

// openDequeues returns, in ascending order, the positions of the dequeues that have no message and are not cancelled.
func (t *turn) openDequeues() []int {
	messages, subs := map[string]int{}, map[string]int{}
	cancelled := map[int]bool{}
	for pos := range t.sched {
		switch e := t.at(pos); d := e.Data.(type) {
		case eventdata.QueueEventDelivered:
			messages[d.Name]++
		case eventdata.QueueSubscriptionCancelled:
			cancelled[t.find(e.SourceEventID)] = true
		}
	}
	var out []int
	for pos := range t.sched {
		if d, ok := t.at(pos).Data.(eventdata.QueueSubscribed); ok && !cancelled[pos] {
			if subs[d.Name]++; subs[d.Name] > messages[d.Name] {
				out = append(out, pos)
			}
		}
	}
	return out
}
