// Names messages by their Idempotency-Key: the answer to a request is stored after its message, and a kill may come in between.
import { sha256Hex } from "../../../src/kernel/util/tokens.ts";

/** The web surface passes it on to the backend. */
export const IDEMPOTENCY_KEY = "idempotency-key";

/** Of the messages that have the same key, those with the same content are one. */
export const messageIdOf = (key: string, ...content: unknown[]) =>
  `key:${sha256Hex(JSON.stringify([key, ...content]))}`;
