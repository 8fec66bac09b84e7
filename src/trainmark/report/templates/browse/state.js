// What is asked for, and the same as the fragment of the page's address and back.

const FLAGS = [
  ["priced", "List price known", (facts, row) => facts.value("list_price_usd", row) !== null],
  ["cloud", "Cloud price known", (facts, row) => facts.value("run_cost_usd", row) !== null],
  ["power", "Power measured", (facts, row) => facts.value("energy_joules", row) !== null],
  ["doubtless", "Without doubts", (facts, row) => facts.value("doubts", row).length === 0],
  ["fresh", "Hide carried over", (facts, row) => !facts.value("carried_over", row)],
];

const CHARTS = { scaling: "Time against accelerators", price: "Time against price", history: "History by round" };
const PRICES = { list: "List price of the system", cloud: "Cloud cost of a run" };

const DEFAULT_COLOUR = "architecture";

function emptyState() {
  return {
    q: "",
    chosen: new Map(),
    flags: new Set(),
    min: null,
    max: null,
    sort: "",
    descending: false,
    columns: null,
    page: 1,
    open: "",
    chart: "scaling",
    by: DEFAULT_COLOUR,
    group: "",
    price: "", // the kind that the results have
  };
}

function toFragment(state) {
  const parts = new URLSearchParams();
  const put = (name, value) => value !== "" && value !== null && parts.append(name, value);
  put("q", state.q);
  for (const [name, values] of state.chosen) {
    for (const value of values) {
      parts.append(name, value);
    }
  }
  put("min", state.min);
  put("max", state.max);
  for (const flag of state.flags) {
    parts.append("only", flag);
  }
  if (state.sort) {
    put("sort", (state.descending ? "-" : "") + state.sort);
  }
  put("columns", state.columns === null ? "" : state.columns.join(" "));
  put("page", state.page > 1 ? state.page : "");
  put("open", state.open);
  put("chart", state.chart === "scaling" ? "" : state.chart);
  put("by", state.by === DEFAULT_COLOUR ? "" : state.by);
  put("group", state.group);
  put("price", state.price);
  return parts.toString();
}

// A fragment may be written by anybody: what is not known to the page is left out.
function fromFragment(fragment, facts) {
  const state = emptyState();
  const parts = new URLSearchParams(fragment);
  const whole = (name) => {
    const text = parts.get(name) ?? "";
    return /^[0-9]{1,9}$/.test(text) ? Number(text) : null;
  };
  const among = (name, known) => {
    const text = parts.get(name) ?? "";
    return Object.hasOwn(known, text) ? text : state[name];
  };
  state.q = parts.get("q") ?? "";
  for (const column of facts.facets) {
    const values = parts.getAll(facetKey(column));
    if (values.length > 0) {
      state.chosen.set(facetKey(column), new Set(values));
    }
  }
  const flags = new Set(FLAGS.map(([name]) => name));
  state.flags = new Set(parts.getAll("only").filter((name) => flags.has(name)));
  state.min = whole("min");
  state.max = whole("max");
  const sort = (parts.get("sort") ?? "").replace(/^-/, "");
  if (facts.byName.get(sort)?.listed) {
    state.sort = sort;
    state.descending = parts.get("sort").startsWith("-");
  }
  if (parts.has("columns")) {
    const names = parts.get("columns").split(" ");
    const listed = facts.listed.map((column) => column.name).filter((name) => names.includes(name));
    state.columns = listed.length > 0 ? listed : null;
  }
  state.page = Math.max(1, whole("page") ?? 1);
  const open = parts.get("open") ?? "";
  state.open = facts.rowOfId.has(open) ? open : "";
  state.chart = among("chart", CHARTS);
  state.price = among("price", PRICES);
  const by = parts.get("by") ?? "";
  state.by = COLOURED_BY.includes(by) ? by : state.by;
  state.group = parts.get("group") ?? "";
  return state;
}

// The chart's own group stands beside the filter of the same column.
function facetKey(column) {
  return column.name === "group" ? "comparable" : column.name;
}
