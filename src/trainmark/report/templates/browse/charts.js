// The chart above the table: follows the filters, one comparability group at a time.

class Chart {
  constructor(app, look) {
    this.app = app;
    this.look = look;
    this.box = byId("chart");
    this.library = null;
    this.waiting = false;
    this.tabs = Object.entries(CHARTS).map(([name, title]) => {
      const radio = element("input", { type: "radio", name: "chart", value: name, change: () => app.change({ chart: name }) });
      byId("chart-kinds").append(element("label", {}, radio, element("span", {}, title)));
      return radio;
    });
    this.select("chart-group", "group");
    this.select("chart-by", "by");
    this.select("chart-price", "price");
    fill(byId("chart-price"), Object.entries(PRICES), "list");
    fill(byId("chart-by"), COLOURED_BY.map((name) => [name, app.facts.column(name).title]), DEFAULT_COLOUR);
  }

  select(id, name) {
    byId(id).addEventListener("change", (event) => this.app.change({ [name]: event.target.value }));
  }

  // The library is most of the page: it is unpacked when the table already stands.
  async load() {
    const script = element("script");
    script.textContent = await unpack("library");
    document.head.append(script);
    this.library = window.Plotly;
    await this.drawNow();
    new ResizeObserver(() => this.resized()).observe(this.box);
    this.box.on("plotly_click", (event) => {
      const row = event.points[0].customdata;
      if (row !== undefined) {
        this.app.change({ open: this.app.facts.value("id", row) });
      }
    });
  }

  show(rows) {
    this.rows = rows;
    const { state } = this.app;
    this.tabs.forEach((radio) => { radio.checked = radio.value === state.chart; });
    this.groups = chartGroups(this.app.facts, rows);
    const names = this.groups.map(([name]) => name);
    this.group = names.includes(state.group) ? state.group : (names[0] ?? "");
    fill(byId("chart-group"), this.groups.map(([name, count]) => [name, `${name} (${WHOLE.format(count)})`]), this.group);
    byId("chart-by").value = state.by;
    byId("chart-price").parentElement.hidden = state.chart !== "price";
    byId("chart-by").parentElement.hidden = state.chart === "history";
    const drawing = this.drawing();
    byId("chart-price").value = this.price;
    byId("chart-note").textContent = this.note(drawing);
    this.box.setAttribute("aria-label", `${CHARTS[state.chart]}, ${this.group || "nothing to draw"}: ${countOf(drawing.drawn.length, "point")}; the same numbers are in the table below it`);
    this.figure = drawing.figure;
    const drawnNames = drawing.figure.data.filter((trace) => trace.showlegend !== false).length;
    this.box.style.height = NARROW.matches ? `${19 + 1.25 * drawnNames}rem` : "";
    this.draw();
  }

  drawing() {
    const { facts, state } = this.app;
    const rows = this.rows.filter((row) => isTimed(facts, row) && groupOf(facts, row) === this.group);
    this.timed = rows.length;
    this.price = state.price || knownPrice(facts, rows);
    if (state.chart === "price") {
      return priceFigure(facts, rows, state.by, this.look, this.price);
    }
    return state.chart === "history"
      ? historyFigure(facts, rows, this.look)
      : scalingFigure(facts, rows, state.by, this.look);
  }

  note({ drawn, lines, series }) {
    const { facts, state } = this.app;
    if (this.groups.length === 0) {
      return "Nothing to draw: no result that the filters leave has a time.";
    }
    const said = [];
    if (this.groups.length > 1) {
      said.push(`The filters leave results of ${this.groups.length} groups whose minutes do not compare; this chart shows one of them, ${this.group}.`);
    }
    if (state.chart === "history") {
      said.push("Each line is as many of the same accelerator: the best time of each round, whoever filed it.");
      if (series > MOST_LINES) {
        said.push(`The ${MOST_LINES} of ${series} with the most rounds are drawn; filter to see others.`);
      }
    } else if (drawn.length < this.timed) {
      const without = WHOLE.format(this.timed - drawn.length);
      said.push(state.chart === "price" ? `${without} of ${WHOLE.format(this.timed)} have no known price of this kind and are not drawn.` : `${without} without a number of accelerators are not drawn.`);
    }
    if (state.chart === "price") {
      said.push("Derived, not official; the basis of each price is in its tooltip and its details.");
    }
    if (lines && drawn.length > 0) {
      said.push(`Dotted lines: ${lines}.`);
    }
    if (drawn.some((row) => isOpen(facts, row))) {
      said.push("Hollow: open division.");
    }
    if (drawn.some((row) => isUnavailable(facts, row))) {
      said.push("With a dot: preview or research, not available when filed.");
    }
    if (this.rows.some((row) => facts.value("carried_over", row))) {
      said.push("Results that were carried over are drawn in their first round only.");
    }
    return said.join(" ");
  }

  // After the table is on the screen, and only the last of several quick changes.
  draw() {
    this.box.setAttribute("aria-busy", "true");
    if (this.library === null || this.waiting) {
      return;
    }
    this.waiting = true;
    requestAnimationFrame(() => setTimeout(() => this.drawNow(), 0));
  }

  async drawNow() {
    this.waiting = false;
    const { data, layout } = this.figure;
    // Plotly keeps the size that it has found first; here the box decides, and it follows the legend.
    this.size = this.boxSize();
    await this.library.react(this.box, data, { ...layout, ...this.size }, { displayModeBar: false, showTips: false });
    this.box.setAttribute("aria-busy", String(this.waiting));
  }

  boxSize() {
    return { width: this.box.clientWidth, height: this.box.clientHeight };
  }

  resized() {
    const { width, height } = this.boxSize();
    if (width !== this.size.width || height !== this.size.height) {
      this.draw();
    }
  }
}
