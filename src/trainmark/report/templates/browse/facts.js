// The facts of the page: columns of equal length; a record is a row number.

async function unpack(id) {
  const text = atob(document.getElementById(id).textContent);
  const packed = new Uint8Array(text.length); // Uint8Array.from takes twenty times as long
  for (let i = 0; i < text.length; i += 1) {
    packed[i] = text.charCodeAt(i);
  }
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).text();
}

const collator = new Intl.Collator("en", { numeric: true, sensitivity: "base" });

class Column {
  constructor(head) {
    Object.assign(this, head);
    this.ranks = null;
  }

  // The value as it is: a number, a text, a list, true or false; null or "" where there is none.
  value(row) {
    if (this.kind === "words") {
      return this.words[this.at[row]];
    }
    if (this.kind === "lines") {
      return this.at[row].map((code) => this.words[code]);
    }
    return this.kind === "flags" ? this.values[row] === 1 : this.values[row];
  }

  // A number by which rows are sorted; null where there is nothing to sort by.
  key(row) {
    if (this.kind === "numbers" || this.kind === "flags") {
      return this.values[row];
    }
    this.ranks ??= this.rank();
    return this.kind === "words" ? this.ranks[this.at[row]] : this.ranks[row];
  }

  rank() {
    const texts = this.kind === "words" ? this.words : Array.from(this.values, String);
    const order = texts.map((_, i) => i).sort((a, b) => collator.compare(texts[a], texts[b]));
    const ranks = new Array(texts.length);
    order.forEach((place, i) => {
      ranks[place] = texts[place] === "" ? null : i;
    });
    return ranks;
  }

  get isNumber() {
    return this.kind === "numbers";
  }
}

class Facts {
  constructor(data) {
    this.size = data.size;
    this.columns = data.fields.map((head) => new Column(head));
    this.byName = new Map(this.columns.map((column) => [column.name, column]));
    this.facets = this.columns.filter((column) => column.facet);
    this.listed = this.columns.filter((column) => column.listed);
    this.rowOfId = new Map(this.column("id").values.map((id, row) => [id, row]));
  }

  column(name) {
    return this.byName.get(name);
  }

  value(name, row) {
    return this.byName.get(name).value(row);
  }

  // What the search box looks into, in lower case, once for each row.
  get haystacks() {
    if (this.searchable === undefined) {
      const searched = this.columns.filter((column) => column.searched);
      this.searchable = Array.from({ length: this.size }, (_, row) =>
        searched.map((column) => column.value(row)).join("\n").toLowerCase(),
      );
    }
    return this.searchable;
  }
}
