// Filters of the question sample: by verdicts on the answers, and by a text.
const questionFilters = (() => {
  "use strict";
  const responsesOf = (record) => record.cells.flatMap((cell) => cell.responses);
  const some = (is) => (record) => responsesOf(record).some(is);
  const scoredText = (response) => response.answer ?? response.text;

  function byModel(record) {
    const verdicts = new Map();
    for (const response of responsesOf(record)) {
      verdicts.set(response.model, [...(verdicts.get(response.model) ?? []), ...response.verdicts]);
    }
    return [...verdicts.values()].map((all) => all.filter((one) => one !== null)).filter((all) => all.length);
  }
  const someModel = (is) => (record) => byModel(record).some(is);

  const kinds = {
    all: () => true,
    mixed: someModel((all) => all.includes(true) && all.includes(false)),
    wrong: someModel((all) => !all.includes(true)),
    right: someModel((all) => !all.includes(false)),
    cut: some((response) => response.finish_reason === "length"),
    empty: some((response) => response.text !== null && !scoredText(response)?.trim()),
    taken: some((response) => Boolean(response.taken)),
    unscored: some((response) => response.verdicts.includes(null)),
  };

  function hasText(record, words) {
    const texts = record.cells.flatMap((cell) => [
      cell.question, ...cell.targets.flatMap((target) => target.answers), ...cell.responses.map((response) => response.text ?? ""),
    ]);
    return [record.id, ...texts].some((text) => text.toLowerCase().includes(words));
  }

  return {
    shown: (records, kind, words) => records.filter((record) => kinds[kind](record) && (!words || hasText(record, words))),
  };
})();
