"use strict";
// Draws the pictures in #data: each panel is laid out by dagre, then the panels are set side by side.
// What is looked at stands in the address (#level=job&operator=…), so that it can be sent to somebody.

const data = JSON.parse(document.getElementById("data").textContent);
const $ = (id) => document.getElementById(id);
const view = $("view"), canvas = $("canvas");
const BOX = 350, ROW = 25, HEAD = 28, PAD = 18, GAP = 48, STEP = 16;
const NAMES = { stream: "Stream graph", job: "Job graph", execution: "Execution plan" };
const LEGEND = { reads: "reads", plain: "row by row", times: "event time", joins: "joins", keeps: "keeps state", writes: "writes" };
const KINDS = { scan: "reads", seed: "reads", values: "reads", lookup_table: "reads", sink: "writes", watermark: "times", window: "times" };

let level = data.level, scale = 1, left = 0, top_ = 0, chosen = null;
const drawn = new Map();

function element(name, parent, { text, ...rest } = {}) {
  const made = document.createElement(name);
  Object.assign(made, rest);
  if (text !== undefined) made.textContent = text;
  if (parent) parent.append(made);
  return made;
}

function svg(name, parent, attributes = {}, text) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  parent.append(made);
  return made;
}

const short = (text, most) => (text.length <= most ? text : text.slice(0, most - 1) + "…");
const hasState = (row) => row.facts.some((fact) => fact.name === "state");
function toneOf(row) {
  if (hasState(row)) return "keeps";
  if (row.kind.includes("join")) return "joins";
  return KINDS[row.kind] || "plain";
}
function toneOfBox(box) {
  return { source: "reads", sink: "writes", epoch: "writes", table: "joins" }[box.role]
    || (box.rows.some(hasState) ? "keeps" : box.rows.some((row) => row.kind === "scan") ? "reads" : "plain");
}

function layOut(panel) {
  const graph = new dagre.graphlib.Graph({ multigraph: true });
  const big = panel.boxes.length > 150;
  graph.setGraph({ rankdir: "LR", nodesep: 22, ranksep: 56, edgesep: 14, ranker: big ? "longest-path" : "network-simplex" });
  for (const box of panel.boxes) graph.setNode(box.id, { width: BOX, height: HEAD + ROW * box.rows.length + 6 });
  panel.arrows.forEach((arrow, i) => {
    const label = arrow.kind === "forward" ? "" : short(arrow.label, 36);
    graph.setEdge(arrow.source, arrow.target, { width: label.length * 6.4 + (label ? 14 : 0), height: label ? 18 : 0, labelpos: "c", label, kind: arrow.kind }, "e" + i);
  });
  dagre.layout(graph);
  return graph;
}

// A smooth line through the points that dagre gives.
function curve(points) {
  const [first, ...rest] = points;
  let path = `M${first.x},${first.y}`;
  let last = first;
  for (const point of rest) {
    const middle = (last.x + point.x) / 2;
    path += `C${middle},${last.y} ${middle},${point.y} ${point.x},${point.y}`;
    last = point;
  }
  return path;
}

function drawPanel(picture, panel, parent) {
  const bare = picture.level === "stream";
  const graph = layOut(panel), size = graph.graph();
  const facts = bare ? [] : panel.facts;
  const head = bare ? 0 : 42 + facts.length * 19 + 8;
  const width = Math.max(size.width + 2 * PAD, bare ? 0 : 520), height = size.height + 2 * PAD + head;
  const node = element("div", parent, { className: "panel" + (bare ? " bare" : "") });
  node.style.cssText = `width:${width}px;height:${height}px`;
  if (!bare) {
    element("h2", node, { text: panel.title, onclick: () => show(picture, panel, null) });
    for (const fact of facts) {
      const line = element("p", node, { title: fact.text });
      element("b", line, { text: fact.name });
      line.append(fact.text);
    }
  }
  const lines = svg("svg", node, { width: size.width, height: size.height });
  lines.style.cssText = `left:${PAD}px;top:${head + PAD}px`;
  for (const edge of graph.edges()) {
    const { points, kind, label, x, y } = graph.edge(edge);
    const from = graph.node(edge.v), to = graph.node(edge.w);
    // Out of the right side and into the left one, wherever dagre's line would cut the box.
    points.splice(0, 1, { x: from.x + from.width / 2, y: from.y });
    points.splice(-1, 1, { x: to.x - to.width / 2, y: to.y });
    svg("path", lines, { class: "arrow " + kind, d: curve(points) });
    const end = points[points.length - 1];
    svg("path", lines, { class: "tip " + kind, d: `M${end.x},${end.y}l-9,-4.5v9z` });
    if (label) svg("text", lines, { class: "label", x, y }, label);
  }
  for (const box of panel.boxes) {
    const at = graph.node(box.id);
    const made = element("div", node, { className: "box " + toneOfBox(box) });
    made.style.cssText = `left:${PAD + at.x - at.width / 2}px;top:${head + PAD + at.y - at.height / 2}px;width:${at.width}px;height:${at.height}px`;
    const title = element("h3", made, { text: box.title + (box.note ? " " : ""), title: box.note });
    if (box.note) element("em", title, { text: `· ${box.note}` });
    for (const row of box.rows) drawRow(picture, panel, box, row, made);
  }
  return { panel, node, width, height };
}

