// Buttons that save tables of #files as CSV or LaTeX.
(() => {
  "use strict";
  const source = document.getElementById("files");
  let files = null;
  const leftOut = new Set(source.dataset.leftOut.split(" "));

  async function save(name) {
    files ??= unpackedJson(source.textContent);
    const url = URL.createObjectURL(new Blob([(await files)[name]], { type: "text/plain" }));
    const link = document.createElement("a");
    Object.assign(link, { href: url, download: name });
    link.click();
    setTimeout(() => URL.revokeObjectURL(url), 1000);
  }

  for (const button of document.querySelectorAll("[data-file]")) {
    if (leftOut.has(button.dataset.file)) button.remove();
    else button.addEventListener("click", () => save(button.dataset.file));
  }
  for (const one of document.querySelectorAll(".files")) one.hidden = false;
})();
