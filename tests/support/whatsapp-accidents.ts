// What goes wrong with a call to the WhatsApp fake, as a test planned it.

import { GraphRefusal } from "./whatsapp-graph.ts";
import { pause } from "./whatsapp-hooks.ts";
import type { Accident } from "./whatsapp-types.ts";

/** Answers that never arrive: Bun resets the connection when a body fails. */
export const cut = new WeakSet<Response>();

export function reset(): Response {
  const response = new Response(new ReadableStream({ start: (controller) => controller.error() }));
  cut.add(response);
  return response;
}

/** What the client gets instead of the answer; undefined where it is only late. */
export async function happens(accident: Accident, signal: AbortSignal): Promise<Response | undefined> {
  if (accident === "cut") return reset();
  if (accident === "garbage") {
    const headers = { "content-type": "text/html" };
    return new Response("<html><h1>502 Bad Gateway</h1></html>", { status: 502, headers });
  }
  if (accident === "hang") {
    await pause(2 ** 31 - 1, signal);
    // Nobody is there any more, and nothing was done.
    return happens("cut", signal);
  }
  if ("slowMs" in accident) await pause(accident.slowMs, signal);
  else return new GraphRefusal(accident.code ?? (accident.status >= 500 ? 2 : 100), "…", accident.status).response();
  return undefined;
}
