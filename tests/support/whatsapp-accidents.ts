// Performs the failures that a test planned for calls of the WhatsApp fake.

import { GraphRefusal } from "./whatsapp-graph.ts";
import { pause } from "./whatsapp-hooks.ts";
import type { Accident } from "./whatsapp-types.ts";

/** Responses that must not arrive: Bun resets the connection when their body fails. */
export const cut = new WeakSet<Response>();

export function reset(): Response {
  const response = new Response(new ReadableStream({ start: (controller) => controller.error() }));
  cut.add(response);
  return response;
}

/** The response of a planned failure; undefined if the failure is only a delay. */
export async function failureResponse(accident: Accident, signal: AbortSignal): Promise<Response | undefined> {
  if (accident === "cut") return reset();
  if (accident === "garbage") {
    const headers = { "content-type": "text/html" };
    return new Response("<html><h1>502 Bad Gateway</h1></html>", { status: 502, headers });
  }
  if (accident === "hang") {
    await pause(2 ** 31 - 1, signal);
    // The client has disconnected; the call has no effect.
    return failureResponse("cut", signal);
  }
  if ("slowMs" in accident) await pause(accident.slowMs, signal);
  else return new GraphRefusal(accident.code ?? (accident.status >= 500 ? 2 : 100), "…", accident.status).response();
  return undefined;
}
