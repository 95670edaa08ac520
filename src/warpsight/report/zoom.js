
// Charts that can be looked into: hover or focus tells what a mark is; buttons, a drag and ctrl with the wheel zoom.
// A chart is an <svg data-x="log|lin,low,high" data-y="..."> with a nested <svg class="plot"> whose marks move.
document.documentElement.classList.add("js");
const views = new WeakMap();
function chartOf(node) { const figure = node.closest("figure"); return figure && figure.querySelector("svg[data-x]"); }
function viewOf(chart) {
  if (!views.has(chart)) {
    const plot = chart.querySelector("svg.plot"), box = plot.viewBox.baseVal;
    const at = function (mark, name) { return parseFloat(mark.getAttribute(name)); };
    const lines = Array.from(plot.querySelectorAll("line"), function (m) { return [m, at(m, "x1"), at(m, "y1"), at(m, "x2"), at(m, "y2")]; });
    const bars = Array.from(plot.querySelectorAll("rect"), function (m) { return [m, at(m, "x"), at(m, "width")]; });
    const points = Array.from(plot.querySelectorAll(".at"), function (m) { return [m, at(m, "data-at-x"), at(m, "data-at-y")]; });
    views.set(chart, { box: { x: box.x, y: box.y, w: box.width, h: box.height }, k: 1, ox: 0, oy: 0, lines, bars, points,
      ticks: chart.querySelector(".ticks").cloneNode(true) });
  }
  return views.get(chart);
}
function draw(chart) {
  const v = viewOf(chart), tall = Boolean(chart.dataset.y), b = v.box;
  v.ox = Math.min(0, Math.max(b.w * (1 - v.k), v.ox)); v.oy = tall ? Math.min(0, Math.max(b.h * (1 - v.k), v.oy)) : 0;
  const X = function (x) { return b.x + (x - b.x) * v.k + v.ox; };
  const Y = function (y) { return tall ? b.y + (y - b.y) * v.k + v.oy : y; };
  v.lines.forEach(function (l) { l[0].setAttribute("x1", X(l[1])); l[0].setAttribute("y1", Y(l[2])); l[0].setAttribute("x2", X(l[3])); l[0].setAttribute("y2", Y(l[4])); });
  v.bars.forEach(function (r) { r[0].setAttribute("x", X(r[1])); r[0].setAttribute("width", r[2] * v.k); });
  v.points.forEach(function (p) { p[0].setAttribute("transform", "translate(" + X(p[1]) + " " + Y(p[2]) + ")"); });
  const ticks = chart.querySelector(".ticks");
  if (v.k === 1) { ticks.replaceWith(v.ticks.cloneNode(true)); return; }
  ticks.textContent = "";
  axis(ticks, chart.dataset.x, b.x, b.w, v.ox, v.k, function (p, said) { mark(ticks, p, b.y + b.h, p, b.y, said, p, b.y + b.h + 17, "middle"); });
  if (tall) axis(ticks, chart.dataset.y, b.y + b.h, -b.h, v.oy + b.h * (v.k - 1), v.k, function (p, said) { mark(ticks, b.x, p, b.x + b.w, p, said, b.x - 7, p + 4, "end"); });
}
function axis(ticks, said, start, size, shift, k, put) {
  const parts = said.split(","), log = parts[0] === "log", low = parseFloat(parts[1]), high = parseFloat(parts[2]);
  const from = log ? Math.log10(low) : low, to = log ? Math.log10(high) : high;
  const value = function (p) { return from + (p - start - shift) / (size * k) * (to - from); };
  const place = function (u) { return start + (u - from) / (to - from) * size * k + shift; };
  const a = value(start), b = value(start + size), found = [];
  if (log) {
    const all = b - a < 2.5 ? [1, 2, 3, 5, 7] : [1];
    for (let d = Math.floor(a); d <= b; d++) all.forEach(function (m) { found.push(Math.log10(m) + d); });
  } else {
    const raw = (b - a) / 6, power = Math.pow(10, Math.floor(Math.log10(raw)));
    const step = power * ([1, 2, 5, 10].find(function (s) { return s * power >= raw; }) || 10);
    for (let u = Math.ceil(a / step) * step; u <= b; u += step) found.push(u);
  }
  found.filter(function (u) { return u >= a && u <= b; }).forEach(function (u) { put(place(u), words(log ? Math.pow(10, u) : u)); });
}
function words(value) { return Math.abs(value) >= 1e4 ? (value / 1e3).toPrecision(3).replace(/\.0+$/, "") + "k" : String(parseFloat(value.toPrecision(4))); }
function mark(ticks, x1, y1, x2, y2, said, x, y, anchor) {
  const draw = function (name, all) { const made = document.createElementNS(ticks.namespaceURI, name); for (const key in all) made.setAttribute(key, all[key]); ticks.append(made); return made; };
  draw("line", { x1, y1, x2, y2, class: "grid" });
  draw("text", { x, y, "text-anchor": anchor }).textContent = said;
}
function zoom(chart, by, px, py) {
  const v = viewOf(chart), k = Math.max(1, Math.min(chart.dataset.y ? 40 : 4000, v.k * by)), f = k / v.k;
  const at = px === undefined ? middle(v) : [px - v.box.x, py - v.box.y], x = at[0], y = at[1];
  v.ox = x - (x - v.ox) * f; v.oy = y - (y - v.oy) * f; v.k = k;
  draw(chart);
}
function middle(v) { // of the kernels, where there are any; where it is in the picture now
  const seen = v.points.filter(function (p) { return p[0].querySelector(".says") && p[0].getClientRects().length; });
  if (!seen.length) return [v.box.w / 2, v.box.h / 2];
  const mean = function (i) { return seen.reduce(function (sum, p) { return sum + p[i]; }, 0) / seen.length; };
  const clip = function (at, most) { return Math.max(0, Math.min(most, at)); };
  return [clip((mean(1) - v.box.x) * v.k + v.ox, v.box.w), clip((mean(2) - v.box.y) * v.k + v.oy, v.box.h)];
}
function inside(chart, event) { const p = new DOMPoint(event.clientX, event.clientY).matrixTransform(chart.getScreenCTM().inverse()); return [p.x, p.y]; }
addEventListener("click", function (event) {
  const button = event.target.closest("button[data-zoom]");
  if (!button) return;
  const chart = chartOf(button), by = { in: 1.6, out: 1 / 1.6, all: 0 }[button.dataset.zoom];
  zoom(chart, by || 1e-9);
});
addEventListener("wheel", function (event) {
  const plot = event.ctrlKey && event.target.closest && event.target.closest("svg.plot");
  if (!plot) return;
  event.preventDefault();
  const chart = chartOf(plot), at = inside(chart, event);
  zoom(chart, Math.exp(-event.deltaY / 300), at[0], at[1]);
}, { passive: false });
let held = null;
addEventListener("pointerdown", function (event) {
  const plot = event.target.closest && event.target.closest("svg.plot");
  if (plot && !event.target.closest("a")) held = { chart: chartOf(plot), at: inside(chartOf(plot), event) };
});
addEventListener("pointermove", function (event) {
  if (!held) return;
  const now = inside(held.chart, event), v = viewOf(held.chart);
  v.ox += now[0] - held.at[0]; v.oy += now[1] - held.at[1]; held.at = now;
  draw(held.chart);
});
addEventListener("pointerup", function () { held = null; });
function tell(event) {
  const place = event.target.closest && event.target.closest(".says");
  const figure = place && place.closest("figure"), line = figure && figure.querySelector(".readout"), title = place && place.querySelector("title");
  if (line && title) line.textContent = title.textContent;
}
addEventListener("pointerover", tell);
addEventListener("focusin", tell);
