// Columns of tables are sorted by a button in their heads; missing values stay last, equal ones keep their order.
(() => {
  "use strict";
  for (const table of document.querySelectorAll("figure table")) {
    const heads = [...table.tHead.rows[0].cells];
    const body = table.tBodies[0];
    heads.forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = head.textContent;
      head.replaceChildren(button);
      const isText = head.classList.contains("text");
      button.addEventListener("click", () => {
        // Names ascend first, numbers descend first.
        const first = isText ? "ascending" : "descending";
        const second = isText ? "descending" : "ascending";
        const order = head.getAttribute("aria-sort") === first ? second : first;
        for (const one of heads) one.removeAttribute("aria-sort");
        head.setAttribute("aria-sort", order);
        const sign = order === "ascending" ? 1 : -1;
        const key = (row) => row.cells[column].dataset.sort;
        const compare = (a, b) => (isText ? a.localeCompare(b, "en", { numeric: true }) : a - b);
        const rows = [...body.rows].sort((a, b) =>
          key(a) === "" || key(b) === "" ? (key(a) === "") - (key(b) === "") : sign * compare(key(a), key(b)));
        body.append(...rows);
      });
    });
  }
})();
