"use strict";
(function () {
const $ = id => document.getElementById(id);
const el = (tag, cls, text, tip) => {
  const e = document.createElement(tag);
  if (cls) e.className = cls;
  if (text !== undefined) e.textContent = text;
  if (tip) e.dataset.tip = tip;
  return e;
};
const button = (text, does) => { const b = el("button", "", text); b.type = "button"; b.onclick = does; return b; };

// Commands have a button that copies them, and what has a tip shows it when it is pointed at, touched or focused.
function copyable(root) {
  for (const code of root.querySelectorAll("code.command")) {
    const b = button("copy", () => {
      getSelection().selectAllChildren(code);
      b.textContent = document.execCommand("copy") ? "copied" : "press Ctrl-C";
      setTimeout(() => b.textContent = "copy", 1500);
    });
    b.className = "copy";
    code.after(b);
  }
}
copyable(document);
(function () {
  const tip = $("tip");
  let pinned = false;
  const hide = () => { tip.hidden = true; pinned = false; };
  function show(e, pin) {
    const d = e.dataset, box = e.getBoundingClientRect();
    tip.replaceChildren(el("p", "", d.tip));
    if (d.command) { const p = el("p"); p.append(el("code", "command", d.command)); tip.append(p); }
    if (d.run) tip.append(button("open this run", () => { location.hash = new URLSearchParams({ run: d.run, instance: d.instance }); hide(); $("run").scrollIntoView(); }));
    copyable(tip);
    tip.hidden = false;
    pinned = pin;
    tip.style.left = Math.max(Math.min(box.left, document.documentElement.clientWidth - tip.offsetWidth - 8), 8) + "px";
    tip.style.top = (box.bottom + tip.offsetHeight + 8 < innerHeight ? box.bottom + 4 : Math.max(box.top - tip.offsetHeight - 4, 4)) + "px";
  }
  const about = e => e.target.closest("[data-tip]");
  document.addEventListener("pointerover", e => { if (pinned || e.pointerType === "touch" || tip.contains(e.target)) return; about(e) ? show(about(e)) : hide(); });
  document.addEventListener("focusin", e => { if (about(e) && e.target.matches(":focus-visible")) show(about(e), !!about(e).dataset.command); });
  document.addEventListener("focusout", e => { if (!tip.contains(e.relatedTarget)) hide(); });
  document.addEventListener("click", e => {
    if (tip.contains(e.target)) return;
    const a = about(e);
    a && (a.dataset.command || e.pointerType === "touch" && !a.matches(".row")) ? show(a, true) : hide();
    if (a && a.dataset.command && !e.detail) tip.querySelector("button").focus(); // it was opened by a key
  });
  document.addEventListener("keydown", e => { if (e.key === "Escape" && !tip.hidden) { e.stopImmediatePropagation(); hide(); } });
  addEventListener("scroll", hide, true);
})();

(async function () {
  const runs = [...document.querySelectorAll("script.run")];
  if (!runs.length) return;
  const link = () => new URLSearchParams(location.hash.slice(1));
  const which = Math.min(Math.max(+link().get("run") || 0, 0), runs.length - 1);
  await new Promise(r => setTimeout(r, 20)); // so that the page is there while it unpacks the run
  const bytes = Uint8Array.from(atob(runs[which].textContent.trim().replaceAll("-", "+").replaceAll("_", "/")), c => c.charCodeAt(0));
  const run = await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
  for (const k of ["builds", "nodes", "marks", "instances", "story"]) run[k] ||= [];
  for (const n of run.nodes) n.spans ||= [];
  for (const i of run.instances) { i.bars ||= []; i.history ||= []; }
  const command = runs[which].dataset.at, ROW = 20;
  runs.forEach((r, k) => { const o = el("option", "", r.dataset.name || "the plan as it stands"); o.value = k; $("f-run").append(o); });
  $("f-run").value = which;
  $("f-run").parentElement.hidden = runs.length < 2;

  const time = ms => { // as the reports write it: 1h0m28.394s, 40.5s, 12ms
    ms = Math.round(ms);
    if (ms > 0 && ms < 1000) return ms + "ms";
    const h = Math.floor(ms / 3600000), m = Math.floor(ms / 60000) % 60;
    return (h ? h + "h" : "") + (h || m ? m + "m" : "") + parseFloat((ms % 60000 / 1000).toFixed(3)) + "s";
  };
  const hues = [212, 145, 28, 280, 340, 185, 60, 100];
  const colour = b => b < 0 ? "var(--quiet)" : `hsl(${hues[b % hues.length]} 62% ${b < hues.length ? 42 : 60}%)`;
  const violations = run.marks.filter(m => m.kind === "violation");
  const violated = new Set(violations.map(m => m.instance));
  const trouble = i => violated.has(i.id) || !i.expected || i.end === "poisoned" || i.bars.some(b => b.kind === "poison" || b.kind === "wait");

  // Time on the page: a long gap in which nothing happens is cut to a small part of the rest. A place is a time without
  // what is cut; from and to are the places at the edges of the chart.
  const events = new Set([0]);
  for (const i of run.instances) { events.add(i.from); if (i.end !== "running") events.add(i.to); for (const b of i.bars) events.add(b.from).add(b.to); for (const e of i.history) events.add(e.ms); }
  for (const m of run.marks) if (m.kind !== "phase" && m.kind !== "fault") events.add(m.ms);
  for (const n of run.nodes) for (const s of n.spans) { events.add(s.from); if (s.to < run.end) events.add(s.to); }
  const sorted = [...events].sort((a, b) => a - b), busy = sorted[sorted.length - 1];
  let cuts = sorted.slice(1).map((b, k) => ({ from: sorted[k], to: b })).sort((a, b) => b.to - b.from - a.to + a.from), length = Math.max(busy, 100), room = 0;
  const kept = cuts.findIndex(c => { const gap = c.to - c.from, cut = gap > 10000 && gap > length * 0.2; if (cut) length -= gap; return !cut; });
  room = length * 0.04;
  cuts = cuts.slice(0, Math.max(kept, 0)).sort((a, b) => a.from - b.from);
  function placeOf(ms) {
    let p = ms;
    for (const c of cuts) if (ms >= c.to) p -= c.to - c.from - room; else return ms > c.from ? p - (ms - c.from) * (1 - room / (c.to - c.from)) : p;
    return p;
  }
  function timeAt(ms) {
    for (const c of cuts) {
      if (ms <= c.from) return ms;
      if (ms < c.from + room) return c.from + (ms - c.from) / room * (c.to - c.from);
      ms += c.to - c.from - room;
    }
    return ms;
  }
  const end = Math.max(placeOf(busy) * 1.03, 100);
  // The first view: nearly all that happens, and every step and violation.
  const times = run.instances.flatMap(i => i.bars.map(b => b.from)).sort((a, b) => a - b);
  const most = placeOf([...run.marks.filter(m => m.kind === "step" || m.kind === "violation" && m.text !== "outcome").map(m => m.ms), times[Math.floor(times.length * 0.97)] || 0].reduce((a, b) => Math.max(a, b))) * 1.1; // an outcome is judged at the end
  const focus = most > 0 && most < end / 2 ? most : end;
  let from = 0, to = focus, selected = -1, shown = [];

  const narrow = () => innerWidth < 700;
  const longest = run.instances.reduce((n, i) => Math.max(n, i.id.length), 0);
  const gutter = () => narrow() ? Math.min(Math.max(longest * 7 + 14, 70), $("chart").clientWidth * 0.36) : Math.min(Math.max(longest * 7 + 95, 190), $("chart").clientWidth * 0.3);
  const width = () => Math.max($("chart").clientWidth - gutter(), 50);
  let wide = 1, left = 190; // as of the last drawing
  const x = ms => (placeOf(ms) - from) / (to - from) * wide;
  const visible = (a, b) => placeOf(b) >= from && placeOf(a) <= to;
  const place = (e, a, b) => { e.style.left = x(a) + "px"; if (b !== undefined) e.style.width = Math.max(x(b) - x(a), 1) + "px"; return e; };

  $("runtitle").textContent = `Seed ${run.seed}: ${run.instances.length} instances on ${run.nodes.length} nodes, ${time(run.end)} of virtual time` + (focus < end ? `; the first ${time(timeAt(focus))} are shown, 0 shows all` : "");
  // The evidence: a part for each property, with its first violation of each instance.
  for (const [text, all] of Map.groupBy(violations, m => m.text)) {
    const d = el("details"), first = [...Map.groupBy(all, m => m.instance)].map(([, of]) => [of[0], of.length]);
    d.append(el("summary", "bad", `${text} about ${first.length === 1 && all[0].instance ? all[0].instance : first.length + " instances"} at ${time(all[0].ms)}, step ${all[0].step}` + (all.length > 1 ? `, the first of ${all.length}` : "")), el("pre", "", all[0].evidence));
    for (const [m, n] of first.slice(0, 12)) d.append(button((m.instance || "see it") + (n > 1 ? ` × ${n}` : ""), () => jump(m)));
    if (first.length > 12) d.append(` and ${first.length - 12} more`);
    d.open = !$("evidence").childElementCount;
    $("evidence").append(d);
  }
  function jump(m) {
    show(m.ms - 3000, m.ms + 3000);
    if (moments.length) move(nearest(m.ms, m.step));
    open(run.instances.findIndex(i => i.id === m.instance));
    $("chart").scrollIntoView({ block: narrow() ? "start" : "nearest" });
  }
  const legend = (swatch, text) => { const s = el("span"); const i = el("i"); i.style.background = swatch; s.append(i, text); $("legend").append(s); };
  run.builds.forEach((b, i) => legend(colour(i), "build " + b));
  legend("repeating-linear-gradient(135deg, var(--wait) 0 4px, transparent 4px 7px)", "waits for a build");
  $("legend").append(el("span", "", "tall tick: turn"), el("span", "", "flat bar: activity"), el("span", "", "◀ given back"));
  const skull = el("span", "", "✖ poison"); skull.style.color = "var(--bad)"; $("legend").append(skull);
  if (cuts.length) legend("repeating-linear-gradient(90deg, var(--line) 0 2px, transparent 2px 5px)", "idle time, cut");
  for (const n of run.nodes) $("f-node").append(el("option", "", n.name));

  // marks: labels in rows, the steps of the plan first, so that they do not cover each other, and lines through the chart
  function drawMarks() {
    $("marks").replaceChildren();
    document.querySelectorAll("#chart > .vline, #chart > .cut").forEach(e => e.remove());
    const rows = [[], [], [], []], order = { violation: 0, step: 1, part: 2, phase: 3 };
    const marks = run.marks.filter(m => m.kind in order && visible(m.ms, m.ms)).sort((a, b) => order[a.kind] - order[b.kind] || a.ms - b.ms);
    const seen = new Set();
    for (const m of marks) {
      const at = left + x(m.ms), key = m.kind + Math.round(at), size = Math.min(m.text.length * 6.3 + 12, 216), before = at + size > left + wide && at > size;
      if (!seen.has(key)) { const v = el("div", "vline " + m.kind); v.style.left = at + "px"; $("chart").append(v); }
      seen.add(key);
      const a = before ? at - size : at, row = rows.findIndex(r => r.every(o => o[0] >= a + size || o[1] <= a));
      const label = m.kind + m.text + Math.round(at / 30); // one for the same text in nearly the same place
      if (row < 0 || seen.has(label)) continue;
      seen.add(label);
      rows[row].push([a, a + size]);
      const l = el("div", "label " + m.kind + (before ? " before" : ""), m.text, `${time(m.ms)}, step ${m.step}: ${m.text}${m.instance ? " about " + m.instance : ""}`);
      l.tabIndex = 0;
      if (m.kind === "violation") l.onclick = () => jump(m);
      if (before) l.style.right = left + wide - at + "px"; else l.style.left = at + "px";
      l.style.top = row * 15 + 1 + "px";
      $("marks").append(l);
    }
    $("marks").style.height = (rows.findLastIndex(r => r.length) + 1) * 15 + 4 + "px";
    $("axis").replaceChildren();
    for (const c of cuts) if (visible(c.from, c.to)) {
      const e = el("div", "cut", undefined, `nothing happens from ${time(c.from)} to ${time(c.to)}`);
      e.style.left = left + Math.max(x(c.from), 0) + "px";
      e.style.width = x(c.to) - Math.max(x(c.from), 0) + "px";
      $("chart").append(e);
    }
    const steps = [10, 50, 100, 500, 1000, 2000, 5000, 10000, 20000, 30000, 60000, 120000, 300000, 600000, 1800000, 3600000, 21600000, 86400000];
    const step = steps.find(s => (to - from) / s * 60 < wide) || 864000000;
    const ticks = []; // where idle time ends, the axis tells the time, too
    const tick = t => {
      const at = x(t);
      if (at < 0 || at > wide - 40 || ticks.some(o => Math.abs(o - at) < 55) || cuts.some(c => x(c.from) >= at && x(c.from) < at + 40)) return;
      ticks.push(at);
      const s = el("span", "", time(t)); s.style.left = left + at + "px"; $("axis").append(s);
    };
    for (const c of cuts) tick(c.to);
    for (let t = Math.ceil(timeAt(from) / step) * step; placeOf(t) <= to; t += step) {
      const cut = cuts.find(c => t > c.from && t < c.to);
      if (cut) t = Math.ceil(cut.to / step) * step - step; else tick(t);
    }
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
        e.tabIndex = 0;
        e.style.backgroundColor = colour(s.build);
        const hidden = Math.max(-x(s.from), 0); // zoomed in, the text stays in sight
        if (Math.min(x(s.to), wide) - x(s.from) - hidden < e.textContent.length * 7 + 10) e.textContent = ""; // half a version is another version
        e.style.paddingLeft = hidden + 5 + "px";
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

  const compare = new Intl.Collator("en", { numeric: true }).compare;
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
    const worth = run.instances.map(i => (violated.has(i.id) ? 8 : 0) + (i.expected ? 0 : 4) + (i.end === "poisoned" ? 2 : 0) + (trouble(i) ? 1 : 0));
    const by = { name: (a, b) => compare(run.instances[a].id, run.instances[b].id), start: (a, b) => run.instances[a].from - run.instances[b].from, trouble: (a, b) => worth[b] - worth[a] || by.start(a, b) };
    shown.sort((a, b) => by[sort](a, b) || a - b);
    $("count").textContent = `${shown.length} of ${run.instances.length} instances, ${shown.filter(k => worth[k]).length} with trouble`;
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
    const row = el("div", "row" + (bad || violated.has(i.id) ? " trouble" : "") + (k === selected ? " at" : ""), undefined, `${i.id} (${i.orchestration}): ${i.end}${i.cause ? ", " + i.cause : ""}`);
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
    for (const m of violations) if (m.instance === i.id && visible(m.ms, m.ms)) track.append(place(el("div", "violationmark", "", `${m.text} is violated at ${time(m.ms)}, step ${m.step}`), m.ms));
    if (i.end !== "running" && visible(i.to, i.to)) track.append(place(el("div", "ended" + (i.end === "completed" ? "" : bad ? " failed" : " other"), i.end === "completed" ? "✓" : i.end === "poisoned" ? "" : "■"), i.to));
    row.append(name, track);
    row.onclick = () => open(k);
    return row;
  }

  function open(k) {
    if (k < 0) return;
    selected = k;
    const i = run.instances[k], d = $("details");
    d.replaceChildren();
    const close = button("close (Esc)", shut);
    close.className = "close";
    d.append(close, el("h3", "", i.id));
    const facts = el("dl");
    const fact = (t, v) => { if (v) facts.append(el("dt", "", t), el("dd", "", v)); };
    fact("orchestration", i.orchestration); fact("pin", i.pin); fact("end", i.end + (i.cause ? ": " + i.cause : "")); fact("with help", i.owes); fact("from, to", time(i.from) + " … " + time(i.to));
    d.append(facts);
    if (command) { const p = el("p"); p.append("A step, in full: ", el("code", "command", command + " " + (i.bars[0] || i.history[0] || { step: 0 }).step)); d.append(p); }
    const table = (title, head, rows) => {
      if (!rows.length) return;
      d.append(el("h3", "", title));
      const t = el("table"), h = el("tr");
      for (const c of head) h.append(el("th", "", c));
      t.append(h);
      for (const [when, step, cells] of rows.slice(0, 2000)) {
        const tr = el("tr", "jump");
        tr.append(el("td", "", time(when)), el("td", "", step));
        for (const c of cells) tr.append(el("td", "", c));
        tr.onclick = () => {
          if (command) d.querySelector("code").textContent = command + " " + step;
          if (moments.length) move(nearest(when, step));
          const w = (to - from) / 2;
          from = Math.max(placeOf(when) - w / 2, 0); to = Math.min(from + w, end);
          draw();
        };
        t.append(tr);
      }
      d.append(t);
    };
    table("History", ["time", "step", "event", "by"], i.history.map(e => [e.ms, e.step, [`${e.x}.${e.id} ${e.kind}`, e.node >= 0 ? run.nodes[e.node].name : ""]]));
    table("Story", ["time", "step", "who", "what"], run.story.filter(l => (l.about || []).includes(k)).map(l => [l.ms, l.step, [l.who, l.text]]));
    copyable(d);
    d.hidden = false;
    document.body.classList.add("open");
    const r = shown.indexOf(k);
    if (r >= 0 && (r * ROW < $("list").scrollTop || r * ROW > $("list").scrollTop + $("list").clientHeight - ROW)) $("list").scrollTop = Math.max(r * ROW - 100, 0);
    draw();
    keep();
  }
  function shut() { $("details").hidden = true; document.body.classList.remove("open"); draw(); $("chart").focus(); }

  function show(a, b) { from = Math.max(placeOf(a), 0); to = Math.max(Math.min(placeOf(b), end), from + 5); draw(); }
  function zoom(factor, centre) {
    const c = centre === undefined ? (from + to) / 2 : centre, w = Math.min(Math.max((to - from) * factor, 5), end);
    from = Math.max(Math.min(c - (c - from) * (w / (to - from)), end - w), 0); to = from + w;
    draw();
  }
  function pan(part) { const w = to - from; from = Math.max(Math.min(from + w * part, end - w), 0); to = from + w; draw(); }
  function draw() {
    left = gutter(); wide = width();
    $("chart").style.setProperty("--gutter", left + "px");
    drawMarks(); drawLanes(); drawRows(); drawLine();
  }

  $("list").onscroll = drawRows;
  for (const id of ["f-instance", "f-node", "f-kind", "f-sort"]) $(id).oninput = () => { choose(); $("list").scrollTop = 0; draw(); };
  $("f-run").oninput = () => { location.hash = "run=" + $("f-run").value; };
  $("filter").onsubmit = e => e.preventDefault();
  $("zoom-in").onclick = () => zoom(0.5); $("zoom-out").onclick = () => zoom(2); $("zoom-all").onclick = () => { from = 0; to = end; draw(); };
  const pointed = e => from + (e.clientX - $("chart").getBoundingClientRect().left - left) / wide * (to - from);
  $("chart").addEventListener("wheel", e => {
    if (!e.ctrlKey && !e.shiftKey) return;
    e.preventDefault();
    if (e.shiftKey) return pan(Math.sign(e.deltaY || e.deltaX) * 0.15);
    zoom(e.deltaY > 0 ? 1.3 : 0.77, pointed(e));
  }, { passive: false });
  document.addEventListener("keydown", e => {
    if (e.key === "Escape") { if (!$("details").hidden) shut(); else if (document.activeElement) document.activeElement.blur(); return; }
    if (/INPUT|SELECT|TEXTAREA/.test(document.activeElement.tagName) && document.activeElement.type !== "range" || e.ctrlKey || e.metaKey || e.altKey) return;
    if (e.key === "Enter" && /BUTTON|SUMMARY/.test(document.activeElement.tagName)) return;
    const r = shown.indexOf(selected);
    const go = n => { if (shown.length) { selected = shown[Math.min(Math.max(n, 0), shown.length - 1)]; $("details").hidden ? (scrollTo(n), draw()) : open(selected); } };
    const scrollTo = n => { if (n * ROW < $("list").scrollTop || (n + 2) * ROW > $("list").scrollTop + $("list").clientHeight) $("list").scrollTop = Math.max(n * ROW - 100, 0); };
    const keys = { "+": () => zoom(0.5), "=": () => zoom(0.5), "-": () => zoom(2), "0": () => $("zoom-all").click(), "ArrowLeft": () => pan(-0.2), "ArrowRight": () => pan(0.2),
      "ArrowDown": () => go(r + 1), "ArrowUp": () => go(Math.max(r - 1, 0)), "j": () => go(r + 1), "k": () => go(Math.max(r - 1, 0)), "Enter": () => r >= 0 && open(selected), "/": () => $("f-instance").focus(), ",": () => move(cursor - 1), ".": () => move(cursor + 1) };
    if (document.activeElement.type === "range" && e.key.startsWith("Arrow")) return;
    if (keys[e.key]) { e.preventDefault(); keys[e.key](); }
  });
  // The cursor: what nodes, slots and instances do at a moment. A track has triples of time, step and state.
  const tracks = [...run.nodes.flatMap(n => [n, ...(n.slots || [])]), ...run.instances].map(s => s.track || []);
  const at = new Map(); // the steps in which something changes, by time
  for (const t of tracks) for (let i = 0; i < t.length; i += 3) at.has(t[i]) ? at.get(t[i]).add(t[i + 1]) : at.set(t[i], new Set([t[i + 1]]));
  const moments = [...at].sort((a, b) => a[0] - b[0]).flatMap(([ms, steps]) => [...steps].sort((a, b) => a - b).map(s => [ms, s]));
  let cursor = 0;
  // before returns how many of n moments, in order, are up to a time and step.
  function before(n, moment, ms, step) {
    let low = 0, high = n;
    while (low < high) { const mid = low + high >> 1, [t, s] = moment(mid); if (t < ms || t === ms && s <= step) low = mid + 1; else high = mid; }
    return low;
  }
  const nearest = (ms, step) => Math.max(before(moments.length, i => moments[i], ms, step) - 1, 0);
  function stateAt(track, [ms, step]) {
    const n = track ? before(track.length / 3, i => [track[i * 3], track[i * 3 + 1]], ms, step) : 0;
    return n ? run.states[track[n * 3 - 1]] || [] : [];
  }
  function drawLine() {
    if (!moments.length) return;
    const ms = moments[cursor][0];
    $("line").hidden = !visible(ms, ms);
    $("line").style.left = left + x(ms) + "px";
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
      row(run.instances[k].id, rule ? rule + ": " + text : "", details.map((d, i) => i % 2 ? d : (i ? "; " : "") + d + " ").join(""), k === selected ? "at" : "");
    }
    $("now").textContent = `${time(at[0])}, step ${at[1]}: ${live.filter(goesOn).length} instances are under way` + (live.length > limit ? `, ${limit} are shown: filter them` : "");
    $("state").replaceChildren(table);
    drawLine();
    keep();
  }
  // The cursor is dragged in the chart. On a touch screen, a vertical drag scrolls.
  let drag = null, dragged = false;
  $("chart").addEventListener("pointerdown", e => { if (moments.length && e.button === 0 && e.clientX - $("chart").getBoundingClientRect().left > left) drag = { x: e.clientX, moved: e.target.closest("#axis") }; });
  addEventListener("pointermove", e => {
    if (!drag || !drag.moved && Math.abs(e.clientX - drag.x) < 5) return;
    drag.moved = true;
    move(nearest(timeAt(pointed(e)), Infinity));
  });
  addEventListener("pointerup", e => { if (drag && drag.moved) { move(nearest(timeAt(pointed(e)), Infinity)); dragged = true; setTimeout(() => dragged = false); } drag = null; });
  $("chart").addEventListener("click", e => { if (dragged) e.stopPropagation(); }, true); // a drag opens nothing
  addEventListener("pointercancel", () => drag = null);
  $("moment").max = moments.length - 1;
  $("moment").oninput = () => move(+$("moment").value);
  $("back").onclick = () => move(cursor - 1); $("forth").onclick = () => move(cursor + 1);
  const out = [];
  if (run.statesTo) out.push("states after " + time(run.statesTo));
  if (run.leftOut) out.push(`the events of ${run.leftOut} of ${run.instances.length} instances`);
  $("leftout").textContent = out.length ? "Left out, for the size of the page: " + out.join(" and ") + "." : "";

  // The address keeps the run, the moment and the instance, so that it can be sent to somebody.
  let keeping = 0;
  function keep() {
    clearTimeout(keeping);
    if (document.body.dataset.ready) keeping = setTimeout(() => {
      const q = new URLSearchParams();
      if (which) q.set("run", which);
      if (moments.length) { q.set("time", moments[cursor][0]); q.set("step", moments[cursor][1]); }
      if (selected >= 0) q.set("instance", run.instances[selected].id);
      history.replaceState(null, "", "#" + q);
    }, 300);
  }
  function follow() {
    const q = link(), step = +q.get("step"), first = violations[0] || run.marks.find(m => m.kind === "step") || { ms: 0, step: 0 };
    if ((+q.get("run") || 0) !== which) return location.reload();
    if (moments.length) move(q.has("time") ? nearest(+q.get("time"), step) : q.has("step") ? moments.findIndex(m => m[1] >= step) : nearest(first.ms, first.step));
    open(run.instances.findIndex(i => i.id === q.get("instance")));
    if (q.size) $("run").scrollIntoView();
  }
  addEventListener("hashchange", follow);
  addEventListener("resize", draw);
  choose();
  draw();
  $("cursor").hidden = !moments.length;
  follow();
  document.body.dataset.ready = "yes";
})();
})();