function drawRow(picture, panel, box, row, parent) {
  const made = element("div", parent, { className: "row " + toneOf(row), tabIndex: 0, title: `${row.id}: ${short(row.does, 300)}` });
  made.dataset.operator = row.id;
  made.style.paddingLeft = row.depth * STEP + "px";
  element("span", made, { className: "n", text: row.number });
  element("span", made, { className: "k", text: row.kind });
  element("span", made, { className: "d", text: row.kind === "sink" ? `${row.name}: ${row.does}` : row.does });
  if (hasState(row)) element("span", made, { className: "s", text: "state" });
  made.onclick = () => show(picture, panel, row, made);
  made.onkeydown = (event) => { if (event.key === "Enter") show(picture, panel, row, made); };
}

// Panels in rows, about as wide as the window is for their area.
function place(panels) {
  const area = panels.reduce((sum, one) => sum + (one.width + GAP) * (one.height + GAP), 0);
  const shape = Math.max(1, view.clientWidth / Math.max(1, view.clientHeight));
  const most = Math.max(Math.sqrt(area * shape) * 1.05, ...panels.map((one) => one.width));
  let x = 0, y = 0, tallest = 0, widest = 0;
  for (const one of panels) {
    if (x && x + one.width > most) { x = 0; y += tallest + GAP; tallest = 0; }
    Object.assign(one, { x, y });
    one.node.style.left = x + "px"; one.node.style.top = y + "px";
    x += one.width + GAP; widest = Math.max(widest, x - GAP); tallest = Math.max(tallest, one.height);
  }
  return { width: widest, height: y + tallest };
}

function open(name) {
  level = name;
  for (const button of $("levels").children) button.setAttribute("aria-pressed", String(button.dataset.level === name));
  if (!drawn.has(name)) {
    const picture = data.pictures.find((one) => one.level === name);
    const layer = element("div");
    const panels = picture.panels.map((panel) => drawPanel(picture, panel, layer));
    drawn.set(name, { picture, layer, panels, size: null });
  }
  const state = drawn.get(name);
  canvas.replaceChildren(state.layer);
  state.size = place(state.panels);
  list(state);
  search();
  fit();
  document.body.dataset.drawn = canvas.querySelectorAll(".row").length;
  document.body.dataset.level = name;
}

function list(state) {
  $("list").replaceChildren();
  for (const { panel, x, y, width, height } of state.panels) {
    const rows = panel.boxes.flatMap((box) => box.rows);
    if (state.picture.level === "stream") {
      for (const box of panel.boxes.filter((one) => one.role !== "model"))
        item(box.title, box.role, () => show(state.picture, panel, box.rows[0]));
      continue;
    }
    const states = rows.filter(hasState).length, sinks = rows.filter((row) => row.kind === "sink").length;
    const told = `${panel.boxes.length} boxes, ${sinks} ${sinks === 1 ? "sink" : "sinks"}${states ? `, ${states} with state` : ""}`;
    item(panel.id, told, () => { show(state.picture, panel, null); focus({ x, y, width, height }, 1); });
  }
}

function item(text, small, onclick) {
  const button = element("button", $("list"), { text, onclick });
  element("small", button, { text: small });
}

function move() {
  canvas.style.transform = `translate(${left}px,${top_}px) scale(${scale})`;
  // From afar only the names of queries can be read, so they are written large.
  canvas.classList.toggle("far", scale < 0.4);
  canvas.style.setProperty("--far", `${Math.min(110, 11 / scale)}px`);
}
function focus({ x, y, width, height }, most = 1.15) {
  const wide = view.clientWidth, high = view.clientHeight;
  scale = Math.min(most, (wide - 60) / width, (high - 80) / height);
  left = (wide - width * scale) / 2 - x * scale;
  top_ = Math.max(20, (high - height * scale) / 2) - y * scale;
  move();
}
function fit() { focus({ x: 0, y: 0, ...drawn.get(level).size }); }
function zoom(factor, x = view.clientWidth / 2, y = view.clientHeight / 2) {
  const next = Math.min(3, Math.max(0.03, scale * factor));
  left = x - ((x - left) * next) / scale; top_ = y - ((y - top_) * next) / scale; scale = next;
  move();
}

