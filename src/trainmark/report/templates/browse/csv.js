// What is shown, as a file: every row that the filters leave, in the shown order and columns.

// A spreadsheet takes a text that begins so for a formula; an apostrophe makes it a text.
const FORMULA = /^[=+\-@\t\r\uff1d\uff0b\uff0d\uff20]/;

function csvCell(column, row) {
  const value = column.value(row);
  if (value === null) {
    return "";
  }
  if (typeof value === "number") {
    return String(value);
  }
  if (typeof value === "boolean") {
    return value ? "yes" : "no";
  }
  const text = Array.isArray(value) ? value.join("; ") : value;
  return quoted(FORMULA.test(text) ? `'${text}` : text);
}

function quoted(text) {
  return /[",\n\r']/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
}

function csvText(facts, rows, columns) {
  // Whatever is shown, each row says what it is and how it stands.
  const needed = ["id", "label"].map((name) => facts.column(name));
  const all = [...columns, ...needed.filter((column) => !columns.includes(column))];
  const heading = all.map((column) => quoted(column.unit ? `${column.title} (${column.unit})` : column.title));
  const lines = rows.map((row) => all.map((column) => csvCell(column, row)).join(","));
  return `${[heading.join(","), ...lines].join("\r\n")}\r\n`;
}

function saveCsv(app) {
  const text = csvText(app.facts, app.sorted, shownColumns(app));
  const address = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
  const link = element("a", { href: address, download: "results.csv" });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
  app.say(`${countOf(app.sorted.length, "result")} written to results.csv`);
}
