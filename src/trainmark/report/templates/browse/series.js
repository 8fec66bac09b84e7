// Figures from rows: data in, plain Plotly objects out. Names from files are escaped here.

const MOST_SERIES = 9;
const MOST_LINES = 8;
const MOST_SLOPES = 5;
const OTHERS = "#8a93a0";
const OWN_NAME = "own, unverified";
const OWN_MARKER = { color: "#e0a800", symbol: "star-diamond", size: 15, line: { color: "#5c4500", width: 1.5 }, opacity: 1 };
const COLOURED_BY = ["architecture", "accelerator", "vendor", "submitter", "round", "framework", "division", "category"];

// One comparability group's minutes at a time; what has none is of its own benchmark alone.
function groupOf(facts, row) {
  return facts.value("group", row) || `${facts.value("benchmark", row)}, on its own`;
}

function isTimed(facts, row) {
  return facts.value("minutes", row) > 0 && !facts.value("carried_over", row);
}

// How many rows could be drawn of each group, the largest first.
function chartGroups(facts, rows) {
  const counts = new Map();
  for (const row of rows) {
    if (isTimed(facts, row)) {
      const group = groupOf(facts, row);
      counts.set(group, (counts.get(group) ?? 0) + 1);
    }
  }
  return [...counts].sort((a, b) => b[1] - a[1] || collator.compare(a[0], b[0]));
}

function scalingFigure(facts, rows, by, look) {
  const drawn = rows.filter((row) => facts.value("accelerators", row) > 0);
  const chips = (row) => facts.value("accelerators", row);
  const figure = scatter(facts, drawn, by, look, {
    x: chips,
    y: (row) => facts.value("minutes", row),
    xTitle: "accelerators",
    yTitle: "minutes to target",
    more: () => [],
  });
  return { figure, drawn, lines: "equal accelerator-minutes: along one, twice the accelerators take half the time" };
}

// The kind of price that these results have; list prices are known of few.
function knownPrice(facts, rows) {
  return rows.some((row) => facts.value("list_price_usd", row) !== null) ? "list" : "cloud";
}

function priceFigure(facts, rows, by, look, price) {
  const name = price === "list" ? "list_price_usd" : "run_cost_usd";
  const about = price === "list" ? "dollar_minutes" : "run_cost_usd";
  const drawn = rows.filter((row) => facts.value(name, row) > 0);
  const figure = scatter(facts, drawn, by, look, {
    x: (row) => facts.value(name, row),
    y: (row) => facts.value("minutes", row),
    xTitle: price === "list" ? "list price of the system, USD" : "cost of one run at cloud prices, USD",
    yTitle: "minutes to target",
    more: (row) => [
      `${FORMATS.money(facts.value(name, row))} USD`,
      ...folded(facts.value(`${about}.formula`, row)),
      ...folded(facts.value(`${about}.basis`, row)),
      ...facts.value(`${about}.marks`, row).flatMap(folded),
    ],
    sloped: price === "list",
  });
  return { figure, drawn, lines: price === "list" ? "equal dollar-minutes: along one, twice the price buys half the time" : "" };
}

// The best time of each round for as many of the same accelerator.
function historyFigure(facts, rows, look) {
  const own = (row) => facts.value("origin", row) === "own";
  const drawn = rows.filter((row) => facts.value("round", row) || own(row));
  const lines = new Map();
  for (const row of drawn) {
    const name = hardwareName(facts, row) + (isOpen(facts, row) ? ", open" : "");
    const when = facts.value("round", row) || OWN_NAME;
    const best = lines.get(name) ?? new Map();
    if (!best.has(when) || facts.value("minutes", row) < facts.value("minutes", best.get(when))) {
      best.set(when, row);
    }
    lines.set(name, best);
  }
  const kept = [...lines]
    .sort((a, b) => b[1].size - a[1].size || collator.compare(a[0], b[0]))
    .slice(0, MOST_LINES);
  const rounds = [...new Set(kept.flatMap(([, best]) => [...best.keys()]))].sort((a, b) =>
    (a === OWN_NAME) - (b === OWN_NAME) || collator.compare(a, b));
  const shownRows = kept.flatMap(([, best]) => [...best.values()]);
  const minutes = shownRows.map((row) => facts.value("minutes", row));
  const data = kept.map(([name, best], i) => {
    const points = rounds.filter((round) => best.has(round)).map((round) => best.get(round));
    return {
      ...markers(facts, points, name, look, i, () => []),
      mode: "lines+markers",
      line: { color: look.colours[i % look.colours.length], width: 2, dash: look.dashes[i % look.dashes.length] },
      x: points.map((row) => facts.value("round", row) || OWN_NAME),
      y: points.map((row) => facts.value("minutes", row)),
    };
  });
  const layout = baseLayout("round", "minutes to target");
  Object.assign(layout.xaxis, { type: "category", categoryorder: "array", categoryarray: rounds });
  if (minutes.length > 0) {
    logAxis(layout.yaxis, minutes);
  }
  const figure = minutes.length > 0 ? { data, layout } : emptyFigure(layout);
  return { figure, drawn: shownRows, series: lines.size, lines: "" };
}

