// Elements from data: text is only ever set as text.

function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") {
      made.addEventListener(name, value);
    } else if (value === true || value === false) {
      made.toggleAttribute(name, value);
    } else if (value !== null && value !== undefined) {
      made.setAttribute(name, value);
    }
  }
  made.append(...children.filter((child) => child !== null));
  return made;
}

function byId(id) {
  return document.getElementById(id);
}

function fill(select, options, chosen) {
  select.replaceChildren(
    ...options.map(([value, title]) => element("option", { value, selected: value === chosen }, title)),
  );
}
