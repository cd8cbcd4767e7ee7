package timeline_test

import (
	"encoding/json"
	"html"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/durosim/durosim/internal/sample"
	"github.com/durosim/durosim/sim/timeline"
)

// acts lists what a user does, as the body of a function that runs in the page, and what that function must return.
// Each act continues from the state in which the previous ones left the page.
var acts = []struct{ name, does, want string }{
	{"the address selects instance and moment", `return $('details').querySelector('h3').textContent + ' ' + $('now').textContent`, "order-3 0s, step 0: 0 instances are under way"},
	{"click an instance", `document.querySelector('[data-instance=order-2]').click(); return $('details').hidden + ' ' + $('details').querySelector('h3').textContent`, "false order-2"},
	{"its history is there", `return $('details').textContent.includes('OrchestrationStarted') && $('details').textContent.includes('commits a turn of order-2')`, "true"},
	{"Escape closes", `key('Escape'); return $('details').hidden`, "true"},
	{"j, k and Enter", `key('j'); key('j'); key('k'); key('Enter'); return document.querySelector('.row.at').dataset.instance + ' ' + $('details').hidden`, "order-1 false"},
	{"close by its button", `$('details').querySelector('button').click(); return $('details').hidden`, "true"},
	{"plus zooms in", `before = axis(); key('+'); return axis() !== before`, "true"},
	{"0 shows all again", `key('0'); return axis() === before`, "true"},
	{"buttons do, too", `$('zoom-in').click(); const z = axis() !== before; $('zoom-all').click(); return z && axis() === before`, "true"},
	{"slash goes to the filter", `key('/'); return document.activeElement.id`, "f-instance"},
	{"keys in a field are text", `$('f-instance').dispatchEvent(new KeyboardEvent('keydown', { key: 'j', bubbles: true })); return $('details').hidden`, "true"},
	{"filter by instance", `set('f-instance', 'order-3'); return rows()`, "order-3"},
	{"filter by node", `set('f-instance', ''); set('f-node', 'B'); return rows() + ' ' + lanes()`, "order-3 B"},
	{"filter by kind", `set('f-node', ''); set('f-kind', 'poison'); return rows()`, "order-2"},
	{"trouble only", `set('f-kind', 'trouble'); return rows()`, "order-2"},
	{"nothing is left", `set('f-instance', 'nobody'); return rows() + '|' + $('count').textContent`, "|0 of 3 instances, 0 with trouble"},
	{"sort by name", `set('f-instance', ''); set('f-kind', ''); set('f-sort', 'name'); return rows()`, "order-1 order-2 order-3"},
	{"sort by trouble", `set('f-sort', 'trouble'); return rows()`, "order-2 order-1 order-3"},
	{"the violation leads to its instance", `$('evidence').querySelector('button').click(); return $('details').querySelector('h3').textContent + ' ' + axis().split('s')[0]`, "order-2 12"},
	{"violations are grouped", `return $('evidence').querySelector('summary').textContent + '|' + $('evidence').textContent.includes('order-2 × 2')`, "L05 about order-2 at 12s, step 60, the first of 2|true"},
	{"a line of the story moves the chart", `key('0'); const all = axis(); $('details').querySelector('tr.jump').click(); return axis() !== all`, "true"},
	{"the cursor steps on", `document.activeElement.blur(); key('.'); return $('now').textContent + '|' + $('state').textContent`, "1s, step 3: 1 instances are under way|A1.5.0Border-2order-1ready: it has a message"},
	{"and back", `key(','); return $('now').textContent + '|' + $('state').textContent`, "0s, step 0: 0 instances are under way|AdownBorder-2"},
	{"the cursor is dragged", `key('Escape'); key('0'); const box = $('list').getBoundingClientRect(); drag(box.right - 100, box.right - 5); return $('now').textContent + ' ' + $('line').hidden + ' ' + $('details').hidden`, "1s, step 3: 1 instances are under way false true"},
	{"the address keeps both", `key('j'); key('Enter'); await new Promise(r => setTimeout(r, 400)); return location.hash`, "#time=1000&step=3&instance=order-1"},
	{"idle time is cut", `return document.querySelector('.cut').dataset.tip + ' ' + $('legend').textContent.includes('idle time')`, "nothing happens from 1s to 12s true"},
	{"a tip by keyboard", `document.querySelector('.span').focus(); return $('tip').textContent`, "A 1.5.0, up from 0s to 20s, step 0"},
	{"and by touch", `document.querySelector('.label').dispatchEvent(new PointerEvent('click', { pointerType: 'touch', bubbles: true })); return $('tip').textContent`, "12s, step 60: L05 about order-2"},
	{"a command is copied", `key('Escape'); const b = document.querySelector('#details .copy'); b.click(); return (b.textContent !== 'copy') + ' ' + getSelection()`, "true simrun replay --step 3"},
	{"a cell opens its run", `document.querySelector('#map button').click(); const tip = $('tip').textContent; [...$('tip').querySelectorAll('button')].at(-1).click(); return tip + ' ' + location.hash`, "3 wait, such as order-1simrun plancopyopen this run #run=1&instance=order-1"},
	{"and it is there", `return $('f-run').selectedOptions[0].textContent + ' ' + $('details').querySelector('h3').textContent`, "stop-0, seed 1 order-1"},
	{"dark", `return matchMedia('(prefers-color-scheme: dark)').matches + ' ' + dim(document.body)`, "true true"},
}