function hardwareName(facts, row) {
  const [count, name] = [facts.value("accelerators", row), facts.value("accelerator", row)];
  return count > 0 && name ? `${FORMATS.count(count)} \u00d7 ${name}` : facts.value("system", row);
}

function emptyFigure(layout) {
  for (const axis of [layout.xaxis, layout.yaxis]) {
    axis.visible = false;
  }
  const place = { xref: "paper", yref: "paper", x: 0.5, y: 0.5, showarrow: false };
  layout.annotations = [{ ...place, text: "Nothing to draw here", font: { size: 16 } }];
  return { data: [], layout };
}

function scatter(facts, rows, by, look, axes) {
  const layout = baseLayout(axes.xTitle, axes.yTitle);
  if (rows.length === 0) {
    return emptyFigure(layout);
  }
  logAxis(layout.xaxis, rows.map(axes.x));
  logAxis(layout.yaxis, rows.map(axes.y));
  const lines = axes.sloped === false ? [] : slopes(layout, rows.map((row) => axes.x(row) * axes.y(row)));
  // The legend shows a series by its first point: one without a mark, where there is one.
  const ordered = [...rows].sort((a, b) => (standingMark(facts, a) !== "") - (standingMark(facts, b) !== ""));
  const data = series(facts, ordered, by).map(({ name, rows: points, kind }, i) => ({
    ...markers(facts, points, name, look, kind === "others" ? -1 : i, axes.more),
    x: points.map(axes.x),
    y: points.map(axes.y),
    ...(kind === "own" ? { marker: OWN_MARKER } : {}),
  }));
  return { data: [...lines, ...data], layout };
}

// The commonest values have a colour and a shape of their own; the rest are grey.
function series(facts, rows, by) {
  const found = new Map();
  const own = rows.filter((row) => facts.value("origin", row) === "own");
  for (const row of rows.filter((one) => !own.includes(one))) {
    const value = facts.value(by, row);
    if (!found.has(value)) {
      found.set(value, []);
    }
    found.get(value).push(row);
  }
  const ordered = [...found].sort((a, b) => b[1].length - a[1].length || collator.compare(a[0], b[0]));
  const head = ordered.length > MOST_SERIES ? ordered.slice(0, MOST_SERIES - 1) : ordered;
  const rest = ordered.slice(head.length);
  const made = head.map(([value, points]) => ({ name: valueName(value), rows: points, kind: "" }));
  if (rest.length > 0) {
    made.push({ name: `${rest.length} others`, rows: rest.flatMap(([, points]) => points), kind: "others" });
  }
  if (own.length > 0) {
    made.push({ name: OWN_NAME, rows: own, kind: "own" });
  }
  return made;
}

function markers(facts, rows, name, look, i, more) {
  const isOther = i < 0;
  return {
    type: "scatter",
    mode: "markers",
    name: literal(name),
    customdata: rows,
    hoverinfo: "text",
    hovertext: rows.map((row) => tooltip(facts, row, more(row))),
    marker: {
      color: isOther ? OTHERS : look.colours[i % look.colours.length],
      symbol: rows.map((row) => (isOther ? "circle" : look.markers[i % look.markers.length]) + standingMark(facts, row)),
      size: isOther ? 6 : 8,
      opacity: 0.85,
    },
  };
}

// What may be drawn together but has to be told apart: divisions, and what could not be bought.
function standingMark(facts, row) {
  const open = isOpen(facts, row) ? "-open" : "";
  return open + (isUnavailable(facts, row) ? "-dot" : "");
}

function isOpen(facts, row) {
  return facts.value("division", row) === "open";
}

function isUnavailable(facts, row) {
  return ["preview", "research"].includes(facts.value("category", row));
}

