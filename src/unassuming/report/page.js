"use strict";
// Click the heading of a table to sort by it; click it again for the other direction.
const value = (cell) => {
  const text = cell.textContent.replace("<=", "").trim();
  if (text === "inf" || text === "-inf") return text === "inf" ? Infinity : -Infinity;
  return text === "" || text === "nan" ? NaN : Number(text.replaceAll(",", ""));
};
for (const table of document.querySelectorAll("table")) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, j) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = head.textContent;
    head.replaceChildren(button);
    button.addEventListener("click", () => {
      const up = head.getAttribute("aria-sort") !== "ascending";
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
      const rows = [...table.tBodies[0].rows];
      const words = rows.every((row) => Number.isNaN(value(row.cells[j])));
      const compare = (a, b) => {
        if (words) return a.cells[j].textContent.localeCompare(b.cells[j].textContent, "en", { numeric: true });
        const [p, q] = [value(a.cells[j]), value(b.cells[j])];
        if (Number.isNaN(p) || Number.isNaN(q)) return Number.isNaN(p) - Number.isNaN(q);
        return p < q ? -1 : p > q ? 1 : 0;
      };
      table.tBodies[0].append(...rows.sort((a, b) => (up ? compare(a, b) : compare(b, a))));
    });
  });
}
