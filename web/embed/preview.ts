// The preview in the console: a bubble that sends nothing, and looks as the console's page says.

import { type Bubble, createBubble, STAYS_SMALL } from "./bubble.ts";
import type { Look } from "./look.ts";

type Shown = Pick<Look, "name" | "greeting" | "accent" | "theme">;

/** Only the console's page can show this one in a frame; it sends the look when this script has run. */
export function startPreview(words: Pick<Look, "language" | "texts">): void {
  let bubble: Bubble | undefined;
  let shown: Shown | undefined;
  addEventListener("message", ({ origin, data }: MessageEvent<unknown>) => {
    if (origin !== location.origin || !isShown(data)) return;
    const look: Look = { ...words, errors: {}, ...data };
    if (bubble && shown?.name === data.name && shown.greeting === data.greeting) bubble.paint(look, {});
    else {
      bubble?.remove();
      bubble = createBubble(look, {}, undefined);
      bubble.frame.classList.add(STAYS_SMALL);
      document.body.append(bubble.host);
      bubble.host.showPopover?.();
      bubble.show();
    }
    shown = data;
  });
}

const isShown = (data: unknown): data is Shown =>
  typeof data === "object" &&
  data !== null &&
  "name" in data &&
  "greeting" in data &&
  "accent" in data &&
  "theme" in data;
