// Reads the names that clients give to a request and to its conversation in headers.
import { invalidInput } from "../../../src/kernel/errors.ts";
import type { SourceRequest } from "./model-source.ts";

/** The headers that name a conversation: of anybody, and of Open WebUI, which sends the id of its chat. */
const CONVERSATION_HEADERS = ["x-conversation-id", "x-openwebui-chat-id"];

/** The headers that the web surface passes on for it. */
export const NAME_HEADERS = ["idempotency-key", ...CONVERSATION_HEADERS];

/** Throws 400 for an invalid key. */
export function clientNames({ headers }: Request): Pick<SourceRequest, "idempotencyKey" | "conversation"> {
  const idempotencyKey = headers.get("idempotency-key") || undefined;
  if (idempotencyKey !== undefined && !/^[\x21-\x7e]{1,255}$/.test(idempotencyKey)) {
    throw invalidInput({ path: "Idempotency-Key", message: "must be 1 to 255 visible ASCII characters" });
  }
  const conversation = CONVERSATION_HEADERS.map((name) => headers.get(name)?.trim()).find(Boolean);
  return { idempotencyKey, conversation };
}
