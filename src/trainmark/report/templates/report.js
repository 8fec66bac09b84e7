"use strict";
(function () {
  const figures = JSON.parse(document.getElementById("figures").textContent);
  const charts = Object.keys(figures).map((name) => document.getElementById(name));

  function draw(chart) {
    const figure = figures[chart.id];
    return window.Plotly.newPlot(chart, figure.data, figure.layout, {
      displayModeBar: false,
      responsive: true,
      showTips: false,
    });
  }
  charts.forEach(draw);

  // Paper is narrower than a desktop window: charts are set to its size and back.
  const PAPER = { width: 660, height: 270, autosize: false };
  window.addEventListener("beforeprint", () => {
    charts.forEach((chart) => window.Plotly.relayout(chart, PAPER));
  });
  window.addEventListener("afterprint", () => {
    charts.forEach((chart) => window.Plotly.relayout(chart, { width: null, height: null, autosize: true }));
  });

  function key(row, column) {
    const text = row.cells[column].dataset.sort;
    const number = Number(text);
    return text !== "" && Number.isFinite(number) ? number : text;
  }

  function compare(a, b) {
    if (a === "" || b === "") {
      return a === b ? 0 : a === "" ? 1 : -1;
    }
    if (typeof a === "number" && typeof b === "number") {
      return a - b;
    }
    return String(a).localeCompare(String(b), "en", { numeric: true });
  }

  function sort(table, column, heading) {
    const descending = heading.getAttribute("aria-sort") === "ascending";
    const body = table.tBodies[0];
    const rows = Array.from(body.rows, (row) => ({ row, key: key(row, column) }));
    rows.sort((a, b) => {
      const order = compare(a.key, b.key);
      const empty = a.key === "" || b.key === "";
      return descending && !empty ? -order : order;
    });
    table.querySelectorAll("th").forEach((other) => other.removeAttribute("aria-sort"));
    heading.setAttribute("aria-sort", descending ? "descending" : "ascending");
    body.append(...rows.map((one) => one.row));
  }

  document.querySelectorAll("table.sortable").forEach((table) => {
    table.querySelectorAll("th").forEach((heading, column) => {
      heading.querySelector("button").addEventListener("click", () => sort(table, column, heading));
    });
  });
})();
