// Small helpers for the page.

export function element<T extends HTMLElement = HTMLElement>(id: string): T {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the page has no #${id}`);
  return found as T;
}

/** An element with attributes and children; texts are never markup. */
export function make(
  tag: string,
  attributes: Record<string, string> = {},
  ...children: (Node | string)[]
): HTMLElement {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

/** Set a text, if it is another one: nothing is drawn or announced otherwise. */
export function setText(target: HTMLElement, text: string): void {
  if (target.textContent !== text) target.textContent = text;
}

export function percent(share: number): string {
  const rounded = Math.round(share * 1000) / 10;
  const shown = share < 1 && rounded === 100 ? 99.9 : rounded;
  return `${Number.isInteger(shown) ? shown : shown.toFixed(1)} %`;
}