function show(picture, panel, row, node) {
  const details = $("details");
  details.replaceChildren();
  element("button", details, { className: "close", text: "×", title: "Close", onclick: hide });
  element("small", details, { text: row ? row.kind : NAMES[picture.level] });
  element("h2", details, { text: row ? row.name : panel.title });
  const terms = element("dl", details);
  const tell = (name, text, code) => {
    element("dt", terms, { text: name });
    const value = element("dd", terms);
    if (name === "columns") for (const column of text.split(/, (?=[^()<>]*(?:[(<]|$))/)) element("li", value.querySelector("ul") || element("ul", value), { text: column });
    else element(code ? "code" : "span", value, { text });
  };
  if (row) {
    tell("does", row.does, true);
    if (row.via) tell("rows come by", row.via);
  }
  for (const fact of (row || panel).facts) tell(fact.name, fact.text, fact.name === "place");
  details.hidden = false;
  if (chosen) chosen.classList.remove("chosen");
  chosen = row ? node || find(panel, row) : null;
  if (chosen) { chosen.classList.add("chosen"); if (!node) bring(chosen); }
  history.replaceState(null, "", "#" + new URLSearchParams({ level: picture.level, query: panel.id, ...(row ? { operator: row.id } : {}) }));
}
function find(panel, row) {
  const { node } = drawn.get(level).panels.find((one) => one.panel === panel);
  return [...node.querySelectorAll(".row")].find((one) => one.dataset.operator === row.id);
}
function hide() { $("details").hidden = true; if (chosen) chosen.classList.remove("chosen"); chosen = null; }
function bring(node) {
  if (scale < 0.7) scale = 0.9;
  move();
  const box = node.getBoundingClientRect(), frame = view.getBoundingClientRect();
  left += frame.left + frame.width / 2 - (box.left + box.width / 2);
  top_ += frame.top + frame.height / 2 - (box.top + box.height / 2);
  move();
}

function search(jump = false) {
  const text = $("search").value.trim().toLowerCase();
  const state = drawn.get(level);
  let first = null, count = 0;
  state.layer.classList.toggle("searching", Boolean(text));
  for (const row of state.layer.querySelectorAll(".row")) {
    const hit = Boolean(text) && (row.title.toLowerCase().includes(text) || row.textContent.toLowerCase().includes(text));
    row.classList.toggle("hit", hit);
    if (hit) { count++; first = first || row; }
  }
  $("found").textContent = text ? `${count} found` : "";
  if (jump && first) bring(first);
}

for (const picture of data.pictures) {
  const button = element("button", $("levels"), { text: NAMES[picture.level], onclick: () => { hide(); open(picture.level); } });
  button.dataset.level = picture.level;
}
for (const [tone, text] of Object.entries(LEGEND)) {
  const entry = element("span", $("legend"), { className: tone });
  element("i", entry);
  entry.append(text);
}
$("title").textContent = data.pictures[0].title;
$("search").oninput = () => search();
$("search").onkeydown = (event) => { if (event.key === "Enter") search(true); };
$("fit").onclick = fit;
const paint = (dark) => { document.documentElement.dataset.theme = dark ? "dark" : "light"; };
$("theme").onclick = () => paint(document.documentElement.dataset.theme !== "dark");
view.addEventListener("wheel", (event) => {
  event.preventDefault();
  const frame = view.getBoundingClientRect();
  if (event.shiftKey) { left -= event.deltaY; move(); }
  else zoom(Math.exp(-event.deltaY * 0.0015), event.clientX - frame.left, event.clientY - frame.top);
}, { passive: false });
view.addEventListener("pointerdown", (event) => {
  if (event.target.closest(".row, h2")) return;
  const from = { x: event.clientX - left, y: event.clientY - top_ };
  view.classList.add("dragging");
  const drag = (moved) => { left = moved.clientX - from.x; top_ = moved.clientY - from.y; move(); };
  const stop = () => { view.classList.remove("dragging"); removeEventListener("pointermove", drag); };
  addEventListener("pointermove", drag);
  addEventListener("pointerup", stop, { once: true });
});
addEventListener("keydown", (event) => {
  if (event.target.tagName === "INPUT") return;
  if (event.key === "/") { event.preventDefault(); $("search").focus(); }
  if (event.key === "0") fit();
  if (event.key === "+") zoom(1.2);
  if (event.key === "-") zoom(1 / 1.2);
  if (event.key === "Escape") hide();
});

const asked = new URLSearchParams(location.hash.slice(1));
paint(asked.get("theme") ? asked.get("theme") === "dark" : matchMedia("(prefers-color-scheme: dark)").matches);
open(data.pictures.some((one) => one.level === asked.get("level")) ? asked.get("level") : level);
for (const { panel } of drawn.get(level).panels) {
  if (asked.get("query") && panel.id !== asked.get("query")) continue;
  const row = panel.boxes.flatMap((box) => box.rows).find((one) => one.id === asked.get("operator"));
  if (row) { show(drawn.get(level).picture, panel, row); break; }
}
