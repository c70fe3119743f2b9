"use strict";
// Choose a heading of a table to sort by it; choose it again for the other direction.
for (const table of document.querySelectorAll("table.sortable")) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, j) => head.querySelector("button").addEventListener("click", () => {
    const up = head.getAttribute("aria-sort") !== "ascending";
    heads.forEach((other) => other.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", up ? "ascending" : "descending");
    const text = head.classList.contains("name");
    const key = (row) => {
      const value = row.cells[j].dataset.value ?? "";
      return text ? value : value === "" ? NaN : Number(value);
    };
    const compare = (a, b) => {
      const [p, q] = [key(a), key(b)];
      if (text) return p.localeCompare(q, "en", { numeric: true });
      if (Number.isNaN(p) || Number.isNaN(q)) return Number.isNaN(p) - Number.isNaN(q);
      return p < q ? -1 : p > q ? 1 : 0;
    };
    const rows = [...table.tBodies[0].rows];
    table.tBodies[0].append(...rows.sort((a, b) => (up ? compare(a, b) : compare(b, a))));
  }));
}
