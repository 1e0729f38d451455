// Makes elements without HTML texts, which the policy of a page may forbid (Trusted Types).

export function createElement<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  children: readonly (Node | string)[],
  attributes?: Readonly<Record<string, string>>,
): HTMLElementTagNameMap[Name];
export function createElement(
  name: string,
  children: readonly (Node | string)[],
  attributes?: Readonly<Record<string, string>>,
): HTMLElement;
export function createElement(
  name: string,
  children: readonly (Node | string)[],
  attributes: Readonly<Record<string, string>> = {},
): HTMLElement {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

const SVG = "http://www.w3.org/2000/svg";

/** An icon of one path in a square of 24 units, in the colour of the text. */
export function createIcon(path: string): SVGSVGElement {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("aria-hidden", "true");
  const line = document.createElementNS(SVG, "path");
  line.setAttribute("d", path);
  svg.append(line);
  return svg;
}