function tooltip(facts, row, more) {
  const text = (name) => shown(facts.column(name), row);
  const known = (name) => facts.value(name, row) !== "" && facts.value(name, row) !== null;
  const round = known("round") ? `round ${text("round")}` : OWN_NAME;
  const lines = [
    ...folded(text("system")),
    `${text("submitter")}, ${round}, ${text("division")}${known("category") ? `, ${text("category")}` : ""}`,
    `${text("minutes")} minutes, ${text("accelerators")} \u00d7 ${text("accelerator")}`,
    facts.value("origin", row) === "published" ? "" : facts.value("label", row),
    known("framework") ? text("framework") : "",
    ...more,
    ...folded(facts.value("id", row)),
  ];
  return lines.filter(Boolean).map(literal).join("<br>");
}

// A long text in lines of a tooltip.
function folded(text) {
  const lines = [""];
  for (const word of text.split(" ").flatMap((one) => one.match(/.{1,64}/gu) ?? [])) {
    const last = lines[lines.length - 1];
    if (last && last.length + word.length > 64) {
      lines.push(word);
    } else {
      lines[lines.length - 1] = last ? `${last} ${word}` : word;
    }
  }
  return lines.filter(Boolean);
}

// Lines of slope -1: x times y is the same along each.
function slopes(layout, products) {
  const made = [];
  const nice = niceTicks(Math.min(...products), Math.max(...products));
  const every = Math.ceil(nice.length / MOST_SLOPES);
  for (const product of nice.filter((_, i) => i % every === 0)) {
    const x = layout.xaxis.range.map((end) => 10 ** end);
    made.push({
      type: "scatter",
      mode: "lines",
      x,
      y: x.map((value) => product / value),
      hoverinfo: "skip",
      showlegend: false,
      line: { color: OTHERS, width: 1, dash: "dot" },
    });
    if (!NARROW.matches) {
      layout.annotations.push(slopeLabel(layout, product));
    }
  }
  return made;
}

// At the upper left end of the line, inside the frame.
function slopeLabel(layout, product) {
  const power = Math.log10(product);
  const left = layout.xaxis.range[0];
  const top = layout.yaxis.range[1];
  const atLeft = power - left <= top;
  return {
    x: atLeft ? left : power - top,
    y: atLeft ? power - left : top,
    xanchor: "left",
    yanchor: atLeft ? "bottom" : "top",
    text: literal(TICK.format(product)),
    showarrow: false,
    font: { size: 10 },
    opacity: 0.75,
  };
}

function logAxis(axis, values) {
  const [low, high] = [Math.min(...values), Math.max(...values)].map(Math.log10);
  const room = Math.max(0.07 * (high - low), 0.12);
  const ticks = niceTicks(10 ** (low - room), 10 ** (high + room));
  Object.assign(axis, {
    type: "log",
    range: [low - room, high + room],
    tickvals: ticks,
    ticktext: ticks.map((value) => TICK.format(value)),
  });
}

const TICK = new Intl.NumberFormat("en", { maximumSignificantDigits: 3 });
const STEPS = [[1], [1, 3], [1, 2, 5], [1, 1.5, 2, 3, 4, 5, 6, 8]];
const ENOUGH_TICKS = 4;

function niceTicks(low, high) {
  let found = [];
  for (const steps of STEPS) {
    found = [];
    for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); power += 1) {
      found.push(...steps.map((step) => Number((step * 10 ** power).toPrecision(3))));
    }
    found = found.filter((value) => value >= low && value <= high);
    if (found.length >= ENOUGH_TICKS) {
      break;
    }
  }
  return found;
}

function baseLayout(xTitle, yTitle) {
  const axis = { automargin: true, ticks: "outside", ticklen: 6, tickcolor: "rgba(0,0,0,0)", zeroline: false, fixedrange: true };
  return {
    xaxis: { ...axis, title: { text: xTitle, standoff: 10 } },
    yaxis: { ...axis, title: { text: yTitle, standoff: 14 } },
    annotations: [],
    font: { family: "system-ui, sans-serif", size: 13 },
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    margin: { l: 8, r: 8, t: 8, b: 8 },
    legend: legend(),
    showlegend: true,
    hoverlabel: { bgcolor: "#1b1f27", font: { color: "#ffffff" }, align: "left", namelength: 0 },
    dragmode: false,
    hovermode: "closest",
  };
}

// On a phone below the chart, where names have its whole width.
function legend() {
  return NARROW.matches
    ? { orientation: "h", y: 0, yref: "container", yanchor: "bottom", x: 0, xref: "container", font: { size: 11 } }
    : { orientation: "h", y: 1.02, yanchor: "bottom", x: 0 };
}
