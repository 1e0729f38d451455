// Preact's client, with effects as React times them: at the latest before the person's next action. By itself Preact runs them
// after the next frame. A form that is sent within that frame, as password managers do, would be sent by handlers that are kept
// up to date in an effect (those of useMutation) with what was in its fields before.

import { options } from "preact";

export * from "preact/compat/client";

/** Milliseconds after which effects run although no frame was drawn, as in a hidden tab. */
const WITHOUT_FRAME_MS = 35;
const ACTIONS = ["pointerdown", "click", "keydown", "beforeinput", "input", "change", "submit"] as const;

let waiting: (() => void) | undefined;

function runEffects(): void {
  const run = waiting;
  waiting = undefined;
  run?.();
}

options.requestAnimationFrame = (run) => {
  waiting = run;
  const timer = setTimeout(runEffects, WITHOUT_FRAME_MS);
  requestAnimationFrame(() => {
    clearTimeout(timer);
    setTimeout(runEffects);
  });
};
for (const action of ACTIONS) addEventListener(action, runEffects, { capture: true });
