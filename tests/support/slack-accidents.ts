// The failures of the Slack fake: no answer, a late one, or one that is none of Slack's.
import { SlackRefusal, TooMany } from "./slack-refusal.ts";
import type { Accident } from "./slack-types.ts";

/** A file is sent as it is, or in a form. */
export async function uploadedBytes(request: Request): Promise<Uint8Array> {
  if (!request.headers.get("content-type")?.startsWith("multipart/form-data")) return request.bytes();
  const file = [...(await request.formData()).values()].find((value) => value instanceof Blob);
  return file instanceof Blob ? file.bytes() : new Uint8Array();
}

const cut = new WeakSet<Response>();
export const isCut = (response: Response): boolean => cut.has(response);

/** A response that must not arrive: Bun resets the connection when its body fails. */
export function reset(): Response {
  const response = new Response(new ReadableStream({ start: (controller) => controller.error() }));
  cut.add(response);
  return response;
}

/** The response of a planned failure; undefined if the failure is only a delay. */
export async function failureResponse(accident: Accident, signal: AbortSignal): Promise<Response | undefined> {
  if (accident === "cut") return reset();
  if (accident === "garbage")
    return new Response("<html>502</html>", { status: 502, headers: { "content-type": "text/html" } });
  if (accident === "hang") await pause(2 ** 31 - 1, signal);
  else if ("slowMs" in accident) await pause(accident.slowMs, signal);
  else if ("error" in accident) return new SlackRefusal(accident.error).response;
  else if (accident.status === 429) return new TooMany(accident.retryAfter ?? 1).response;
  else return Response.json({ ok: false, error: "internal_error" }, { status: accident.status });
  return undefined;
}

export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    const end = () => {
      clearTimeout(timer);
      resolve();
    };
    signal.addEventListener("abort", end, { once: true });
  });
}
