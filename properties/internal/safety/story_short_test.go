package safety

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/observe"
)

// tellShort replaces a line that stands for several by these, and reports whether the line is one of them:
//
//	order order-1                     order-1 has begun its first execution, pinned to 1.5.0, with one event
//	takes A o1 m1,m2 [events=N] [filter=any]
//	                                  A fetches these messages, and their instance, under the token o1 for 5 s
//	takes-work A w1 m1 [session=ID]   A fetches this activity under the token w1 for 5 s
//	option A lock=1000 buffer=20      A has these options, in milliseconds but for sessions
func (s *story) tellShort(f []string) bool {
	words, value := options(f)
	var lines []string
	say := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	untilMs, turn := s.w.Now-storyStartMs+5000, ""
	if value["turn"] != "" {
		turn = " turn=yes"
	}
	switch f[0] {
	case "order":
		say("create %s Order@1.0.0 1", words[1])
		say("execution %s/1", words[1])
		say("pin %s/1 1.5.0", words[1])
		say("append %s/1 1:OrchestrationStarted", words[1])
	case "takes":
		who, token, messages := words[1], words[2], strings.Split(words[3], ",")
		in := s.m.Model.Instance(s.owner[s.messageNo(messages[0])])
		say("%s: fetch %s", who, value["filter"])
		say("lock %s %s %d", in.Name, token, untilMs)
		most := uint32(0)
		for _, m := range messages {
			had := s.m.Model.Row(s.messageNo(m)).Count
			most = max(most, had+1)
			say("mark %s %s", m, token)
			say("count %s %d->%d", m, had, had+1)
		}
		events := value["events"]
		if ex := in.Execution(in.CurrentID); ex != nil && events == "" {
			events = strconv.Itoa(len(ex.Events))
		}
		say("end ok %s %s %s count=%d events=%s%s", in.Name, token, words[3], most, events, turn)
	case "takes-work":
		who, token, m := words[1], words[2], words[3]
		had := s.m.Model.Row(s.messageNo(m)).Count
		say("%s: fetch-work session=%s", who, value["session"])
		say("lock %s %s %d", m, token, untilMs)
		say("count %s %d->%d", m, had, had+1)
		say("end ok %s %s %s count=%d", s.m.Model.Name(s.owner[s.messageNo(m)]), token, m, had+1)
	case "option":
		for name, text := range value {
			s.option(words[1], name, s.number(text))
		}
	default:
		return false
	}
	for _, line := range lines {
		s.tell(strings.Fields(line))
	}
	return true
}

// option sets one of a node's options.
func (s *story) option(name, option string, value int64) {
	o, ms := &s.w.Node(s.caller(name).Node).Options, time.Duration(value)*time.Millisecond
	switch option {
	case "sessions":
		o.MaxSessionsPerRuntime = int(value)
	case "lock":
		o.OrchestratorLockTimeout = ms
	case "buffer":
		o.OrchestratorLockRenewalBuffer = ms
	case "work-lock":
		o.WorkerLockTimeout = ms
	case "work-buffer":
		o.WorkerLockRenewalBuffer = ms
	case "session-lock":
		o.SessionLockTimeout = ms
	case "session-buffer":
		o.SessionLockRenewalBuffer = ms
	case "clock":
		s.w.Node(s.caller(name).Node).Clock.Offset = ms
	case "deadline":
		o.CallDeadline = ms
	default:
		s.fail("option %q", option)
	}
}

// delivery fills in what a fetch delivers: the history of the instance's current execution, and the messages.
func (s *story) delivery(item *engine.OrchestrationItem, no observe.InstanceNo, messages []observe.MessageNo) {
	in := s.m.Model.Instance(no)
	*item = engine.OrchestrationItem{Instance: in.Name, OrchestrationName: "Order", Version: "1.0.0", ExecutionID: max(in.CurrentID, 1), HistoryError: item.HistoryError}
	if ex := in.Execution(item.ExecutionID); ex != nil {
		for i := range ex.Events {
			for _, b := range s.w.AllBuilds {
				if e, err := b.Codec.DecodeEvent(ex.Events[i].Bytes); err == nil {
					item.History = append(item.History, e)
					break
				}
			}
		}
	}
	for _, m := range messages {
		item.Messages = append(item.Messages, s.m.Model.Row(m).Item)
	}
}

// tagFilter parses "any", "none", "default", "and:TAG" or TAG; without a text, it is the default.
func tagFilter(text string) engine.TagFilter {
	tag, and := strings.CutPrefix(text, "and:")
	switch {
	case text == "any":
		return engine.TagFilter{Mode: engine.TagAny}
	case text == "none":
		return engine.TagFilter{Mode: engine.TagNone}
	case text == "" || text == "default":
		return engine.TagFilter{}
	case and:
		return engine.TagFilter{Mode: engine.TagDefaultAnd, Tags: []string{tag}}
	}
	return engine.TagFilter{Mode: engine.TagTags, Tags: []string{tag}}
}

// storyBuilds returns a story's builds, which are those that ship unless a line says otherwise:
//
//	plan contract 0.1.32     they have the settings of that release's contract
//	plan released 1.5.0      that build is a released runtime
//	plan counting 1.5.0      that build counts the attempts of input that waits for its start
//	plan carries 1.5.0 2     that build carries over at most 2 queue messages
//	plan like 1.6.0 3.0.0    a second build of the first version reads what the other one reads
func storyBuilds(t testing.TB, text string) []*engine.Build {
	t.Helper()
	builds := engine.ShippedBuilds()
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) < 3 || f[0] != "plan" {
			continue
		}
		for i, b := range builds {
			switch {
			case f[1] == "counting" && b.Name() == f[2]:
				counting := *b
				counting.CountsWaiting = true
				builds[i] = &counting
			case f[1] == "carries" && b.Name() == f[2]:
				carries := *b
				if _, err := fmt.Sscan(f[3], &carries.Limits.CarriedEvents); err != nil {
					t.Fatal(err)
				}
				builds[i] = &carries
			case f[1] == "like" && b.Name() == f[3]:
				like := *b
				like.Version = engine.MustParseVersion(f[2])
				builds = append(builds, &like)
			case f[1] == "contract":
				c, err := engine.ContractOf(f[2])
				if err != nil {
					t.Fatal(err)
				}
				builds[i] = c.Build(b)
			case f[1] == "released" && b.Name() == f[2]:
				released := *b
				released.Release = "duroxide-" + f[2]
				builds[i] = &released
			}
		}
	}
	return builds
}
