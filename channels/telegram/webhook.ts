// One post from Telegram: who sent it is settled before its body is read, and it is answered once it is stored.
import { timingSafeEqual } from "node:crypto";
import type { Update } from "grammy/types";
import type { Binding, IncomingMessage, Sink } from "../port.ts";
import { isUpdate, readUpdate } from "./updates.ts";

const SECRET_HEADER = "x-telegram-bot-api-secret-token";
/** Updates are a few kB; the longest message with every entity stays far below. */
const MAX_BODY_BYTES = 1024 * 1024;

/**
 * 200 stored (or nothing for the agent), 401 wrong secret, 400 no update, 413 too large, 503 could not be stored: whatever is not 2xx, Telegram sends again.
 * https://core.telegram.org/bots/api#setwebhook
 */
export async function receiveUpdate(
  { bot }: Binding,
  secret: string,
  request: Request,
  sink: Sink,
  onFailure: (error: unknown) => void,
): Promise<Response> {
  if (!isEqualSecret(request.headers.get(SECRET_HEADER) ?? "", secret))
    return errorResponse(401, "UNAUTHORIZED", "The secret is missing or wrong.");
  const body = await readBody(request);
  if (body === undefined) return errorResponse(413, "BODY_TOO_LARGE", "The body is larger than 1 MiB.");
  const update = parse(body);
  if (!update) return errorResponse(400, "INVALID_INPUT", "This is not an update of the Telegram Bot API.");
  let message: IncomingMessage | undefined;
  try {
    message = readUpdate(update, bot);
  } catch {
    return errorResponse(400, "INVALID_INPUT", "This is not a message of the Telegram Bot API.");
  }
  try {
    if (message) await sink.accept([message]);
  } catch (error) {
    onFailure(error);
    return errorResponse(503, "UNAVAILABLE", "The message could not be stored. Send it again.");
  }
  sink.reportAlive();
  return new Response(null, { status: 200 });
}

const errorResponse = (status: number, code: string, message: string) =>
  Response.json({ error: message, message, code }, { status });

const sha256 = (text: string) => new Bun.CryptoHasher("sha256").update(text).digest();

/** In a time that depends on neither value, their lengths included. No secret is like none. */
const isEqualSecret = (given: string, secret: string) =>
  secret !== "" && timingSafeEqual(sha256(given), sha256(secret));

/** The body as text, or undefined when it is too large; a length that lies is found out while reading. */
async function readBody(request: Request): Promise<string | undefined> {
  if (Number(request.headers.get("content-length") ?? 0) > MAX_BODY_BYTES) return undefined;
  const decoder = new TextDecoder();
  let text = "";
  let size = 0;
  for await (const chunk of request.body ?? []) {
    size += chunk.byteLength;
    if (size > MAX_BODY_BYTES) return undefined;
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

function parse(body: string): Update | undefined {
  try {
    const value: unknown = JSON.parse(body);
    return isUpdate(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
