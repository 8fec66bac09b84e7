// The table of results: one page of rows at a time, sortable, its columns chosen by the reader.

const PAGE_ROWS = 50;

function shownColumns(app) {
  const names = app.state.columns;
  return app.facts.listed.filter((column) =>
    names === null ? (NARROW.matches ? column.narrow : column.shown) : names.includes(column.name),
  );
}

class ResultTable {
  constructor(app) {
    this.app = app;
    this.head = byId("head");
    this.body = byId("body");
    this.drawn = "";
    byId("previous").addEventListener("click", () => this.turn(-1));
    byId("next").addEventListener("click", () => this.turn(1));
    NARROW.addEventListener("change", () => app.draw({ resized: true }));
    this.chooser();
  }

  chooser() {
    this.boxes = this.app.facts.listed.map((column) => {
      const box = element("input", { type: "checkbox", change: () => this.choose() });
      byId("columns").append(element("li", {}, element("label", {}, box, element("span", { class: "value" }, column.title))));
      return { column, box };
    });
    const panel = byId("columns").closest("details");
    panel.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && panel.open) {
        panel.open = false;
        panel.querySelector("summary").focus();
      }
    });
    byId("usual").addEventListener("click", () => this.app.change({ columns: null }));
  }

  choose() {
    const columns = this.boxes.filter(({ box }) => box.checked).map(({ column }) => column.name);
    this.app.change({ columns: columns.length > 0 ? columns : null });
  }

  turn(step) {
    this.app.change({ page: this.page + step });
    byId("results").scrollIntoView({ block: "start" });
  }

  show(rows) {
    const columns = shownColumns(this.app);
    for (const { column, box } of this.boxes) {
      box.checked = columns.includes(column);
    }
    this.showHead(columns);
    const pages = Math.max(1, Math.ceil(rows.length / PAGE_ROWS));
    this.page = Math.min(this.app.state.page, pages);
    const first = (this.page - 1) * PAGE_ROWS;
    const part = rows.slice(first, first + PAGE_ROWS);
    this.body.replaceChildren(...part.map((row) => this.row(columns, row)));
    byId("where").textContent = rows.length === 0
      ? "No result matches all of the filters. Remove one of them."
      : `${WHOLE.format(first + 1)} to ${WHOLE.format(first + part.length)} of ${WHOLE.format(rows.length)}`;
    byId("previous").disabled = this.page === 1;
    byId("next").disabled = this.page === pages;
  }

  // Rebuilt only for other columns, so that the heading that was pressed keeps the focus.
  showHead(columns) {
    const names = columns.map((column) => column.name).join(" ");
    if (names !== this.drawn) {
      this.drawn = names;
      this.head.replaceChildren(...columns.map((column) => this.heading(column)));
    }
    const { sort, descending } = this.app.state;
    columns.forEach((column, i) => {
      const cell = this.head.cells[i];
      if (column.name === sort) {
        cell.setAttribute("aria-sort", descending ? "descending" : "ascending");
      } else {
        cell.removeAttribute("aria-sort");
      }
    });
  }

  heading(column) {
    const sort = () => {
      const again = this.app.state.sort === column.name;
      const last = again && this.app.state.descending;
      this.app.change({ sort: last ? "" : column.name, descending: again && !last });
    };
    return element("th", { scope: "col", class: column.isNumber ? "n" : null },
      element("button", { type: "button", click: sort }, column.title));
  }

  row(columns, row) {
    const named = columns.find((column) => column.name === "system") ?? columns[0];
    const own = this.app.facts.value("origin", row) !== "published";
    const made = element("tr", { class: own ? "own" : null });
    for (const column of columns) {
      made.append(column === named ? this.opener(column, row) : this.cell(column, row));
    }
    return made;
  }

  cell(column, row) {
    const text = shown(column, row);
    const marks = column.name === "minutes" ? this.marks(row) : [];
    return element("td", { class: column.isNumber ? "n" : text.length <= 16 ? "short" : null }, text, ...marks);
  }

  opener(column, row) {
    const { facts } = this.app;
    const open = () => this.app.change({ open: facts.value("id", row) });
    const marks = column.name === "minutes" ? this.marks(row) : [];
    const tags = this.tags(row).map((text) => element("span", { class: "tag" }, text));
    return element("th", { scope: "row", class: column.isNumber ? "n" : null },
      element("button", { type: "button", class: "open", title: "All facts of this result", click: open }, shown(column, row)),
      ...tags, ...marks);
  }

  tags(row) {
    const { facts } = this.app;
    const origin = facts.value("origin", row);
    const tags = origin === "published" ? [] : [`${origin}, unverified`];
    return isUnavailable(facts, row) ? [...tags, facts.value("category", row)] : tags;
  }

  marks(row) {
    return this.app.facts.value("carried_over", row)
      ? [element("abbr", { title: "the same logs were published before" }, "*")]
      : [];
  }
}
