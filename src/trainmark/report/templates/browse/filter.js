// Which rows are asked for, and how many there would be for each value of each filter.

function selectRows(facts, state) {
  const tests = facts.facets.map((column) => facetTest(column, state.chosen.get(facetKey(column))));
  const others = rowTests(facts, state);
  const counts = facts.facets.map((column) => new Uint32Array(column.words.length));
  const flagCounts = new Map(FLAGS.map(([name]) => [name, 0]));
  const rows = [];
  for (let row = 0; row < facts.size; row += 1) {
    // A row that a single filter keeps out still counts for the values of that filter.
    const barrier = onlyBarrier(tests, row);
    if (barrier === MANY || !others.every((test) => test(row))) {
      continue;
    }
    facts.facets.forEach((column, i) => {
      if (barrier === NONE || barrier === i) {
        counts[i][column.at[row]] += 1;
      }
    });
    if (barrier === NONE) {
      countFlags(facts, row, flagCounts);
      rows.push(row);
    }
  }
  return { rows, counts, flagCounts };
}

const NONE = -1;
const MANY = -2;

function onlyBarrier(tests, row) {
  let barrier = NONE;
  for (let i = 0; i < tests.length; i += 1) {
    if (tests[i] !== null && !tests[i](row)) {
      if (barrier !== NONE) {
        return MANY;
      }
      barrier = i;
    }
  }
  return barrier;
}

function facetTest(column, chosen) {
  if (chosen === undefined || chosen.size === 0) {
    return null;
  }
  const wanted = column.words.map((word) => chosen.has(word));
  return (row) => wanted[column.at[row]];
}

function rowTests(facts, state) {
  const tests = [];
  const terms = state.q.toLowerCase().split(/\s+/).filter(Boolean);
  if (terms.length > 0) {
    const haystacks = facts.haystacks;
    tests.push((row) => terms.every((term) => haystacks[row].includes(term)));
  }
  const chips = facts.column("accelerators");
  if (state.min !== null) {
    tests.push((row) => chips.values[row] !== null && chips.values[row] >= state.min);
  }
  if (state.max !== null) {
    tests.push((row) => chips.values[row] !== null && chips.values[row] <= state.max);
  }
  for (const [name, , test] of FLAGS) {
    if (state.flags.has(name)) {
      tests.push((row) => test(facts, row));
    }
  }
  return tests;
}

function countFlags(facts, row, flagCounts) {
  for (const [name, , test] of FLAGS) {
    if (test(facts, row)) {
      flagCounts.set(name, flagCounts.get(name) + 1);
    }
  }
}

// Rows in the order asked for; what has no value comes last, whichever the direction.
function sortRows(facts, rows, state) {
  const sorted = rows.slice();
  if (!state.sort) {
    return sorted.sort((a, b) => byDefault(facts, a, b));
  }
  const column = facts.column(state.sort);
  const sign = state.descending ? -1 : 1;
  return sorted.sort((a, b) => {
    const order = ordered(column.key(a), column.key(b), sign);
    return order || byDefault(facts, a, b);
  });
}

function ordered(a, b, sign) {
  if (a === null || b === null) {
    return a === b ? 0 : a === null ? 1 : -1;
  }
  return sign * (a - b);
}

// One's own results, then the newest round first, benchmark by benchmark, the fastest first.
function byDefault(facts, a, b) {
  return (
    ordered(roundKey(facts, a), roundKey(facts, b), -1) ||
    ordered(facts.column("benchmark").key(a), facts.column("benchmark").key(b), 1) ||
    ordered(facts.column("minutes").key(a), facts.column("minutes").key(b), 1) ||
    a - b
  );
}

function roundKey(facts, row) {
  const key = facts.column("round").key(row);
  return key === null ? Infinity : key;
}
