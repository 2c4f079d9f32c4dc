const SVG = "http://www.w3.org/2000/svg";

/** The element with this id. */
export function byId(id) {
  return document.getElementById(id);
}

/** A new element; text from servers only ever becomes text nodes. */
export function element(name, attributes = {}, ...children) {
  return filled(document.createElement(name), attributes, children);
}

/** The same in a drawing. */
export function drawn(name, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, name), attributes, children);
}

function filled(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined) node.setAttribute(name, value);
  }
  node.append(...children);
  return node;
}

/** Sets a text, and touches nothing where it is the same: readers and selections stay where they are. */
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/** Makes the rows those of `records`: only new ones are made, so that what is selected or opened in the others stays. */
export function keepRows(body, records, keyOf, make) {
  const wanted = new Set(records.map(keyOf));
  for (const row of [...body.rows]) if (!wanted.has(row.dataset.key)) row.remove();
  let next = body.rows[0] ?? null;
  for (const record of records) {
    const key = keyOf(record);
    if (next?.dataset.key === key) {
      next = next.nextElementSibling;
      continue;
    }
    const row = make(record);
    row.dataset.key = key;
    body.insertBefore(row, next);
  }
}

/** Renders anew only when what is shown has changed. */
export function renderer() {
  const shown = new Map();
  return (node, value, render) => {
    const key = JSON.stringify(value);
    if (shown.get(node) === key) return;
    shown.set(node, key);
    node.replaceChildren(...render(value));
  };
}
