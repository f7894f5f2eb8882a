// Shows a question of the sample at each position. The records are described in scripts/litm/report/question_samples.py.
(() => {
  "use strict";
  const section = document.getElementById("question-samples");
  if (!section) return;
  const part = (name) => document.getElementById(`sample-${name}`);
  const loaded = new Map();
  const UNSCORED = { overflow: "does not fit", failed: "no answer came", not_recorded: "not recorded" };
  const formats = JSON.parse(document.getElementById("formats").textContent);
  const state = { records: [], shown: [], record: null, cell: 0, model: null };

  function make(name, parent, text = "", className = "") {
    const element = document.createElement(name);
    if (text) element.textContent = text;
    if (className) element.className = className;
    parent?.append(element);
    return element;
  }

  function recordsOf(experiment) {
    const packed = document.querySelector(`script.packed[data-experiment="${CSS.escape(experiment)}"]`);
    if (!loaded.has(experiment)) loaded.set(experiment, unpackedJson(packed.textContent));
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
    const graded = response.verdicts.find((one) => typeof one === "number");
    if (graded !== undefined) return [graded.toFixed(2), `score ${graded.toFixed(2)}${response.excluded ? ", left out of the counts" : ""}`, "right"];
    if (!right && !wrong) return ["–", UNSCORED[response.finish_reason] ?? "not scored", ""];
    const left = response.excluded ? ", left out of the counts" : "";
    if (response.verdicts.length > 1) return [`${right}/${right + wrong}`, `${right} of ${right + wrong} right${left}`, wrong ? "wrong" : "right"];
    return right ? ["✓", `right${left}`, "right"] : ["✗", `wrong${left}`, "wrong"];
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
      // The user may have chosen another experiment while this one was unpacked.
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
    state.shown = questionFilters.shown(ofSize, part("filter").value, part("search").value.trim().toLowerCase());
    fill(part("question"), state.shown.map((record, index) => [record.id, `${index + 1}. ${labelOf(record)}`]));
    part("count").textContent = `${state.shown.length} of the ${ofSize.length} questions in the sample.`;
    chooseQuestion();
  }

  // Questions with equal texts are distinguished by their answers.
  function labelOf(record) {
    const [cell] = record.cells;
    const isAlike = state.shown.filter((other) => other.cells[0].question === cell.question).length > 1;
    return isAlike ? `${cell.question} (${cell.targets[0].answers[0]})` : cell.question;
  }

  function chooseQuestion() {
    const index = state.shown.findIndex((record) => record.id === part("question").value);
    state.record = state.shown[index] ?? null;
    part("previous").disabled = index <= 0;
    part("next").disabled = index < 0 || index === state.shown.length - 1;
    if (state.record) state.cell = Math.min(state.cell, state.record.cells.length - 1);
    show();
  }

  // --- links: #question=experiment/size/id, and /placement if one was chosen

  function linkOf(record, cell) {
    return `#question=${[part("experiment").value, record.size, record.id, cell.placement].map(encodeURIComponent).join("/")}`;
  }

  async function openLink() {
    if (!location.hash.startsWith("#question=")) return false;
    const [experiment, size, id, placement] = location.hash.slice("#question=".length).split("/").map(decodeURIComponent);
    if (![...part("experiment").options].some((option) => option.value === experiment)) return false;
    part("experiment").value = experiment;
    Object.assign(part("filter"), { value: "all" });
    part("search").value = "";
    await chooseExperiment();
    part("size").value = size;
    chooseSize();
    const record = state.shown.find((one) => one.id === id);
    if (!record) {
      part("count").textContent = `The question ${id} is not in the sample of ${experiment}, size ${size}.`;
    } else {
      part("question").value = id;
      state.cell = Math.max(0, record.cells.findIndex((cell) => cell.placement === placement));
      chooseQuestion();
    }
    document.getElementById("questions").scrollIntoView();
    return true;
  }

  // The address of the user's choice.
  const chosen = (choosing) => async () => {
    await choosing();
    if (state.record) history.replaceState(null, "", part("link").getAttribute("href"));
  };

  function stepQuestion(by) {
    const index = state.shown.indexOf(state.record) + by;
    part("question").value = state.shown[index].id;
    chooseQuestion();
  }

  // --- showing

  function show() {
    for (const name of ["verdicts", "facts", "prompt", "answers"]) part(name).replaceChildren();
    part("prompt-title").textContent = "Prompt";
    part("link").hidden = !state.record;
    if (!state.record) return;
    const cell = state.record.cells[state.cell];
    const models = cell.responses.map((response) => response.model);
    if (!models.includes(state.model)) state.model = models[0] ?? null;
    part("link").href = linkOf(state.record, cell);
    showVerdicts();
    showPrompt(cell);
    showAnswers(cell);
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
    chosen(show)();
    part("verdicts").querySelector('[aria-pressed="true"]').focus();
  }

  function showPrompt(cell) {
    const text = cell.prompt.map((piece) => state.record.pieces[piece]).join("");
    const spans = cell.targets.map((target) => target.span).filter(Boolean).sort((a, b) => a[0] - b[0]);
    part("prompt-title").textContent = spans.length ? `Prompt, with the answer in the ${placeOf(cell)} item` : `Prompt, ${placeOf(cell)}`;
    for (const target of cell.targets) {
      make("div", part("facts"), `${cell.targets.length > 1 ? `${target.name}: ` : ""}counts as right: ${target.answers.join(" or ")}`);
    }
    const response = cell.responses.find((one) => one.model === state.model);
    const taken = response?.taken?.span ? [response.taken.span] : [];
    const [before, after] = frameOf(cell);
    if (before) make("span", part("prompt"), before, "frame");
    let end = 0;
    for (const span of [...spans, ...taken].sort((a, b) => a[0] - b[0])) {
      part("prompt").append(text.slice(end, span[0]));
      const mark = make("mark", part("prompt"), text.slice(...span), taken.includes(span) ? "taken" : "");
      if (taken.includes(span)) mark.title = `the answer of ${state.model} was taken from this item`;
      end = span[1];
    }
    part("prompt").append(text.slice(end));
    if (after) make("span", part("prompt"), after, "frame");
    const first = part("prompt").querySelector("mark");
    part("prompt").scrollTop = first ? first.offsetTop - part("prompt").clientHeight / 3 : 0;
  }

  // The texts that a model's prompt format adds before and after the prompt, if chosen and known.
  function frameOf(cell) {
    const format = formats[state.model], isExact = part("exact").checked;
    part("exact-model").textContent = state.model ?? "the model";
    part("format").hidden = !isExact;
    if (!isExact) return ["", ""];
    if (!format) part("format").textContent = "The prompt format is not known: the text below is what is sent or was recorded, and a server may add a format of its own.";
    else if (cell.is_chat && format.prompt_template === "chat") part("format").textContent = "The prompt is sent as messages in the model's chat template; below is their transcript. results/examples has the messages.";
    else {
      const special = format.special ? ` The tokenizer puts ${format.special} before it.` : "";
      part("format").textContent = `Prompt format: ${format.prompt_template}.${special}${format.strips ? " Spaces at both ends of the prompt are dropped." : ""}`;
      return [format.before, format.after];
    }
    return ["", ""];
  }

  function showAnswers(cell) {
    for (const response of cell.responses) {
      const [, words, className] = verdict(response);
      const answer = make("div", part("answers"), "", `answer${response.model === state.model ? " chosen" : ""}`);
      const title = make("h4", answer, `${response.model}: `);
      make("span", title, words, className);
      if (response.finish_reason === "length") make("span", title, ", cut at the limit", "soft");
      if (response.taken) make("span", title, `, taken from the ${ordinal(response.taken.position + 1)} item, a distractor`, "soft");
      if (response.text !== null) make("pre", answer, response.text || "(empty)");
      if ("answer" in response) {
        make("div", answer, "Scored is what comes after the reasoning:", "note");
        make("pre", answer, response.answer || "(empty)");
      }
    }
  }

  part("experiment").addEventListener("change", chosen(chooseExperiment));
  part("size").addEventListener("change", chosen(chooseSize));
  part("filter").addEventListener("change", chosen(chooseSize));
  part("search").addEventListener("input", chooseSize);
  part("question").addEventListener("change", chosen(chooseQuestion));
  part("previous").addEventListener("click", chosen(() => stepQuestion(-1)));
  part("next").addEventListener("click", chosen(() => stepQuestion(1)));
  part("exact").addEventListener("change", show);
  addEventListener("hashchange", openLink);
  section.hidden = false;
  openLink().then((isOpened) => isOpened || chooseExperiment());
})();
