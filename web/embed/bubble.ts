// The bubble: a button in a corner of the page, which opens the chat as a dialog above it.

import { createChat } from "./chat.ts";
import type { Conversation } from "./conversation.ts";
import { createIcon, createElement as h } from "./element.ts";
import type { Look, Wishes } from "./look.ts";
import { registry } from "./registry.ts";
import { createSurface, type Surface } from "./surface.ts";

const TALK = "M5 5h14a1 1 0 0 1 1 1v9a1 1 0 0 1-1 1h-7l-5 4v-4H5a1 1 0 0 1-1-1V6a1 1 0 0 1 1-1z";
const CLOSE = "M6 6 18 18M18 6 6 18";
/** As in style.css: here the dialog fills the screen, and the page behind it can't be reached. */
const NARROW = "(max-width: 479px), (max-height: 479px)";

/** The class of a frame whose dialog never fills the screen, as in a preview, which is a small page. */
export const STAYS_SMALL = "small";

export interface Bubble extends Surface {
  /** Opens the dialog. The focus stays where it is. */
  show(): void;
  /** Takes it out of the page, and frees its place. */
  remove(): void;
}

export function createBubble(look: Look, wishes: Wishes, conversation: Conversation | undefined): Bubble {
  const label = (look.texts.open ?? "").replaceAll("{name}", look.name);
  const opener = h("button", [createIcon(TALK), h("span", [], { class: "dot" })], {
    ...{ type: "button", class: "opener", "aria-label": label, title: label },
    ...{ "aria-haspopup": "dialog", "aria-expanded": "false", "aria-controls": "panel" },
  });
  const panel = h("div", [], {
    id: "panel",
    class: "panel",
    role: "dialog",
    "aria-labelledby": "title",
    tabindex: "-1",
  });
  panel.hidden = true;
  const frame = h("aside", [opener, panel], { "aria-label": look.name });
  const surface = createSurface("bubble", frame, look, wishes);
  surface.host.popover = "manual";
  const { root } = surface;
  const { bubbles } = registry();

  const chat = createChat(look, {
    conversation,
    heading: "h2",
    onNews: () => opener.classList.toggle("news", panel.hidden !== false),
  });
  const closer = h("button", [createIcon(CLOSE)], {
    ...{ type: "button", class: "icon", "aria-label": look.texts.close ?? "", title: look.texts.close ?? "" },
  });
  chat.header.append(closer);
  panel.append(...chat.parts);

  const narrow = matchMedia(NARROW);
  const setModal = () =>
    panel.setAttribute("aria-modal", String(narrow.matches && !frame.classList.contains(STAYS_SMALL)));
  /** A keyboard on the screen makes the visible part smaller than the page. */
  const setHeight = () =>
    panel.style.setProperty("--visible", visualViewport ? `${visualViewport.height}px` : "100dvh");

  function show(): void {
    for (const bubble of bubbles) if (bubble !== self) bubble.close();
    panel.hidden = false;
    opener.setAttribute("aria-expanded", "true");
    opener.classList.remove("news");
    setModal();
    setHeight();
    chat.scrollToEnd();
  }
  function open(): void {
    show();
    chat.focus();
  }
  function close(): void {
    if (panel.hidden) return;
    const hadFocus = panel.contains(root.activeElement);
    panel.hidden = true;
    opener.setAttribute("aria-expanded", "false");
    if (hadFocus) opener.focus({ preventScroll: true });
  }
  const self = { close };
  surface.frame.style.setProperty("--place", String(bubbles.push(self) - 1));

  opener.addEventListener("click", () => (panel.hidden ? open() : close()));
  closer.addEventListener("click", close);
  frame.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && !event.isComposing) close();
    else if (event.key === "Tab" && !panel.hidden && panel.contains(root.activeElement)) keepInside(event);
  });
  narrow.addEventListener("change", setModal);
  visualViewport?.addEventListener("resize", setHeight);

  /** Tab goes round in the dialog; Escape leaves it (WAI-ARIA Authoring Practices, dialog). */
  function keepInside(event: KeyboardEvent): void {
    const stops = [...panel.querySelectorAll<HTMLElement>("button, textarea, a[href], [tabindex='0']")];
    const [from, to] = event.shiftKey ? [stops[0], stops.at(-1)] : [stops.at(-1), stops[0]];
    if (root.activeElement !== from && root.activeElement !== panel) return;
    event.preventDefault();
    to?.focus();
  }
  function remove(): void {
    surface.host.remove();
    bubbles.splice(bubbles.indexOf(self), 1);
  }
  return { ...surface, show, remove };
}
