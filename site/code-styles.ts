// Replaces the style attributes of coloured code by classes, because the site's policy allows style sheets only.

import type { Element, Root } from "hast";
import type { ShikiTransformer } from "shiki";

/** Returns a transformer for VitePress, and the rules for all classes that it has given so far. */
export function collectCodeStyles() {
  const rules = new Map<string, string>();
  const walk = (node: Root | Element): void => {
    if (node.type === "element") replaceStyle(node);
    for (const child of node.children) if (child.type === "element") walk(child);
  };
  const replaceStyle = ({ properties }: Element) => {
    const { style } = properties;
    if (typeof style !== "string") return;
    const name = `c${Bun.hash(style).toString(36).slice(0, 6)}`;
    rules.set(name, style);
    delete properties.style;
    properties.class = [properties.class, name].flat().filter(Boolean).join(" ");
  };
  const transformer: ShikiTransformer = { name: "classes-for-styles", root: walk };
  // In the order of their names: the same pages make the same file.
  const css = () =>
    [...rules]
      .sort()
      .map(([name, style]) => `.${name}{${style}}`)
      .join("\n");
  return { transformer, css };
}
