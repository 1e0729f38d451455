// Handles a post from Telegram: checks the secret before the body is read, and answers once the message is stored.
import type { Update } from "grammy/types";
import { readRequestBody } from "../../src/kernel/util/limited-body.ts";
import type { Binding, IncomingMessage, Sink } from "../port.ts";
import { errorResponse, isEqualSecret } from "../shared/webhook-answers.ts";
import type { PollingHooks } from "./long-polling.ts";
import { isAnswer, isUpdate, readUpdate } from "./updates.ts";

const SECRET_HEADER = "x-telegram-bot-api-secret-token";
/** Updates have a few kB; even the longest message with every entity stays far below. */
const MAX_BODY_BYTES = 1024 * 1024;

/**
 * Answers 200 once the message is stored or if it is not for the agent, 401 for a wrong secret, 400 for a malformed
 * update, 413 for a large body, 503 if storing failed; throws 408 for a slow body. Telegram repeats every post that is not answered by 2xx.
 * https://core.telegram.org/bots/api#setwebhook
 */
export async function receiveUpdate(
  { bot }: Binding,
  secret: string,
  request: Request,
  sink: Sink,
  { onFailure, onButtonPressed }: Pick<PollingHooks, "onButtonPressed"> & { onFailure(error: unknown): void },
): Promise<Response> {
  if (!isEqualSecret(request.headers.get(SECRET_HEADER) ?? "", secret))
    return errorResponse(401, "UNAUTHORIZED", "The secret is missing or wrong.");
  const body = await readRequestBody(request, MAX_BODY_BYTES);
  if (!body) return errorResponse(413, "BODY_TOO_LARGE", "The body is larger than 1 MiB.");
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
    const { callback_query: pressed } = update;
    if (pressed) onButtonPressed(pressed, await isAnswer(sink, pressed));
  } catch (error) {
    onFailure(error);
    return errorResponse(503, "UNAVAILABLE", "The message could not be stored. Send it again.");
  }
  sink.reportAlive();
  return new Response(null, { status: 200 });
}

function parse(body: Uint8Array): Update | undefined {
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(body));
    return isUpdate(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
