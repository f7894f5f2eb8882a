// Shows a question of the sample at each position. The records are described in scripts/litm/report/question_samples.py.
(() => {
  "use strict";
  const section = document.getElementById("question-samples");
  if (!section) return;
  const part = (name) => document.getElementById(`sample-${name}`);
  const loaded = new Map();
  const UNSCORED = { overflow: "does not fit", failed: "no answer came", not_recorded: "not recorded" };
  const state = { records: [], shown: [], record: null, cell: 0, model: null };

  function make(name, parent, text = "", className = "") {
    const element = document.createElement(name);
    if (text) element.textContent = text;
    if (className) element.className = className;
    parent?.append(element);
    return element;
  }

  async function unpack(experiment) {
    const packed = document.querySelector(`script.packed[data-experiment="${CSS.escape(experiment)}"]`).textContent;
    const bytes = Uint8Array.from(atob(packed), (character) => character.charCodeAt(0));
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
  }

  function recordsOf(experiment) {
    if (!loaded.has(experiment)) loaded.set(experiment, unpack(experiment));
    return loaded.get(experiment);
  }

  // --- words

  function ordinal(number) {
    const teen = number % 100 >= 11 && number % 100 <= 13;
    return number + (teen ? "th" : ({ 1: "st", 2: "nd", 3: "rd" }[number % 10] ?? "th"));
  }

  function placeOf(cell) {
    const positions = cell.targets.map((target) => target.position).filter((position) => position !== null);
    return positions.length ? positions.map((position) => ordinal(position + 1)).join(", ") : cell.placement.replaceAll("_", " ");
  }

  // [mark, words, class] of a response.
  function verdict(response) {
    if (!response) return ["", "not asked", ""];
    const right = response.verdicts.filter((one) => one === true).length;
    const wrong = response.verdicts.filter((one) => one === false).length;
    if (!right && !wrong) return ["–", UNSCORED[response.finish_reason] ?? "not scored", ""];
    const left = response.excluded ? ", left out of the counts" : "";
    if (response.verdicts.length > 1) return [`${right}/${right + wrong}`, `${right} of ${right + wrong} right${left}`, wrong ? "wrong" : "right"];
    return right ? ["✓", `right${left}`, "right"] : ["✗", `wrong${left}`, "wrong"];
  }

  function isMixed(record) {
    const byModel = new Map();
    for (const response of record.cells.flatMap((cell) => cell.responses)) {
      byModel.set(response.model, [...(byModel.get(response.model) ?? []), ...response.verdicts]);
    }
    return [...byModel.values()].some((verdicts) => verdicts.includes(true) && verdicts.includes(false));
  }

  // --- choosing

  function fill(select, options) {
    const before = select.value;
    select.replaceChildren(...options.map(([value, text]) => new Option(text, value)));
    if (options.some(([value]) => String(value) === before)) select.value = before;
  }

  async function chooseExperiment() {
    const experiment = part("experiment").value;
    try {
      const records = await recordsOf(experiment);
      // Another experiment may have been chosen while this one was unpacked.
      if (experiment !== part("experiment").value) return;
      state.records = records;
    } catch (error) {
      part("count").textContent = `The questions cannot be read (${error.message}): this needs a browser of 2023 or later.`;
      return;
    }
    const sizes = [...new Set(state.records.map((record) => record.size))];
    fill(part("size"), sizes.map((size) => [size, size]));
    chooseSize();
  }

  function chooseSize() {
    const ofSize = state.records.filter((record) => record.size === Number(part("size").value));
    state.shown = part("filter").value === "mixed" ? ofSize.filter(isMixed) : ofSize;
    fill(part("question"), state.shown.map((record, index) => [record.id, `${index + 1}. ${record.cells[0].question}`]));
    part("count").textContent = `${state.shown.length} of the ${ofSize.length} questions in the sample.`;
    chooseQuestion();
  }

  function chooseQuestion() {
    const index = state.shown.findIndex((record) => record.id === part("question").value);
    state.record = state.shown[index] ?? null;
    part("previous").disabled = index <= 0;
    part("next").disabled = index < 0 || index === state.shown.length - 1;
    if (state.record) state.cell = Math.min(state.cell, state.record.cells.length - 1);
    show();
  }

  function stepQuestion(by) {
    const index = state.shown.indexOf(state.record) + by;
    part("question").value = state.shown[index].id;
    chooseQuestion();
  }

  // --- showing

  function show() {
    for (const name of ["verdicts", "facts", "prompt", "answers"]) part(name).replaceChildren();
    part("prompt-title").textContent = "Prompt";
    if (!state.record) return;
    showVerdicts();
    showPrompt(state.record.cells[state.cell]);
    showAnswers(state.record.cells[state.cell]);
  }

  function showVerdicts() {
    const { cells } = state.record;
    const head = make("tr", make("thead", part("verdicts")));
    make("th", head, "Model").scope = "col";
    cells.forEach((cell, index) => {
      const title = make("th", head, placeOf(cell));
      title.scope = "col";
      if (index === state.cell) title.setAttribute("aria-current", "true");
    });
    const body = make("tbody", part("verdicts"));
    for (const model of new Set(cells.flatMap((cell) => cell.responses.map((response) => response.model)))) {
      const row = make("tr", body);
      make("th", row, model).scope = "row";
      cells.forEach((cell, index) => {
        const [mark, words, className] = verdict(cell.responses.find((response) => response.model === model));
        const button = make("button", make("td", row), mark, className);
        button.type = "button";
        button.title = `${model}, ${placeOf(cell)}: ${words}`;
        button.setAttribute("aria-label", button.title);
        button.setAttribute("aria-pressed", String(index === state.cell && model === state.model));
        button.addEventListener("click", () => choose(index, model));
      });
    }
  }

  function choose(index, model) {
    Object.assign(state, { cell: index, model });
    show();
    part("verdicts").querySelector('[aria-pressed="true"]').focus();
  }

  function showPrompt(cell) {
    const text = cell.prompt.map((piece) => state.record.pieces[piece]).join("");
    const spans = cell.targets.map((target) => target.span).filter(Boolean).sort((a, b) => a[0] - b[0]);
    part("prompt-title").textContent = spans.length ? `Prompt, with the answer in the ${placeOf(cell)} item` : `Prompt, ${placeOf(cell)}`;
    for (const target of cell.targets) {
      make("div", part("facts"), `${cell.targets.length > 1 ? `${target.name}: ` : ""}counts as right: ${target.answers.join(" or ")}`);
    }
    let end = 0;
    for (const span of spans) {
      part("prompt").append(text.slice(end, span[0]));
      make("mark", part("prompt"), text.slice(...span));
      end = span[1];
    }
    part("prompt").append(text.slice(end));
    const first = part("prompt").querySelector("mark");
    part("prompt").scrollTop = first ? first.offsetTop - part("prompt").clientHeight / 3 : 0;
  }

  function showAnswers(cell) {
    for (const response of cell.responses) {
      const [, words, className] = verdict(response);
      const answer = make("div", part("answers"), "", `answer${response.model === state.model ? " chosen" : ""}`);
      const title = make("h4", answer, `${response.model}: `);
      make("span", title, words, className);
      if (response.finish_reason === "length") make("span", title, ", cut at the limit", "soft");
      if (response.text !== null) make("pre", answer, response.text || "(empty)");
      if ("answer" in response) {
        make("div", answer, "Scored is what comes after the reasoning:", "note");
        make("pre", answer, response.answer || "(empty)");
      }
    }
  }

  part("experiment").addEventListener("change", chooseExperiment);
  part("size").addEventListener("change", chooseSize);
  part("filter").addEventListener("change", chooseSize);
  part("question").addEventListener("change", chooseQuestion);
  part("previous").addEventListener("click", () => stepQuestion(-1));
  part("next").addEventListener("click", () => stepQuestion(1));
  section.hidden = false;
  chooseExperiment();
})();
