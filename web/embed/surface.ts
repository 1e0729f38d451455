// The element that a chat lives in: a shadow root of its own, which neither takes styles from the page nor gives it any.

import { createElement as h } from "./element.ts";
import { colorsOf, isDark, type Look, type Wishes } from "./look.ts";
import style from "./style.css";

export interface Surface {
  readonly host: HTMLElement;
  readonly root: ShadowRoot;
  /** Holds everything that is shown. */
  readonly frame: HTMLElement;
  /** Applies theme and colours anew. */
  paint(look: Look, wishes: Wishes): void;
}

let sheet: CSSStyleSheet | undefined;

/** @param kind the class of the frame: `bubble` or `page` */
export function createSurface(kind: string, frame: HTMLElement, look: Look, wishes: Wishes): Surface {
  const host = h("div", []);
  const root = host.attachShadow({ mode: "open" });
  if (!sheet) {
    // A constructed sheet is no inline style, so the page's policy need not allow any.
    sheet = new CSSStyleSheet();
    sheet.replaceSync(style);
  }
  root.adoptedStyleSheets = [sheet];
  frame.classList.add("frame", kind);
  root.append(frame);
  // What a visitor types is not meant for the shortcuts of the page.
  for (const event of ["keydown", "keypress", "keyup"]) {
    root.addEventListener(event, (pressed) => pressed.stopPropagation());
  }
  let painted: [Look, Wishes] = [look, wishes];
  function paint(...[newLook, newWishes]: [Look, Wishes]): void {
    painted = [newLook, newWishes];
    const { accent, ink } = colorsOf(newLook, newWishes);
    frame.dataset.theme = isDark(newLook, newWishes) ? "dark" : "light";
    frame.lang = newLook.language;
    frame.style.setProperty("--accent", accent);
    frame.style.setProperty("--on-accent", ink);
    host.dataset.side = newWishes.position === "left" ? "left" : "right";
  }
  paint(look, wishes);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => paint(...painted));
  return { host, root, frame, paint };
}