const helpers = `
const $ = id => document.getElementById(id);
const key = k => document.body.dispatchEvent(new KeyboardEvent('keydown', { key: k, bubbles: true }));
const set = (id, v) => { $(id).value = v; $(id).dispatchEvent(new Event('input', { bubbles: true })); };
const rows = () => [...document.querySelectorAll('.row')].map(r => r.dataset.instance).join(' ');
const lanes = () => [...document.querySelectorAll('.lane')].map(r => r.dataset.node).join(' ');
const axis = () => $('axis').textContent;
const dim = e => getComputedStyle(e).backgroundColor.match(/\d+/g).slice(0, 3).every(c => c < 80);
const drag = (from, to) => { const at = (type, x) => $('list').dispatchEvent(new PointerEvent(type, { clientX: x, bubbles: true })); at('pointerdown', from); at('pointermove', to); at('pointerup', to); };
let before;
`

// TestUse checks that clicks, keys and filters work as the page promises, including in dark mode.
func TestUse(t *testing.T) {
	browser := os.Getenv("DUROSIM_BROWSER")
	if browser == "" {
		t.Skip("DUROSIM_BROWSER names no browser: .ci/run all sets it")
	}
	// A cell reloads the page, whose name then keeps what was seen.
	script := helpers + "const seen = JSON.parse(window.name || '{}'); (async () => { while (document.body.dataset.ready !== 'yes') await new Promise(r => setTimeout(r, 10));\n"
	for _, a := range acts {
		script += "if (!('" + a.name + "' in seen)) try { seen['" + a.name + "'] = String(await (async () => { " + a.does + " })()); } catch (e) { seen['" + a.name + "'] = String(e); } window.name = JSON.stringify(seen); if (document.body.dataset.ready !== 'yes' || location.hash.startsWith('#run=1') && !$('f-run').selectedIndex) return;\n"
	}
	script += "document.body.dataset.seen = JSON.stringify(seen); })();"
	file := filepath.Join(t.TempDir(), "page.html")
	text := strings.Replace(written(t, usable()), "</body>", "<script>"+script+"</script></body>", 1)
	sample.OK(t, os.WriteFile(file, []byte(text), 0o600))
	dom := opened(t, browser, file, "#time=0&step=0&instance=order-3", "--blink-settings=preferredColorScheme=0")
	found := regexp.MustCompile(`data-seen="([^"]*)"`).FindStringSubmatch(dom)
	if found == nil {
		t.Fatal("the acts did not end")
	}
	var seen map[string]string
	sample.OK(t, json.Unmarshal([]byte(html.UnescapeString(found[1])), &seen))
	want := map[string]string{}
	for _, a := range acts {
		want[a.name] = a.want
	}
	if d := cmp.Diff(want, seen); d != "" {
		t.Error(d)
	}
}

// usable returns a page with three instances on two nodes. One instance is poisoned.
func usable() timeline.Page {
	instance := func(id string, node int, bars ...timeline.Bar) timeline.Instance {
		turn := timeline.Bar{Kind: "turn", FromMs: 1000, ToMs: 1000, Node: node, Build: node, Step: 3}
		return timeline.Instance{ID: id, Orchestration: "Order", End: "completed", Expected: true, FromMs: 1000, ToMs: 12_000, Bars: append([]timeline.Bar{turn}, bars...),
			History: []timeline.Event{{Ms: 1000, Step: 3, Execution: 1, ID: 1, Kind: "OrchestrationStarted", Node: node}}}
	}
	bad := instance("order-2", 0, timeline.Bar{Kind: "poison", FromMs: 12_000, ToMs: 12_000})
	bad.End, bad.Expected = "poisoned", false
	run := &timeline.Timeline{Scenario: "rolling", Seed: "7", EndMs: 20_000, Builds: []string{"1.5.0", "2.0.0"},
		Nodes:     []timeline.Node{{Name: "A", Spans: []timeline.Span{{ToMs: 20_000, State: timeline.Up}}}, {Name: "B", Spans: []timeline.Span{{ToMs: 20_000, Build: 1, State: timeline.Up}}}},
		Marks:     slices.Repeat([]timeline.Mark{{Ms: 12_000, Step: 60, Kind: "violation", Node: 1, Instance: "order-2", Text: "L05", Evidence: "it was healthy"}}, 2),
		Instances: []timeline.Instance{instance("order-1", 0), bad, instance("order-3", 1)},
		Story:     []timeline.Line{{Ms: 1000, Step: 3, Who: "A 1.5.0", Text: "commits a turn of order-2", About: []int{1}}}}
	run.States = [][]string{nil, {"down"}, {"1.5.0"}, {"not-started", "nobody"}, {"ready", "it has a message"}}
	run.Nodes[0].Track, run.Instances[0].Track = timeline.Track{0, 0, 1, 1000, 3, 2}, timeline.Track{0, 0, 3, 1000, 3, 4}
	back := timeline.Map{Steps: []timeline.MapStep{{Name: "as it is", Stop: []timeline.Cell{{Text: "3", Title: "3 wait, such as order-1", Command: "simrun plan", Run: 1, Instance: "order-1"}}}}}
	return timeline.Page{Title: "usable", Run: run, At: "simrun replay --step", Map: &back, More: []timeline.Run{{Name: "stop-0, seed 1", Timeline: run}}}
}
