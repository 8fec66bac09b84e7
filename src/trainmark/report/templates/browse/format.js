// Numbers and names as people read them.

// browse.css has the same width.
const NARROW = window.matchMedia("(max-width: 60rem)");

function decimals(least, most) {
  return new Intl.NumberFormat("en", { minimumFractionDigits: least, maximumFractionDigits: most });
}

const WHOLE = decimals(0, 0);
const FORMATS = {
  count: (value) => (Number.isInteger(value) || Math.abs(value) >= 1000 ? WHOLE.format(value) : SIGNIFICANT.format(value)),
  minutes: (value) => MINUTES[value >= 1000 ? 1 : value >= 100 ? 2 : 3].format(value),
  money: (value) => (Math.abs(value) >= 1000 ? WHOLE : CENTS).format(value),
  number: (value) => SIGNIFICANT.format(value),
};
const MINUTES = { 1: decimals(1, 1), 2: decimals(2, 2), 3: decimals(3, 3) };
const CENTS = decimals(2, 2);
const SIGNIFICANT = new Intl.NumberFormat("en", { maximumSignificantDigits: 4 });

const NOTHING = "\u2013";

function shown(column, row) {
  const value = column.value(row);
  if (value === null || value === "") {
    return NOTHING;
  }
  if (column.isNumber) {
    return FORMATS[column.form](value);
  }
  if (column.kind === "flags") {
    return value ? "yes" : "no";
  }
  return Array.isArray(value) ? value.join("; ") : value;
}

// A facet's value as its list shows it.
function valueName(value) {
  return value === "" ? "none" : value;
}

function countOf(number, noun) {
  return `${WHOLE.format(number)} ${noun}${number === 1 ? "" : "s"}`;
}

// Plotly draws what looks like markup as markup.
function literal(text) {
  return String(text).replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
}
