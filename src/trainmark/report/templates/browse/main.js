// The page as a whole: one state, shown by the table, the filters and the chart.

const FILTERS = ["q", "chosen", "flags", "min", "max", "sort", "descending"];
const TYPING_MS = 150;

class App {
  constructor(facts, look) {
    this.facts = facts;
    this.state = fromFragment(location.hash.slice(1), facts);
    this.facets = new Facets(this);
    this.table = new ResultTable(this);
    this.detail = new Detail(this);
    this.chart = new Chart(this, look);
    this.listen();
  }

  listen() {
    let waiting = 0;
    byId("q").addEventListener("input", () => {
      clearTimeout(waiting);
      waiting = setTimeout(() => this.change({ q: byId("q").value.trim() }, { replace: true }), TYPING_MS);
    });
    for (const name of ["min", "max"]) {
      byId(name).addEventListener("change", () => {
        const text = byId(name).value;
        this.change({ [name]: /^[0-9]{1,9}$/.test(text) ? Number(text) : null });
      });
    }
    byId("csv").addEventListener("click", () => saveCsv(this));
    byId("search").addEventListener("submit", (event) => event.preventDefault());
    for (const type of ["popstate", "hashchange"]) {
      window.addEventListener(type, () => this.restore());
    }
    // The fragment is the state: a link within the page must not replace it.
    document.querySelectorAll("a[href^='#']").forEach((link) =>
      link.addEventListener("click", (event) => {
        event.preventDefault();
        byId(link.getAttribute("href").slice(1)).focus();
      }));
    // Folded where they stand above the results; beside them they have no handle to unfold them.
    const fold = () => { byId("filters").open = !NARROW.matches; };
    fold();
    NARROW.addEventListener("change", fold);
  }

  restore() {
    if (location.hash.slice(1) !== this.written) {
      this.state = fromFragment(location.hash.slice(1), this.facts);
      this.show();
    }
  }

  change(changes, { replace = false } = {}) {
    if (FILTERS.some((name) => name in changes)) {
      this.state.page = 1;
    }
    Object.assign(this.state, changes);
    const fragment = toFragment(this.state);
    if (fragment !== this.written) {
      history[replace ? "replaceState" : "pushState"](null, "", `#${fragment}`);
    }
    this.show();
  }

  clear() {
    const { q, chosen, flags, min, max } = emptyState();
    this.change({ q, chosen, flags, min, max });
  }

  // A result opened or closed leaves the rest alone, and the focus where it is.
  show() {
    this.written = toFragment(this.state);
    const asked = toFragment({ ...this.state, open: "" });
    if (asked !== this.drawn) {
      this.drawn = asked;
      this.draw();
    }
    this.detail.show();
  }

  draw({ resized = false } = {}) {
    const selected = selectRows(this.facts, this.state);
    this.sorted = sortRows(this.facts, selected.rows, this.state);
    this.facets.show(selected);
    showActive(this, byId("active"));
    for (const name of ["q", "min", "max"]) {
      const text = String(this.state[name] ?? "");
      if (byId(name).value.trim() !== text) {
        byId(name).value = text;
      }
    }
    this.table.show(this.sorted);
    this.say(this.counted());
    byId("mixed").hidden = new Set(this.sorted.map((row) => groupOf(this.facts, row))).size < 2;
    // The order of rows, the page and the columns do not concern the chart.
    const charted = toFragment({ ...this.state, open: "", sort: "", page: 1, columns: null });
    if (charted !== this.charted || resized) {
      this.charted = charted;
      this.chart.show(this.sorted);
    }
  }

  counted() {
    const own = this.sorted.filter((row) => this.facts.value("origin", row) === "own").length;
    const of = `${WHOLE.format(this.sorted.length)} of ${countOf(this.facts.size, "result")}`;
    return own > 0 ? `${of}, ${WHOLE.format(own)} of them own and unverified` : of;
  }

  say(text) {
    byId("count").textContent = text;
  }
}

async function start() {
  if (!("DecompressionStream" in window)) {
    byId("count").textContent = "This browser is too old for this page: it needs Firefox 113, Safari 16.4, Chrome or Edge 80, or a later one.";
    return;
  }
  const data = JSON.parse(await unpack("facts"));
  const app = new App(new Facts(data), data.look);
  app.show();
  document.documentElement.classList.add("ready");
  // First the table on the screen, then the chart.
  requestAnimationFrame(() => setTimeout(() => app.chart.load(), 0));
}

start();
