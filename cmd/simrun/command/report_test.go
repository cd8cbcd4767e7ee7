package command

import (
	"bufio"
	"bytes"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/durosim/durosim/internal/commandline"
	"github.com/durosim/durosim/sim"
	"github.com/durosim/durosim/sim/campaign"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/scenario"
)

func printed(r *report) string {
	var out bytes.Buffer
	a := &app{program: &Program{}, stdout: bufio.NewWriter(&out)}
	a.printCampaign(r)
	_ = a.stdout.Flush()
	return out.String()
}

func count(property string, class cluster.Class, seed uint64) campaign.PropertyCount {
	v := campaign.Violation{Seed: seed, Violation: cluster.Violation{Property: property, Class: class, Message: "seen"}}
	return campaign.PropertyCount{Property: property, Class: class, FirstSeed: seed, Seeds: 1, Violations: 1, First: v}
}

func TestLastLineShowsWhatTheStatusIsAbout(t *testing.T) {
	subject := &subject{scenario: &scenario.Scenario{Name: "x"}, arg: "my plan.txt", flags: planFlags{Faults: "full"}, program: &Program{}}
	for _, c := range []struct {
		name string
		sum  campaign.Summary
		want string
	}{
		{"the first of the class that decides", campaign.Summary{Properties: []campaign.PropertyCount{
			count("L01", cluster.ClassLiveness, 2), count("S04", cluster.ClassSafety, 5), count("S05", cluster.ClassSafety, 9),
		}}, "--seed 5"},
		{"a drift before a violation", campaign.Summary{
			Properties: []campaign.PropertyCount{count("S04", cluster.ClassSafety, 2)},
			Drifts:     []campaign.Drift{{Seed: 7, Second: sim.Digest{1}}},
		}, "--seed 7"},
		{"a crash before all", campaign.Summary{
			Properties: []campaign.PropertyCount{count("S04", cluster.ClassSafety, 2)},
			Internal:   []campaign.InternalError{{Seed: 8, Text: "boom", Stack: "main.go:1"}},
		}, "--seed 8"},
	} {
		out := strings.TrimSpace(printed(newReport(subject, &c.sum, seedRange{1, 10})))
		last := out[strings.LastIndex(out, "\n")+1:]
		if want := commandline.Quote(os.Args[0]) + " replay " + c.want + " --faults full 'my plan.txt'"; last != want {
			t.Errorf("%s: the last line is\n\t%s\nwant\n\t%s", c.name, last, want)
		}
	}
}

func TestManyPropertiesAreCutShort(t *testing.T) {
	sum := campaign.Summary{Seeds: 10, Total: 10}
	for _, id := range []string{"S01", "S02", "S03", "S04", "S05", "S06", "S07", "S08", "S09", "S10"} {
		sum.Properties = append(sum.Properties, count(id, cluster.ClassSafety, 1))
	}
	r := newReport(&subject{scenario: &scenario.Scenario{Name: "x"}, arg: "x", program: &Program{}}, &sum, seedRange{1, 10})
	r.Wall = seconds(time.Second)
	out := printed(r)
	if got := strings.Count(out, "VIOLATED"); got != shown || !strings.Contains(out, "... and 2 properties more") {
		t.Errorf("%d failures are told in full, want %d and the number of the others:\n%s", got, shown, out)
	}
}

func TestMentions(t *testing.T) {
	for _, c := range []struct {
		text, instance string
		want           bool
	}{
		{"fetches Chain-1 execution 1", "Chain-1", true},
		{"fetches Chain-12 execution 1", "Chain-1", false},
		{"fetches XChain-1", "Chain-1", false},
		{"Chain-12, Chain-1: late", "Chain-1", true},
		{"Chain-1", "Chain-1", true}, {"ünChain-1", "Chain-1", false}, {"child of «Chain-1»", "Chain-1", true},
		{"", "Chain-1", false},
	} {
		if got := mentions(c.text, c.instance); got != c.want {
			t.Errorf("%q mentions %q: %v, want %v", c.text, c.instance, got, c.want)
		}
	}
}

func TestNumbers(t *testing.T) {
	for got, want := range map[string]string{
		grouped(0): "0", grouped(999): "999", grouped(1000): "1,000", grouped(1234567): "1,234,567",
		perSecond(5, time.Second): "5.0", perSecond(5000, 2*time.Second): "2,500", perSecond(5, 0): "-",
	} {
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestPanicIsNeverExit2(t *testing.T) {
	var stderr bytes.Buffer
	if status := simrun.Run([]string{"list", "bugs"}, panicWriter{}, &stderr); status != exitInternal || !strings.Contains(stderr.String(), "internal error: no room") {
		t.Errorf("status %d, %q; want 70 and the panic's text", status, stderr.String())
	}
}

// panicWriter simulates a panic somewhere below Run.
type panicWriter struct{}

func (panicWriter) Write([]byte) (int, error) { panic("no room") }
