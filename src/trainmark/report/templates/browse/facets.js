// The filters: a list of values for each facet, with counts that follow the other filters.

const FEW_VALUES = 8;
const OPEN_FACETS = new Set(["benchmark", "round", "submitter", "accelerator"]);

class Facets {
  constructor(app) {
    this.app = app;
    this.lists = app.facts.facets
      .map((column, i) => ({ column, i, boxes: new Map() }))
      .filter((list) => list.column.words.length > 1);
    for (const list of this.lists) {
      byId(OPEN_FACETS.has(list.column.name) ? "facets" : "more-facets").append(this.facet(list));
    }
    this.flagBoxes = FLAGS.map(([name, title]) => this.flag(name, title));
  }

  facet(list) {
    const { column } = list;
    const totals = new Uint32Array(column.words.length);
    column.at.forEach((code) => { totals[code] += 1; });
    const codes = Array.from(totals.keys()).sort((a, b) => inFacet(column, totals, a, b));
    const items = element("ul");
    codes.forEach((code, place) => items.append(this.item(list, code, place >= FEW_VALUES)));
    const parts = [items];
    if (codes.length > FEW_VALUES) {
      parts.push(this.more(items, codes.length));
    }
    list.summary = element("span", { class: "picked" });
    return element(
      "details",
      { class: "facet", open: OPEN_FACETS.has(column.name) },
      element("summary", {}, column.facet, list.summary),
      element("fieldset", {}, element("legend", { class: "unseen" }, column.facet), ...parts),
    );
  }

  item(list, code, extra) {
    const { column } = list;
    const box = element("input", {
      type: "checkbox",
      change: () => this.pick(column, column.words[code], box.checked),
    });
    const count = element("span", { class: "count" });
    const name = element("span", { class: "value" }, valueName(column.words[code]));
    const item = element("li", { class: extra ? "extra" : null }, element("label", {}, box, name, count));
    list.boxes.set(code, { box, count, item });
    return item;
  }

  more(items, total) {
    const button = element("button", {
      type: "button",
      class: "more",
      "aria-expanded": "false",
      click: () => {
        const all = items.classList.toggle("all");
        button.setAttribute("aria-expanded", String(all));
        button.textContent = all ? "Show fewer" : `Show all ${total}`;
      },
    }, `Show all ${total}`);
    return button;
  }

  pick(column, value, on) {
    const key = facetKey(column);
    const values = new Set(this.app.state.chosen.get(key));
    if (on) {
      values.add(value);
    } else {
      values.delete(value);
    }
    const chosen = new Map(this.app.state.chosen);
    if (values.size > 0) {
      chosen.set(key, values);
    } else {
      chosen.delete(key);
    }
    this.app.change({ chosen });
  }

  flag(name, title) {
    const box = element("input", {
      type: "checkbox",
      change: () => {
        const flags = new Set(this.app.state.flags);
        if (box.checked) {
          flags.add(name);
        } else {
          flags.delete(name);
        }
        this.app.change({ flags });
      },
    });
    const count = element("span", { class: "count" });
    const label = element("label", {}, box, element("span", { class: "value" }, title), count);
    byId("flags").append(element("li", {}, label));
    return { name, box, count };
  }

  show({ counts, flagCounts }) {
    const { state } = this.app;
    for (const { column, i, boxes, summary } of this.lists) {
      const chosen = state.chosen.get(facetKey(column)) ?? new Set();
      for (const [code, { box, count, item }] of boxes) {
        box.checked = chosen.has(column.words[code]);
        count.textContent = WHOLE.format(counts[i][code]);
        item.classList.toggle("empty", counts[i][code] === 0);
        item.classList.toggle("chosen", box.checked);
      }
      summary.textContent = chosen.size > 0 ? ` (${chosen.size} chosen)` : "";
    }
    for (const { name, box, count } of this.flagBoxes) {
      box.checked = state.flags.has(name);
      count.textContent = WHOLE.format(flagCounts.get(name));
    }
  }
}

// Rounds from the newest; other values from the one with the most results.
function inFacet(column, totals, a, b) {
  const byName = collator.compare(column.words[a], column.words[b]);
  return column.name === "round" ? -byName : totals[b] - totals[a] || byName;
}

// Each filter that is set, as a button that takes it away.
function showActive(app, place) {
  const { state, facts } = app;
  const buttons = [];
  const add = (title, change) => buttons.push(
    element("button", { type: "button", "aria-label": `Remove filter ${title}`, click: () => removed(app, place, change) },
      title, element("span", { "aria-hidden": "true" }, " \u00d7")),
  );
  if (state.q) {
    add(`text: ${state.q}`, { q: "" });
  }
  for (const column of facts.facets) {
    const values = state.chosen.get(facetKey(column)) ?? new Set();
    for (const value of values) {
      const rest = new Set([...values].filter((one) => one !== value));
      const chosen = new Map(state.chosen);
      chosen.set(facetKey(column), rest);
      add(`${column.facet}: ${valueName(value)}`, { chosen });
    }
  }
  if (state.min !== null || state.max !== null) {
    add(`chips: ${state.min ?? 0} to ${state.max ?? "any"}`, { min: null, max: null });
  }
  for (const [name, title] of FLAGS) {
    if (state.flags.has(name)) {
      add(title, { flags: new Set([...state.flags].filter((one) => one !== name)) });
    }
  }
  if (buttons.length > 1) {
    buttons.push(element("button", { type: "button", class: "plain", click: () => { app.clear(); byId("q").focus(); } }, "Clear all filters"));
  }
  place.replaceChildren(...buttons);
  place.hidden = buttons.length === 0;
}

// The button that was pressed goes: the focus stays near it.
function removed(app, place, change) {
  app.change(change);
  (place.querySelector("button") ?? byId("q")).focus();
}
