// Everything that is known of one result, in a dialog.

class Detail {
  constructor(app) {
    this.app = app;
    this.dialog = byId("detail");
    byId("close").addEventListener("click", () => this.dialog.close());
    this.dialog.addEventListener("close", () => {
      if (app.state.open) {
        app.change({ open: "" });
      }
    });
    // A press on what lies around the dialog.
    this.dialog.addEventListener("click", (event) => {
      if (event.target === this.dialog) {
        this.dialog.close();
      }
    });
  }

  show() {
    const { open } = this.app.state;
    if (!open) {
      this.dialog.close();
      return;
    }
    const row = this.app.facts.rowOfId.get(open);
    byId("detail-title").textContent = this.title(row);
    byId("detail-body").replaceChildren(...this.parts(row));
    if (!this.dialog.open) {
      this.dialog.showModal();
    }
    this.dialog.scrollTop = 0;
  }

  title(row) {
    return this.app.facts.value("system", row) || this.app.facts.value("id", row);
  }

  parts(row) {
    const { facts } = this.app;
    const sections = [...new Set(facts.columns.map((column) => column.section))].filter(Boolean);
    const found = [this.standing(row)];
    for (const section of sections) {
      const columns = facts.columns.filter((column) => column.section === section);
      const derived = columns.filter((column) => facts.byName.has(`${column.name}.formula`));
      const plain = columns.filter((column) => !derived.includes(column) && shown(column, row) !== NOTHING);
      if (plain.length + derived.length > 0) {
        found.push(
          element("h3", {}, section),
          element("dl", {}, ...plain.flatMap((column) => this.pair(column, row)), ...derived.flatMap((column) => this.cost(column, row))),
        );
      }
    }
    found.push(...this.runs(row));
    for (const name of ["doubts", "software", "raw"]) {
      found.push(...this.list(facts.column(name), row));
    }
    found.push(...this.provenance(row));
    return found;
  }

  standing(row) {
    const { facts } = this.app;
    const round = facts.value("round", row);
    const isPublished = facts.value("origin", row) === "published";
    const words = [facts.value("submitter", row), round ? `round ${round}` : "", facts.value("benchmark", row)];
    return element("p", {}, `${words.filter(Boolean).join(", ")} `, element("span", { class: isPublished ? "label verified" : "label" }, facts.value("label", row)));
  }

  pair(column, row) {
    const unit = column.unit ? ` ${column.unit}` : "";
    return [element("dt", {}, column.title), element("dd", {}, `${shown(column, row)}${unit}`)];
  }

  cost(column, row) {
    const { facts } = this.app;
    const part = (name) => facts.value(`${column.name}.${name}`, row);
    if (column.value(row) === null) {
      return [element("dt", {}, column.title), element("dd", { class: "soft" }, `not known: ${part("missing")}`)];
    }
    return [
      element("dt", {}, column.title),
      element("dd", {}, `${shown(column, row)} ${column.unit}`,
        element("small", {}, part("formula")),
        part("basis") ? element("small", {}, `Basis: ${part("basis")}`) : null,
        ...part("marks").map((mark) => element("small", { class: "mark" }, mark)),
        ...part("sources").map((source) => element("small", {}, `Source: ${source}`))),
    ];
  }

  runs(row) {
    const minutes = this.app.facts.value("run_minutes", row);
    if (minutes.length === 0) {
      return [];
    }
    const most = Math.max(...minutes);
    const lines = minutes.map((value, i) =>
      element("tr", {},
        element("th", { scope: "row", class: "n" }, String(i + 1)),
        element("td", { class: "n" }, FORMATS.minutes(value)),
        element("td", { class: "bar" }, element("meter", { min: 0, max: most, value, "aria-hidden": "true" }))));
    return [
      element("h3", {}, `Runs (${minutes.length})`),
      element("table", { class: "runs" },
        element("thead", {}, element("tr", {}, ...["Run", "Minutes"].map((name) => element("th", { scope: "col", class: "n" }, name)))),
        element("tbody", {}, ...lines)),
    ];
  }

  list(column, row) {
    const lines = column.value(row);
    return lines.length === 0
      ? []
      : [element("h3", {}, column.title), element("ul", {}, ...lines.map((line) => element("li", {}, line)))];
  }

  provenance(row) {
    const address = publicAddress(this.app.facts, row);
    return address === ""
      ? []
      : [element("p", {}, element("a", { href: address, rel: "noopener noreferrer", target: "_blank" }, "The logs in the public repository, at that commit"))];
  }
}

// Built from checked parts: a name from a file never chooses where a link leads.
function publicAddress(facts, row) {
  const repository = facts.value("repository", row);
  const commit = facts.value("commit", row);
  const isKnown = /^mlcommons\/[\w.-]+$/.test(repository) && /^[0-9a-f]{40}$/.test(commit);
  const path = facts.value("path", row).split("/").map(encodeURIComponent).join("/");
  return isKnown ? `https://github.com/${repository}/tree/${commit}/${path}` : "";
}
