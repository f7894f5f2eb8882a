// Draws each chart of #charts into the element with its name. A chart is described in scripts/litm/report/charts.py.
(() => {
  "use strict";
  const source = document.getElementById("charts");
  if (!source) return;
  const { models, charts } = JSON.parse(source.textContent);

  // Sizes of a panel, in units of its view box.
  const WIDTH = 360, LEFT = 34, RIGHT = 14, TOP = 8, HEIGHT = 210, CHARACTER = 6.5;
  const COLOURS = 8;
  const DASHES = { curve: ["", "7 3", "2 3", "9 3 2 3"], marks: [""], published: ["4 3"], whole: [""], part: [""], reference: ["2 4", "8 3 2 3", "2 8"] };
  const MARKS = [
    "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0",
    "M-3.6 -3.6h7.2v7.2h-7.2z",
    "M0 -4.8L4.5 3.4H-4.5z",
    "M0 -5L5 0L0 5L-5 0z",
    "M0 4.8L4.5 -3.4H-4.5z",
  ];
  const off = new Set();
  const views = [];

  function make(name, attributes = {}, parent = null, text = "") {
    const isSvg = ["svg", "g", "line", "path", "rect", "text"].includes(name);
    const element = isSvg ? document.createElementNS("http://www.w3.org/2000/svg", name) : document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    if (text) element.textContent = text;
    if (parent) parent.append(element);
    return element;
  }

  const percent = (fraction) => (100 * fraction).toFixed(1);
  const keysOf = (series) => [series.model && `model ${series.model}`, series.label && `label ${series.label}`].filter(Boolean);
  const isShown = (series) => keysOf(series).every((key) => !off.has(key));

  const isPart = (series) => series.kind === "part";
  // Bars, or parts of them: the panel's title names their model, and they are not switched off.
  const isStacked = (series) => isPart(series) || series.kind === "whole";

  function look(series) {
    if (isStacked(series)) return { colour: isPart(series) ? `var(--k${series.dash})` : "var(--ink)", mark: "M0 0", dash: "" };
    const index = series.model === null ? -1 : models.indexOf(series.model);
    const dashes = DASHES[series.kind];
    return {
      colour: index < 0 ? "var(--ink)" : `var(--m${index % COLOURS})`,
      mark: index < 0 ? MARKS[0] : MARKS[index % MARKS.length],
      dash: dashes[series.dash % dashes.length],
    };
  }

  // --- a panel

  function drawPanel(chart, panel, parent) {
    const box = make("div", { class: "panel" }, parent);
    make("h4", {}, box, panel.title);
    const columns = referenceColumns(panel), right = RIGHT + columns.width;
    const xs = panel.ticks.map(([x]) => x);
    const spare = panel.series.some(isStacked) ? 34 : 16, span = Math.max(...xs) - Math.min(...xs) || 1;
    const scale = {
      x: (x) => LEFT + spare + (WIDTH - LEFT - right - 2 * spare) * (xs.length > 1 ? (x - Math.min(...xs)) / span : 0.5),
      y: (y) => TOP + HEIGHT * (1 - (y - chart.y[0]) / (chart.y[1] - chart.y[0])),
    };
    const widths = panel.ticks.map(([, label]) => (label.length + 1) * CHARACTER);
    const overlap = xs.slice(1).some((x, index) => scale.x(x) - scale.x(xs[index]) < (widths[index] + widths[index + 1]) / 2);
    const turned = overlap || widths.reduce((sum, one) => sum + one, 0) > WIDTH - LEFT - right;
    const bottom = Math.max(turned ? 14 + (Math.max(...widths) - CHARACTER) * 0.7 : 22, 9 + 15 * columns.lines);
    const svg = make("svg", {
      viewBox: `0 0 ${WIDTH} ${TOP + HEIGHT + bottom}`, role: "img", tabindex: "0",
      "aria-label": `${chart.title}, ${panel.title}: ${chart.y_label} by ${chart.x_label}. Arrow keys move from point to point.`,
    }, box);
    drawColumns(svg, columns);
    drawAxes(svg, chart, panel, scale, turned);
    const curves = panel.series.filter((series) => series.kind !== "reference" && !isStacked(series));
    const step = Math.min(4, 24 / Math.max(1, curves.length));
    const stack = stackOf(panel, scale, xs);
    const drawn = panel.series.map((series) => {
      if (isPart(series)) return drawPart(svg, series, stack);
      const shift = series.kind === "reference" || isStacked(series) ? 0 : (curves.indexOf(series) - (curves.length - 1) / 2) * step;
      return drawSeries(svg, series, scale, shift, xs, columns.at(series));
    });
    const tip = make("div", { class: "tip", role: "status", hidden: "" }, box);
    const view = { chart, panel, box, svg, tip, drawn, at: null };
    listen(view);
    views.push(view);
  }

  // Columns right of the positions, one per reference line, with the intervals of its models next to one another.
  function referenceColumns(panel) {
    const lines = panel.series.filter((series) => series.kind === "reference" && series.points[0][3] !== null);
    const labels = [...new Set(lines.map((series) => series.label))].map((label) => label.split(" "));
    const owners = [...new Set(lines.map((series) => series.model))];
    const longest = Math.max(0, ...labels.flat().map((word) => word.length));
    const each = Math.max(34, CHARACTER * longest + 6, 6 * owners.length + 6), width = each * labels.length;
    const middle = (index) => WIDTH - RIGHT - width + (index + 0.5) * each;
    return {
      labels, width, middle, lines: Math.max(0, ...labels.map((words) => words.length)),
      at: (series) => middle(labels.findIndex((words) => words.join(" ") === series.label)) + 6 * (owners.indexOf(series.model) - (owners.length - 1) / 2),
    };
  }

  function drawColumns(svg, { labels, width, middle }) {
    if (!labels.length) return;
    make("rect", { class: "shade", x: WIDTH - RIGHT - width, y: TOP, width, height: HEIGHT }, svg);
    labels.forEach((words, index) => words.forEach((word, line) => {
      make("text", { x: middle(index), y: TOP + HEIGHT + 16 + 15 * line, "text-anchor": "middle" }, svg, word);
    }));
  }

  function drawAxes(svg, chart, panel, scale, turned) {
    const [low, high] = chart.y;
    const step = high - low > 0.5 ? 0.2 : high - low > 0.25 ? 0.1 : 0.05;
    for (let i = Math.ceil(low / step - 1e-9); i * step <= high + 1e-9; i++) {
      const y = scale.y(i * step);
      make("line", { class: "grid", x1: LEFT, x2: WIDTH - RIGHT, y1: y, y2: y }, svg);
      make("text", { x: LEFT - 6, y: y + 4, "text-anchor": "end" }, svg, String(Math.round(100 * i * step)));
    }
    let last = -Infinity;
    for (const [x, label] of panel.ticks) {
      const at = scale.x(x), y = TOP + HEIGHT + 16;
      make("line", { class: "grid", x1: at, x2: at, y1: TOP + HEIGHT, y2: TOP + HEIGHT + 4 }, svg);
      if (at - last < 12) continue;
      last = at;
      const turn = turned ? { "text-anchor": "end", transform: `rotate(-40 ${at} ${y - 4})`, x: at + 2 } : { "text-anchor": "middle", x: at };
      make("text", { y, ...turn }, svg, label);
    }
  }

  // A line through places, without a stroke across a gap.
  function lineOf(places, gaps) {
    const isCut = (index) => gaps.some((gap) => places[index - 1].point[0] < gap && gap < places[index].point[0]);
    return places.map(({ x, y }, index) => `${index && !isCut(index) ? "L" : "M"}${x} ${y}`).join("");
  }

  function drawSeries(svg, series, scale, shift, xs, at) {
    const { colour, mark, dash } = look(series);
    const group = make("g", { class: `series ${series.kind}`, style: `--c: ${colour}` }, svg);
    if (series.kind === "reference") {
      const [, n, value, low, high] = series.points[0], y = scale.y(value);
      make("path", { class: "line", d: `M${LEFT} ${y}H${WIDTH - RIGHT}`, "stroke-dasharray": dash }, group);
      if (low !== null) {
        make("path", { class: "interval", d: `M${at} ${scale.y(low)}V${scale.y(high)}m-3 0h6M${at - 3} ${scale.y(low)}h6` }, group);
        make("path", { class: "mark", d: mark, transform: `translate(${at} ${y}) scale(.8)` }, group);
      }
      return { series, group, places: xs.map((x) => ({ x: scale.x(x), y, point: [null, n, value, low, high], mark: null })) };
    }
    const places = series.points.map((point) => ({ x: scale.x(point[0]) + shift, y: scale.y(point[2]), point }));
    for (const { x, point } of places) {
      if (point[3] === null) continue;
      const ends = { x1: x, x2: x, y1: scale.y(point[3]), y2: scale.y(point[4]) };
      if (series.kind === "whole") make("line", { class: "edge", ...ends }, group);
      make("line", { class: "interval", ...ends }, group);
    }
    if (series.kind !== "marks" && series.kind !== "whole") {
      make("path", { class: "line", d: lineOf(places, series.gaps ?? []), "stroke-dasharray": dash }, group);
    }
    for (const place of places) {
      place.mark = make("path", { class: "mark", d: mark, transform: `translate(${place.x} ${place.y})` }, group);
    }
    return { series, group, places };
  }

  // The whole bars of a panel, by x: their share, how much of it has been drawn, and their place and width.
  function stackOf(panel, scale, xs) {
    const whole = panel.series.find((series) => series.kind === "whole");
    const width = Math.min(40, 0.7 * (xs.length > 1 ? scale.x(xs[1]) - scale.x(xs[0]) : 60));
    return new Map((whole?.points ?? []).map(([x, , value]) => [x, { value, drawn: 0, at: scale.x(x), width, scale }]));
  }

  function drawPart(svg, series, stack) {
    const group = make("g", { class: "series part", style: `--c: ${look(series).colour}` }, svg);
    const places = series.points.map((point) => {
      const bar = stack.get(point[0]), low = bar.drawn, height = point[2] * bar.value;
      bar.drawn += height;
      const y = bar.scale.y(bar.drawn), size = bar.scale.y(low) - y;
      const mark = make("rect", { x: bar.at - bar.width / 2, y, width: bar.width, height: size }, group);
      return { x: bar.at, y: y + size / 2, point, mark };
    });
    return { series, group, places: places.filter(({ point }) => point[2] > 0) };
  }

  // --- pointing

  function listen(view) {
    view.svg.addEventListener("pointermove", (event) => pointAt(view, nearest(view, event)));
    view.svg.addEventListener("pointerdown", (event) => pointAt(view, nearest(view, event)));
    view.svg.addEventListener("pointerleave", () => pointAt(view, null));
    view.svg.addEventListener("blur", () => pointAt(view, null));
    view.svg.addEventListener("keydown", (event) => {
      const at = step(view, event.key);
      if (!at) return;
      event.preventDefault();
      pointAt(view, at.line ? at : null);
    });
  }

  const shownLines = (view) => view.drawn.filter(({ series }) => isShown(series));

  function nearest(view, event) {
    const frame = view.svg.getBoundingClientRect(), zoom = WIDTH / frame.width;
    const x = (event.clientX - frame.left) * zoom, y = (event.clientY - frame.top) * zoom;
    let best = null, least = 30;
    for (const line of shownLines(view)) {
      line.places.forEach((place, index) => {
        if (isPart(line.series)) {
          const { x: left, y: top, width, height } = place.mark.getBBox();
          if (x >= left && x <= left + width && y >= top && y <= top + height && least > 5) { least = 5; best = { line, index }; }
          return;
        }
        // A reference line has one value, so only its vertical distance from the pointer counts.
        const far = line.series.kind === "reference" ? 4 * Math.abs(place.y - y) + Math.abs(place.x - x) / 10 : Math.hypot(place.x - x, place.y - y);
        if (far < least) { least = far; best = { line, index }; }
      });
    }
    return best;
  }

  // The point that a key selects: along a line or on the next line; {} for none, null for a key without a function.
  function step(view, key) {
    const lines = shownLines(view);
    if (key === "Escape") return {};
    if (!lines.length || !["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"].includes(key)) return null;
    if (!view.at || !lines.includes(view.at.line)) return { line: lines[0], index: 0 };
    const { line, index } = view.at;
    if (key === "ArrowLeft") return { line, index: Math.max(0, index - 1) };
    if (key === "ArrowRight") return { line, index: Math.min(line.places.length - 1, index + 1) };
    const next = lines[(lines.indexOf(line) + (key === "ArrowDown" ? 1 : lines.length - 1)) % lines.length];
    return { line: next, index: Math.min(index, next.places.length - 1) };
  }

  function pointAt(view, at) {
    if (view.at) {
      view.at.line.group.classList.remove("lit");
      view.at.line.places[view.at.index].mark?.classList.remove("lit");
    }
    view.at = at;
    view.svg.classList.toggle("dimmed", at !== null);
    view.tip.hidden = at === null;
    if (at === null) return;
    const { series, group, places } = at.line, { x, y, point, mark } = places[at.index];
    group.classList.add("lit");
    mark?.classList.add("lit");
    describe(view, series, point);
    const frame = view.svg.getBoundingClientRect(), box = view.box.getBoundingClientRect();
    const zoom = frame.width / WIDTH, isRight = x > WIDTH / 2;
    view.tip.style.left = isRight ? "auto" : `${x * zoom + 12}px`;
    view.tip.style.right = isRight ? `${box.width - x * zoom + 12}px` : "auto";
    view.tip.style.top = `${frame.top - box.top + Math.max(0, y * zoom - 30)}px`;
  }

  function describe(view, series, [x, n, value, low, high]) {
    const tick = view.panel.ticks.find(([at]) => at === x);
    const where = tick ? `${tick[1]}: ` : "";
    view.tip.replaceChildren();
    make("b", {}, view.tip, [series.model, series.label].filter(Boolean).join(", "));
    const interval = low === null ? "" : ` [${percent(low)}, ${percent(high)}]`;
    const of = isPart(series) ? " of the wrong answers" : "";
    view.tip.append(`${where}${percent(value)} %${interval}${of}, n = ${n.toLocaleString("en")}`);
  }

  // --- the legend

  function drawLegend(chart, parent) {
    const legend = make("div", { class: "legend", role: "group", "aria-label": "Legend" }, parent);
    const entries = new Map();
    const all = chart.panels.flatMap((panel) => panel.series);
    for (const series of all.filter((one) => !isStacked(one))) {
      if (series.model) entries.set(`model ${series.model}`, { text: series.model, series: { ...series, kind: "curve", dash: 0 }, mark: true });
    }
    for (const series of all.filter((one) => !isStacked(one))) {
      if (series.label) entries.set(`label ${series.label}`, { text: legendText(chart, series), series: { ...series, model: null }, mark: false });
    }
    for (const [key, entry] of entries) legend.append(legendButton(key, entry));
    for (const [label, series] of new Map(all.filter(isPart).map((one) => [one.label, one]))) {
      const sample = make("span", { class: "sample", style: `--c: ${look(series).colour}` }, make("span", { class: "part" }, legend, ""));
      sample.after(label);
    }
    const ofModels = [...entries.keys()].filter((key) => key.startsWith("model "));
    if (ofModels.length > 3) {
      for (const [text, hide] of [["All", false], ["None", true]]) {
        make("button", { type: "button" }, legend, text).addEventListener("click", () => {
          ofModels.forEach((key) => (hide ? off.add(key) : off.delete(key)));
          refresh();
        });
      }
    }
  }

  // The label of a series; reference lines have n, and those of a single model value and interval.
  function legendText(chart, { kind, label }) {
    if (kind !== "reference") return label;
    const lines = new Map(chart.panels.flatMap((panel) => panel.series).filter((one) => one.kind === kind && one.label === label).map((one) => [one.model, one.points[0]]));
    const points = [...lines.values()], counts = points.map((point) => point[1]);
    const n = [...new Set([Math.min(...counts), Math.max(...counts)])].map((count) => count.toLocaleString("en")).join(" to ");
    const [, , value, low, high] = points[0];
    const number = points.length > 1 || low === null ? "" : ` ${percent(value)} [${percent(low)}, ${percent(high)}]`;
    return `${label}${number} (n = ${n})`;
  }

  function legendButton(key, { text, series, mark }) {
    const button = make("button", { type: "button", "data-key": key, "aria-pressed": "true" });
    const { colour, mark: shape, dash } = look(series);
    const sample = make("svg", { viewBox: "0 0 30 12", "aria-hidden": "true", class: "series", style: `--c: ${colour}` }, button);
    make("path", { class: "line", d: "M0 6H30", "stroke-dasharray": dash }, sample);
    if (mark) make("path", { class: "mark", d: shape, transform: "translate(15 6)" }, sample);
    button.append(text);
    button.addEventListener("click", () => {
      if (!off.delete(key)) off.add(key);
      refresh();
    });
    return button;
  }

  function refresh() {
    for (const button of document.querySelectorAll(".legend [data-key]")) {
      button.setAttribute("aria-pressed", String(!off.has(button.dataset.key)));
    }
    for (const view of views) {
      pointAt(view, null);
      for (const { series, group } of view.drawn) group.style.display = isShown(series) ? "" : "none";
    }
  }

  for (const chart of charts) {
    const parent = document.querySelector(`[data-chart="${CSS.escape(chart.name)}"]`);
    const cut = chart.y[0] > 0 ? `; the vertical axis begins at ${Math.round(100 * chart.y[0])} %, not at 0` : "";
    make("p", { class: "axes" }, parent, `${chart.y_label} by ${chart.x_label.charAt(0).toLowerCase()}${chart.x_label.slice(1)}${cut}`);
    const panels = make("div", { class: chart.panels.some((panel) => panel.series.some(isStacked)) ? "panels stacked" : "panels" }, parent);
    for (const panel of chart.panels) drawPanel(chart, panel, panels);
    drawLegend(chart, parent);
  }
  addEventListener("beforeprint", () => document.querySelectorAll("#statistics details, #claims details").forEach((one) => (one.open = true)));
})();
