"use strict";
(async function () {
  const $ = id => document.getElementById(id);
  const bytes = Uint8Array.from(atob($("data").textContent.trim().replaceAll("-", "+").replaceAll("_", "/")), c => c.charCodeAt(0));
  const run = await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
  for (const k of ["builds", "nodes", "marks", "instances", "story"]) run[k] ||= [];
  for (const n of run.nodes) n.spans ||= [];
  for (const i of run.instances) { i.bars ||= []; i.history ||= []; }
  const at = $("run").dataset.at;
  const GUTTER = 190, ROW = 20;
  let busy = 0; // when the last thing happened: a run may end long after it
  for (const i of run.instances) { for (const b of i.bars) busy = Math.max(busy, b.to); for (const e of i.history) busy = Math.max(busy, e.ms); }
  for (const m of run.marks) if (m.kind !== "phase") busy = Math.max(busy, m.ms);
  const end = Math.max(busy * 1.03, 100);
  // The first view: nearly all that happens, and every step. A timer of an hour does not squeeze a minute's upgrade.
  const times = run.instances.flatMap(i => i.bars.map(b => b.from)).sort((a, b) => a - b);
  const most = Math.max(times[Math.floor(times.length * 0.97)] || 0, ...run.marks.filter(m => m.kind === "step" || m.kind === "violation" && m.text !== "outcome").map(m => m.ms)) * 1.1; // an outcome is judged at the end
  const focus = most > 0 && most < end / 2 ? most : end;
  let from = 0, to = focus, selected = -1, shown = [];

  const el = (tag, cls, text, title) => {
    const e = document.createElement(tag);
    if (cls) e.className = cls;
    if (text !== undefined) e.textContent = text;
    if (title) e.title = title;
    return e;
  };
  const time = ms => { // as the reports write it: 1h0m28.394s, 40.5s, 12ms
    ms = Math.round(ms);
    if (ms > 0 && ms < 1000) return ms + "ms";
    const h = Math.floor(ms / 3600000), m = Math.floor(ms / 60000) % 60;
    return (h ? h + "h" : "") + (h || m ? m + "m" : "") + parseFloat((ms % 60000 / 1000).toFixed(3)) + "s";
  };
  const hues = [212, 145, 28, 280, 340, 185, 60, 100];
  const colour = b => b < 0 ? "var(--quiet)" : `hsl(${hues[b % hues.length]} 62% ${b < hues.length ? 42 : 60}%)`;
  const width = () => Math.max($("chart").clientWidth - GUTTER, 50);
  const x = ms => (ms - from) / (to - from) * width();
  const visible = (a, b) => b >= from && a <= to;
  const violated = new Set(run.marks.filter(m => m.kind === "violation").map(m => m.instance));
  const trouble = i => violated.has(i.id) || !i.expected || i.end === "poisoned" || i.bars.some(b => b.kind === "poison" || b.kind === "wait");
  const place = (e, a, b) => { e.style.left = x(a) + "px"; if (b !== undefined) e.style.width = Math.max(x(b) - x(a), 1) + "px"; return e; };

  $("runtitle").textContent = `Seed ${run.seed}: ${run.instances.length} instances on ${run.nodes.length} nodes, ${time(run.end)} of virtual time` + (focus < end ? `; the first ${time(Math.round(focus))} are shown, 0 shows all` : "");
  for (const m of run.marks.filter(m => m.kind === "violation").slice(0, 20)) {
    const d = el("details");
    d.append(el("summary", "bad", `${m.text}${m.instance ? " about " + m.instance : ""} at ${time(m.ms)}, step ${m.step}`), el("pre", "", m.evidence));
    if (m.instance) { const b = el("button", "", "show " + m.instance); b.onclick = () => open(run.instances.findIndex(i => i.id === m.instance), m.ms); d.append(b); }
    d.open = $("evidence").childElementCount < 1;
    $("evidence").append(d);
  }
  const legend = (swatch, text) => { const s = el("span"); const i = el("i"); i.style.background = swatch; s.append(i, text); $("legend").append(s); };
  run.builds.forEach((b, i) => legend(colour(i), "build " + b));
  legend("repeating-linear-gradient(135deg, var(--wait) 0 4px, transparent 4px 7px)", "waits for a build");
  $("legend").append(el("span", "", "tall tick: turn"), el("span", "", "flat bar: activity"), el("span", "", "◀ given back"));
  const skull = el("span", "", "✖ poison"); skull.style.color = "var(--bad)"; $("legend").append(skull);
  for (const n of run.nodes) $("f-node").append(el("option", "", n.name));

  // marks: labels in rows, so that they do not cover each other, and lines through the chart
  function drawMarks() {
    $("marks").replaceChildren();
    document.querySelectorAll("#chart > .vline").forEach(e => e.remove());
    const ends = [0, 0, 0, 0];
    const order = { violation: 0, step: 1, part: 2, phase: 3 };
    const marks = run.marks.filter(m => m.kind in order && m.ms >= from && m.ms <= to).sort((a, b) => a.ms - b.ms || order[a.kind] - order[b.kind]);
    let seen = "";
    for (const m of marks) {
      const left = GUTTER + x(m.ms), key = m.kind + m.text + Math.round(left);
      if (key === seen) continue;
      seen = key;
      const v = el("div", "vline " + m.kind); v.style.left = left + "px"; $("chart").append(v);
      const row = ends.findIndex(e => e <= left);
      if (row < 0) continue;
      const l = el("div", "label " + m.kind, m.text, `${time(m.ms)}, step ${m.step}: ${m.text}`);
      if (left > GUTTER + width() - 120) { l.style.left = "auto"; l.style.right = GUTTER + width() - left + "px"; l.classList.add("before"); } else l.style.left = left + "px";
      l.style.top = row * 15 + 1 + "px";
      $("marks").append(l);
      ends[row] = left + Math.min(m.text.length * 6.3 + 12, 216);
    }
    $("marks").style.height = (ends.findLastIndex(e => e > 0) + 1) * 15 + 4 + "px";
    $("axis").replaceChildren();
    const steps = [10, 50, 100, 500, 1000, 2000, 5000, 10000, 30000, 60000, 300000, 600000, 3600000, 86400000];
    const step = steps.find(s => (to - from) / s < 12) || 864000000;
    for (let t = Math.ceil(from / step) * step; t <= to; t += step) { const s = el("span", "", time(t)); s.style.left = GUTTER + x(t) + "px"; $("axis").append(s); }
  }

  function drawLanes() {
    $("lanes").replaceChildren();
    const only = $("f-node").value;
    run.nodes.forEach((n, k) => {
      if (only && n.name !== only) return;
      const lane = el("div", "lane"), track = el("div", "track");
      lane.dataset.node = n.name;
      for (const s of n.spans) if (visible(s.from, s.to)) {
        const name = run.builds[s.build] || "";
        const e = place(el("div", "span " + s.state, s.state === "up" ? name : s.state, `${n.name} ${name}, ${s.state} from ${time(s.from)} to ${time(s.to)}, step ${s.step}`), s.from, s.to);
        e.style.backgroundColor = colour(s.build);
        if (x(s.to) - x(s.from) < e.textContent.length * 7 + 10) e.textContent = ""; // half a version is another version
        track.append(e);
      }
      let last = -9;
      for (const m of run.marks) if (m.node === k && (m.kind === "fault" || m.kind === "crash") && visible(m.ms, m.ms)) {
        if (m.kind === "fault" && x(m.ms) - last < 1) continue;
        last = x(m.ms);
        track.append(place(el("div", m.kind + "mark", "", `${m.text} at ${time(m.ms)}, step ${m.step}`), m.ms));
      }
      lane.append(el("div", "name", n.name), track);
      $("lanes").append(lane);
    });
  }

  function choose() {
    const text = $("f-instance").value.trim(), kind = $("f-kind").value, sort = $("f-sort").value;
    const node = run.nodes.findIndex(n => n.name === $("f-node").value);
    shown = run.instances.map((i, k) => k).filter(k => {
      const i = run.instances[k];
      if (text && !i.id.includes(text) && !i.orchestration.includes(text)) return false;
      if (node >= 0 && !i.bars.some(b => b.node === node)) return false;
      if (kind === "trouble") return trouble(i);
      return !kind || i.bars.some(b => b.kind === kind);
    });
    const worth = i => (violated.has(i.id) ? 8 : 0) + (i.expected ? 0 : 4) + (i.end === "poisoned" ? 2 : 0) + (trouble(i) ? 1 : 0);
    const by = { name: (a, b) => a.id.localeCompare(b.id, "en", { numeric: true }), start: (a, b) => a.from - b.from, trouble: (a, b) => worth(b) - worth(a) || a.from - b.from };
    shown.sort((a, b) => by[sort](run.instances[a], run.instances[b]) || a - b);
    $("count").textContent = `${shown.length} of ${run.instances.length} instances, ${shown.filter(k => trouble(run.instances[k])).length} with trouble`;
    $("rows").style.height = shown.length * ROW + "px";
    $("list").style.height = Math.min(Math.max(shown.length, 3) * ROW + 2, 460) + "px";
  }

  function drawRows() {
    const first = Math.max(Math.floor($("list").scrollTop / ROW) - 3, 0), count = Math.ceil($("list").clientHeight / ROW) + 6;
    const rows = document.createDocumentFragment();
    for (let r = first; r < Math.min(first + count, shown.length); r++) rows.append(drawRow(shown[r], r));
    $("rows").replaceChildren(rows);
  }

  function drawRow(k, r) {
    const i = run.instances[k], bad = !i.expected || i.end === "poisoned";
    const row = el("div", "row" + (bad ? " trouble" : "") + (k === selected ? " at" : ""), undefined, `${i.id} (${i.orchestration}): ${i.end}${i.cause ? ", " + i.cause : ""}`);
    row.style.top = r * ROW + "px"; row.dataset.instance = i.id;
    const name = el("div", "name"), track = el("div", "track");
    name.append(el("span", "end", i.end), i.id);
    if (visible(i.from, i.to)) track.append(place(el("div", "life"), i.from, i.to));
    let last = -9;
    for (const b of i.bars) if (visible(b.from, b.to)) {
      if (b.kind === "turn" && x(b.from) - last < 1) continue;
      const who = b.node >= 0 ? `${run.nodes[b.node].name} ${run.builds[b.build] || ""}: ` : "";
      const e = el("div", b.kind, b.kind === "poison" ? "✖" : undefined, `${time(b.from)} ${who}${b.kind} ${b.text || ""}, step ${b.step}`);
      if (b.kind === "activity" || b.kind === "wait") place(e, b.from, b.to); else place(e, b.from);
      if (b.kind === "turn") last = x(b.from);
      if (b.kind === "turn" || b.kind === "activity") e.style.background = colour(b.build);
      track.append(e);
    }
    if (i.end !== "running" && i.to >= from && i.to <= to) track.append(place(el("div", "ended" + (i.end === "completed" ? "" : bad ? " failed" : " other"), i.end === "completed" ? "✓" : i.end === "poisoned" ? "" : "■"), i.to));
    row.append(name, track);
    row.onclick = () => open(k);
    return row;
  }

  function open(k, ms) {
    if (k < 0) return;
    selected = k;
    const i = run.instances[k], d = $("details");
    d.replaceChildren();
    const close = el("button", "close", "close (Esc)");
    close.onclick = shut;
    d.append(close, el("h3", "", i.id));
    const facts = el("dl");
    const fact = (t, v) => { if (v) facts.append(el("dt", "", t), el("dd", "", v)); };
    fact("orchestration", i.orchestration); fact("pin", i.pin); fact("end", i.end + (i.cause ? ": " + i.cause : "")); fact("with help", i.owes); fact("from, to", time(i.from) + " … " + time(i.to));
    d.append(facts);
    const table = (title, head, rows) => {
      if (!rows.length) return;
      d.append(el("h3", "", title));
      const t = el("table"), h = el("tr");
      for (const c of head) h.append(el("th", "", c));
      t.append(h);
      for (const [when, step, cells] of rows.slice(0, 2000)) {
        const tr = el("tr", "jump", undefined, at ? at + " " + step : "step " + step);
        tr.append(el("td", "", time(when)), el("td", "", step));
        for (const c of cells) tr.append(el("td", "", c));
        tr.onclick = () => { const w = (to - from) / 2; from = Math.max(when - w / 2, 0); to = Math.min(from + w, end); draw(); };
        t.append(tr);
      }
      d.append(t);
    };
    table("History", ["time", "step", "event", "by"], i.history.map(e => [e.ms, e.step, [`${e.x}.${e.id} ${e.kind}`, e.node >= 0 ? run.nodes[e.node].name : ""]]));
    table("Story", ["time", "step", "who", "what"], run.story.filter(l => (l.about || []).includes(k)).map(l => [l.ms, l.step, [l.who, l.text]]));
    if (at) d.append(el("p", "", "A step, in full:"), (() => { const c = el("code", "", at + " STEP"); const p = el("p"); p.append(c); return p; })());
    d.hidden = false;
    if (ms !== undefined && (ms < from || ms > to)) { from = 0; to = end; }
    const r = shown.indexOf(k);
    if (r >= 0 && (r * ROW < $("list").scrollTop || r * ROW > $("list").scrollTop + $("list").clientHeight - ROW)) $("list").scrollTop = r * ROW - 100;
    draw();
  }
  function shut() { $("details").hidden = true; $("chart").focus(); }

  function zoom(factor, centre) {
    const c = centre === undefined ? (from + to) / 2 : centre, w = Math.min(Math.max((to - from) * factor, 5), end);
    from = Math.max(Math.min(c - (c - from) * (w / (to - from)), end - w), 0); to = from + w;
    draw();
  }
  function pan(part) { const w = to - from; from = Math.max(Math.min(from + w * part, end - w), 0); to = from + w; draw(); }
  function draw() { drawMarks(); drawLanes(); drawRows(); }

  $("list").onscroll = drawRows;
  for (const id of ["f-instance", "f-node", "f-kind", "f-sort"]) $(id).oninput = () => { choose(); $("list").scrollTop = 0; draw(); };
  $("filter").onsubmit = e => e.preventDefault();
  $("zoom-in").onclick = () => zoom(0.5); $("zoom-out").onclick = () => zoom(2); $("zoom-all").onclick = () => { from = 0; to = end; draw(); };
  $("chart").addEventListener("wheel", e => {
    if (!e.ctrlKey && !e.shiftKey) return;
    e.preventDefault();
    if (e.shiftKey) return pan(Math.sign(e.deltaY || e.deltaX) * 0.15);
    zoom(e.deltaY > 0 ? 1.3 : 0.77, from + (e.clientX - $("chart").getBoundingClientRect().left - GUTTER) / width() * (to - from));
  }, { passive: false });
  document.addEventListener("keydown", e => {
    if (e.key === "Escape") { if (!$("details").hidden) shut(); else if (document.activeElement) document.activeElement.blur(); return; }
    if (/INPUT|SELECT|TEXTAREA/.test(document.activeElement.tagName) || e.ctrlKey || e.metaKey || e.altKey) return;
    const r = shown.indexOf(selected);
    const go = n => { if (shown.length) { selected = shown[Math.min(Math.max(n, 0), shown.length - 1)]; $("details").hidden ? (scrollTo(n), draw()) : open(selected); } };
    const scrollTo = n => { if (n * ROW < $("list").scrollTop || (n + 2) * ROW > $("list").scrollTop + $("list").clientHeight) $("list").scrollTop = Math.max(n * ROW - 100, 0); };
    const keys = { "+": () => zoom(0.5), "=": () => zoom(0.5), "-": () => zoom(2), "0": () => $("zoom-all").click(), "ArrowLeft": () => pan(-0.2), "ArrowRight": () => pan(0.2),
      "ArrowDown": () => go(r + 1), "ArrowUp": () => go(Math.max(r - 1, 0)), "j": () => go(r + 1), "k": () => go(Math.max(r - 1, 0)), "Enter": () => r >= 0 && open(selected), "/": () => $("f-instance").focus(), ",": () => move(cursor - 1), ".": () => move(cursor + 1) };
    if (keys[e.key]) { e.preventDefault(); keys[e.key](); }
  });
  // The cursor: what nodes, slots and instances do at a moment. A track has triples of time, step and state.
  const tracks = [...run.nodes.flatMap(n => [n, ...(n.slots || [])]), ...run.instances].map(s => s.track || []);
  const moments = [...new Map(tracks.flatMap(t => { const all = []; for (let i = 0; i < t.length; i += 3) all.push([t[i], t[i + 1]]); return all; }).map(m => [m.join(), m])).values()].sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  let cursor = 0;
  function stateAt(track, [ms, step]) {
    let low = 0, high = (track || []).length / 3;
    while (low < high) { const mid = low + high >> 1; if (track[mid * 3] < ms || track[mid * 3] === ms && track[mid * 3 + 1] <= step) low = mid + 1; else high = mid; }
    return low ? run.states[track[low * 3 - 1]] || [] : [];
  }
  function move(to) {
    cursor = Math.min(Math.max(to, 0), moments.length - 1);
    $("moment").value = cursor;
    const at = moments[cursor], table = el("table"), limit = 60;
    const row = (name, text, more, cls) => { const tr = el("tr", cls); tr.append(el("td", "when", name), el("td", "", text), el("td", "", more)); table.append(tr); };
    for (const n of run.nodes) row(n.name, stateAt(n.track, at).join(), (n.slots || []).map(s => [s.name, stateAt(s.track, at)[0]]).filter(s => s[1]).map(s => s.join(" ")).join("; "), "node");
    const goesOn = k => !["ended", "not-started", undefined].includes(stateAt(run.instances[k].track, at)[0]);
    const live = shown.filter(k => k === selected || goesOn(k));
    for (const k of live.slice(0, limit)) {
      const [rule, text, ...details] = stateAt(run.instances[k].track, at);
      row(run.instances[k].id, rule ? rule + ": " + text : "", details.map((d, i) => i % 2 ? d + "; " : d + " ").join(""), k === selected ? "at" : "");
    }
    $("now").textContent = `${time(at[0])}, step ${at[1]}: ${live.filter(goesOn).length} instances are under way` + (live.length > limit ? `, ${limit} are shown: filter them` : "");
    $("state").replaceChildren(table);
  }
  $("moment").max = moments.length - 1;
  $("moment").oninput = () => move(+$("moment").value);
  $("back").onclick = () => move(cursor - 1); $("forth").onclick = () => move(cursor + 1);
  const left = [];
  if (run.statesTo) left.push("states after " + time(run.statesTo));
  if (run.leftOut) left.push(`the events of ${run.leftOut} of ${run.instances.length} instances`);
  $("leftout").textContent = left.length ? "Left out, for the size of the page: " + left.join(" and ") + "." : "";
  addEventListener("resize", draw);
  choose();
  draw();
  $("cursor").hidden = !moments.length;
  if (moments.length) move(0);
  document.body.dataset.ready = "yes";
})();
