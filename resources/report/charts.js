// Draws each chart of #charts into the element with its name. A chart is described in scripts/litm/report/charts.py.
(() => {
  "use strict";
  const source = document.getElementById("charts");
  if (!source) return;
  const { models, charts } = JSON.parse(source.textContent);

  // Sizes of a panel, and of one of a single model, in units of its view box.
  const FULL = { width: 360, height: 210, left: 34, right: 14, spare: 16, bars: 34 }, SMALL = { width: 190, height: 100, left: 30, right: 8, spare: 10, bars: 16 };
  const TOP = 8, CHARACTER = 6.5;
  // More models than this have a panel each, and so have those whose intervals would be nearer to one another than LEAST.
  const MOST_MODELS = 4, STEP = 9, LEAST = 4;
  // The look of a model is that of its place in the study, as in scripts/litm/figures/looks.py.
  const COLOURS = 8;
  const DASHES = { curve: ["", "7 3", "2 3", "9 3 2 3"], marks: [""], published: ["4 3"], whole: [""], part: [""], reference: ["2 4", "8 3 2 3", "2 8"] };
  const MODEL_DASHES = ["", "11 3", "9 3 2 3", "4 2"];
  const MARKS = [
    "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0",
    "M-3.6 -3.6h7.2v7.2h-7.2z",
    "M0 -4.8L4.5 3.4H-4.5z",
    "M0 -5L5 0L0 5L-5 0z",
    "M0 4.8L4.5 -3.4H-4.5z",
    "M-1.6 -4.8h3.2v3.2h3.2v3.2h-3.2v3.2h-3.2v-3.2h-3.2v-3.2h3.2z",
    "M-4.6 -2.3L-2.3 -4.6L0 -2.3L2.3 -4.6L4.6 -2.3L2.3 0L4.6 2.3L2.3 4.6L0 2.3L-2.3 4.6L-4.6 2.3L-2.3 0z",
    "M-4.8 0L3.4 -4.5V4.5z",
    "M4.8 0L-3.4 -4.5V4.5z",
  ];
  // Lines over the colours of parts of bars, by the place of the part, in a tile of 8 by 8.
  const HATCHES = ["", "M-2 2L2 -2M0 8L8 0M6 10L10 6", "M2 2h.1M6 6h.1", "M-2 6L2 10M0 0L8 8M6 -2L10 2", "M0 0L8 8M0 8L8 0", "M0 2h8M0 6h8", "M2 0v8M6 0v8", "M4 0v8M0 4h8"];
  const off = new Set();
  const views = [];

  function make(name, attributes = {}, parent = null, text = "") {
    const isSvg = ["svg", "g", "line", "path", "rect", "text", "defs", "pattern"].includes(name);
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
    const dashes = DASHES[series.kind], isOfModel = index >= 0 && series.kind === "curve" && !series.label;
    return {
      colour: index < 0 ? "var(--ink)" : `var(--m${index % COLOURS})`,
      mark: index < 0 ? MARKS[0] : MARKS[index % MARKS.length],
      dash: isOfModel ? MODEL_DASHES[Math.floor(index / MARKS.length) % MODEL_DASHES.length] : dashes[series.dash % dashes.length],
    };
  }

  // The mark of a model in a title.
  function markOf(model, parent) {
    const { colour, mark } = look({ model, kind: "curve", label: "", dash: 0 });
    const svg = make("svg", { viewBox: "-6 -6 12 12", "aria-hidden": "true", class: "series title", style: `--c: ${colour}` }, parent);
    make("path", { class: "mark", d: mark }, svg);
  }

  // The colours of parts of bars with their hatchings, as #hatch0 and so on.
  function drawHatches() {
    const defs = make("defs", {}, make("svg", { width: 0, height: 0, "aria-hidden": "true", class: "hatches" }, document.body));
    HATCHES.forEach((lines, place) => {
      const tile = make("pattern", { id: `hatch${place}`, width: 8, height: 8, patternUnits: "userSpaceOnUse" }, defs);
      make("rect", { width: 8, height: 8, style: `fill: var(--k${place})` }, tile);
      make("path", { d: lines || "M0 0", style: "stroke: var(--paper); stroke-width: 1.2; stroke-linecap: round; fill: none" }, tile);
    });
  }

  // --- a panel

  const isCurve = (series) => series.kind === "curve";
  const isJoined = (series) => isCurve(series) || series.kind === "marks";
  const keyOf = (series) => `${series.model} ${series.dash}`;
  // The curves, or marks, that stand side by side at a position.
  const sideBySide = (series) => [...new Set(series.filter(isJoined).map(keyOf))];
  const ownersOf = (chart) => models.filter((model) => chart.panels.some((panel) => panel.series.some((one) => isJoined(one) && one.model === model)));

  // Distance of curves side by side, so that those of the next position have the same.
  function stepOf(panel, scale, number) {
    const places = panel.ticks.map(([x]) => scale.x(x)).sort((a, b) => a - b);
    const gaps = places.slice(1).map((place, index) => place - places[index]);
    return Math.min(STEP, (gaps.length ? Math.min(...gaps) : 90) / Math.max(1, number + (panel.series.some((one) => one.kind === "marks") ? 1 : 0)));
  }

  // The models with a panel each, [null] if one panel shows all: lines of many models would cover one another.
  function panelsOf(chart) {
    const owners = ownersOf(chart), isStack = chart.panels.some((panel) => panel.series.some(isStacked));
    if (isStack || owners.length < 2) return [null];
    const isMany = owners.length > MOST_MODELS && chart.panels.some((panel) => panel.series.some(isCurve));
    const isTight = chart.panels.some((panel) => stepOf(panel, scaleOf(chart, panel, FULL, referenceColumns(panel)), sideBySide(panel.series).length) < LEAST);
    return isMany || isTight ? owners : [null];
  }

  function scaleOf(chart, panel, size, columns) {
    const xs = panel.ticks.map(([x]) => x), right = size.right + columns.width;
    const groups = panel.series.some((one) => one.kind === "marks") ? (size.width - size.left - right) / (2 * xs.length) : 0;
    const spare = panel.series.some(isStacked) ? size.bars : Math.max(size.spare, groups), span = Math.max(...xs) - Math.min(...xs) || 1;
    return {
      x: (x) => size.left + spare + (size.width - size.left - right - 2 * spare) * (xs.length > 1 ? (x - Math.min(...xs)) / span : 0.5),
      y: (y) => TOP + size.height * (1 - (y - chart.y[0]) / (chart.y[1] - chart.y[0])),
    };
  }

  // owner: the model whose panel it is, with the others in grey behind it; null for a panel of all models.
  function drawPanel(chart, panel, parent, owner, size) {
    const box = make("div", { class: "panel" }, parent), isSmall = size === SMALL;
    const heading = make("h4", {}, box);
    if (panel.series.some(isStacked)) markOf(panel.series.find(isStacked).model, heading);
    heading.append(owner ?? panel.title);
    const shown = panel.series.filter((one) => owner === null || one.model === owner || one.model === null);
    const columns = owner === null ? referenceColumns(panel) : { labels: [], width: 0, lines: 0, at: () => 0 };
    const xs = panel.ticks.map(([x]) => x), scale = scaleOf(chart, panel, size, columns), right = size.right + columns.width;
    const widths = panel.ticks.map(([, label]) => (label.length + 1) * CHARACTER);
    const overlap = xs.slice(1).some((x, index) => scale.x(x) - scale.x(xs[index]) < (widths[index] + widths[index + 1]) / 2);
    const turned = !isSmall && (overlap || widths.reduce((sum, one) => sum + one, 0) > size.width - size.left - right);
    const bottom = Math.max(turned ? 14 + (Math.max(...widths) - CHARACTER) * 0.7 : 22, 9 + 15 * columns.lines);
    const title = owner === null ? panel.title : `${panel.title}, ${owner}`;
    const svg = make("svg", {
      viewBox: `0 0 ${size.width} ${TOP + size.height + bottom}`, role: "img", tabindex: "0",
      "aria-label": `${chart.title}, ${title}: ${chart.y_label} by ${chart.x_label}. Arrow keys move from point to point.`,
    }, box);
    drawColumns(svg, columns);
    drawAxes(svg, chart, panel, scale, size, turned, isSmall && overlap ? widths : null);
    for (const series of panel.series.filter((one) => owner !== null && isCurve(one) && !shown.includes(one))) {
      const places = series.points.map((point) => ({ x: scale.x(point[0]), y: scale.y(point[2]), point }));
      make("path", { class: "behind", d: lineOf(places, series.gaps ?? []) }, svg);
    }
    const keys = sideBySide(shown), step = stepOf(panel, scale, keys.length);
    const stack = stackOf(panel, scale, xs);
    const drawn = shown.map((series) => {
      if (isPart(series)) return drawPart(svg, series, stack);
      const place = keys.indexOf(keyOf(series)), shift = place < 0 || series.kind === "reference" ? 0 : (place - (keys.length - 1) / 2) * step;
      return drawSeries(svg, series, { scale, size, owner, shift, zoom: Math.min(1, step / STEP) * (owner === null ? 1 : 0.85) }, xs, columns.at(series));
    });
    const tip = make("div", { class: "tip", role: "status", hidden: "" }, box);
    const view = { chart, panel, box, svg, tip, drawn, size, at: null };
    listen(view);
    views.push(view);
  }

  // Columns right of the positions, one per reference line, with the intervals of its models next to one another.
  function referenceColumns(panel) {
    const lines = panel.series.filter((series) => series.kind === "reference" && series.points[0][3] !== null);
    const labels = [...new Set(lines.map((series) => series.label))].map((label) => label.split(" "));
    const owners = [...new Set(lines.map((series) => series.model))];
    const longest = Math.max(0, ...labels.flat().map((word) => word.length));
    const each = Math.max(34, CHARACTER * longest + 6, STEP * owners.length + 6), width = each * labels.length;
    const middle = (index) => FULL.width - FULL.right - width + (index + 0.5) * each;
    return {
      labels, width, middle, lines: Math.max(0, ...labels.map((words) => words.length)),
      at: (series) => middle(labels.findIndex((words) => words.join(" ") === series.label)) + STEP * (owners.indexOf(series.model) - (owners.length - 1) / 2),
    };
  }

  function drawColumns(svg, { labels, width, middle }) {
    if (!labels.length) return;
    make("rect", { class: "shade", x: FULL.width - FULL.right - width, y: TOP, width, height: FULL.height }, svg);
    labels.forEach((words, index) => words.forEach((word, line) => {
      make("text", { x: middle(index), y: TOP + FULL.height + 16 + 15 * line, "text-anchor": "middle" }, svg, word);
    }));
  }

  // widths: of the labels of the horizontal axis if only those are written that do not touch, else null.
  function drawAxes(svg, chart, panel, scale, size, turned, widths) {
    const [low, high] = chart.y;
    const step = high - low > 0.5 ? 0.2 : high - low > 0.25 ? 0.1 : 0.05;
    for (let i = Math.ceil(low / step - 1e-9); i * step <= high + 1e-9; i++) {
      const y = scale.y(i * step);
      make("line", { class: "grid", x1: size.left, x2: size.width - size.right, y1: y, y2: y }, svg);
      make("text", { x: size.left - 6, y: y + 4, "text-anchor": "end" }, svg, String(Math.round(100 * i * step)));
    }
    let last = -Infinity;
    const end = panel.ticks.length - 1;
    panel.ticks.forEach(([x, label], index) => {
      const at = scale.x(x), y = TOP + size.height + 16;
      make("line", { class: "grid", x1: at, x2: at, y1: TOP + size.height, y2: TOP + size.height + 4 }, svg);
      const half = widths ? widths[index] / 2 : 0, isFree = index === end || at + half <= scale.x(panel.ticks[end][0]) - (widths?.[end] ?? 0) / 2;
      if (widths ? at - half < last && index < end || !isFree : at - last < 12) return;
      last = at + half;
      const turn = turned ? { "text-anchor": "end", transform: `rotate(-40 ${at} ${y - 4})`, x: at + 2 } : { "text-anchor": "middle", x: at };
      make("text", { y, ...turn }, svg, label);
    });
  }

  // A line through places, without a stroke across a gap.
  function lineOf(places, gaps) {
    const isCut = (index) => gaps.some((gap) => places[index - 1].point[0] < gap && gap < places[index].point[0]);
    return places.map(({ x, y }, index) => `${index && !isCut(index) ? "L" : "M"}${x} ${y}`).join("");
  }

  function drawSeries(svg, series, { scale, size, owner, shift, zoom }, xs, at) {
    const { colour, mark, dash } = look(series);
    const group = make("g", { class: `series ${series.kind}`, style: `--c: ${colour}` }, svg);
    if (series.kind === "reference") {
      const [, n, value, low, high] = series.points[0], y = scale.y(value), end = size.width - size.right;
      if (low !== null && owner !== null) {
        make("rect", { class: "band", x: size.left, y: scale.y(high), width: end - size.left, height: scale.y(low) - scale.y(high) }, group);
      }
      make("path", { class: "line", d: `M${size.left} ${y}H${end}`, "stroke-dasharray": dash }, group);
      if (low !== null && owner === null) {
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
      place.mark = make("path", { class: "mark", d: mark, transform: `translate(${place.x} ${place.y}) scale(${zoom})` }, group);
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
    const group = make("g", { class: "series part", style: `--c: url(#hatch${series.dash})` }, svg);
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
    const frame = view.svg.getBoundingClientRect(), zoom = view.size.width / frame.width;
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
    const zoom = frame.width / view.size.width, isRight = x > view.size.width / 2;
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

  function drawLegend(chart, parent, isSplit) {
    const legend = make("div", { class: "legend", role: "group", "aria-label": "Legend" }, parent);
    const entries = new Map();
    const all = chart.panels.flatMap((panel) => panel.series);
    const several = all.some((one) => isCurve(one) && one.model !== null && one.label) ? "several" : "";
    // The panels of single models name them.
    for (const series of all.filter((one) => !isStacked(one) && one.model !== null && !isSplit)) {
      entries.set(`model ${series.model}`, { text: series.model, series: { ...series, kind: "curve", dash: 0, label: several }, mark: true });
    }
    for (const series of all.filter((one) => !isStacked(one))) {
      if (series.label) entries.set(`label ${series.label}`, { text: legendText(chart, series), series: { ...series, model: null }, mark: false });
    }
    for (const [key, entry] of entries) legend.append(legendButton(key, entry));
    for (const [label, series] of new Map(all.filter(isPart).map((one) => [one.label, one]))) {
      const entry = make("span", { class: "part" }, legend), sample = make("svg", { class: "sample", viewBox: "0 0 30 12", "aria-hidden": "true" }, entry);
      make("rect", { width: 30, height: 12, style: `fill: url(#hatch${series.dash})` }, sample);
      entry.append(label);
    }
    if (isSplit) {
      const entry = make("span", { class: "part" }, legend);
      make("path", { class: "behind", d: "M0 6H30" }, make("svg", { viewBox: "0 0 30 12", "aria-hidden": "true" }, entry));
      entry.append("the other models");
    }
    const ofModels = [...entries.keys()].filter((key) => key.startsWith("model "));
    legend.classList.toggle("many", ofModels.length > MOST_MODELS);
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

  drawHatches();
  for (const chart of charts) {
    const parent = document.querySelector(`[data-chart="${CSS.escape(chart.name)}"]`);
    const cut = chart.y[0] > 0 ? `; the vertical axis begins at ${Math.round(100 * chart.y[0])} %, not at 0` : "";
    make("p", { class: "axes" }, parent, `${chart.y_label} by ${chart.x_label.charAt(0).toLowerCase()}${chart.x_label.slice(1)}${cut}`);
    const owners = panelsOf(chart), isSplit = owners[0] !== null;
    const isStack = chart.panels.some((panel) => panel.series.some(isStacked));
    const ofModels = new Set(chart.panels.flatMap((panel) => panel.series.map((one) => one.model)).filter((model) => model !== null)).size;
    const isMany = isSplit || (isStack && ofModels > MOST_MODELS), kind = isMany ? "panels many" : isStack ? "panels stacked" : "panels";
    let panels = isSplit ? null : make("div", { class: kind }, parent);
    for (const panel of chart.panels) {
      if (isSplit) {
        if (panel.title) make("h4", { class: "size" }, parent, panel.title);
        panels = make("div", { class: kind }, parent);
      }
      for (const owner of owners) drawPanel(chart, panel, panels, owner, isMany ? SMALL : FULL);
    }
    drawLegend(chart, parent, isSplit);
  }
  addEventListener("beforeprint", () => document.querySelectorAll("#statistics details, #claims details").forEach((one) => (one.open = true)));
})();
