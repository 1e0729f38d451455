// Admits the bodies of requests under /v1: those with pictures, documents or recordings are larger than others.
import { AppError } from "../../src/kernel/errors.ts";
import { MAX_BODY_BYTES } from "../../src/kernel/http/body/json-body.ts";
import { contextOf } from "../../src/kernel/http/request-context.ts";
import { createBodyGate } from "../../src/kernel/security/rate-limits/body-gate.ts";

const MIB = 1024 * 1024;
/** JSON with pictures in it. */
const MAX_JSON_BYTES = 8 * MIB;
/** OpenAI takes recordings of 25 MB; a form has a little more than its file. */
const MAX_FORM_BYTES = 26 * MIB;
/** Large bodies in work at once: of all, and of one address, so that one client can't block the others. */
const MAX_CONCURRENT = 8;
const MAX_CONCURRENT_PER_ADDRESS = 4;

export interface V1Bodies {
  /** Call it before the body is read: raises its limit. Throws 413 `BODY_TOO_LARGE`, 429 `TOO_MANY_UPLOADS`. */
  admit(request: Request): void;
  /** Call it when the request was answered. */
  release(request: Request): void;
}

/** @param isForwarded whether the web surface has admitted the request: all of them come from one address */
export function createV1Bodies(isForwarded: (request: Request) => boolean): V1Bodies {
  const gates = { json: gateOf(MAX_JSON_BYTES), form: gateOf(MAX_FORM_BYTES) };
  const gateFor = ({ headers }: Request) => (isForm(headers) ? gates.form : gates.json);
  return {
    admit(request) {
      if (Number(request.headers.get("content-length") ?? 0) <= MAX_BODY_BYTES) return;
      if (isForwarded(request))
        contextOf(request).maxBodyBytes = isForm(request.headers) ? MAX_FORM_BYTES : MAX_JSON_BYTES;
      else gateFor(request).acquire(request);
    },
    release(request) {
      if (contextOf(request).maxBodyBytes !== undefined) gateFor(request).release(request);
    },
  };
}

const isForm = (headers: Headers) =>
  headers.get("content-type")?.toLowerCase().startsWith("multipart/form-data") ?? false;

function gateOf(maxBytes: number) {
  const text = `The body is larger than ${maxBytes / MIB} MiB.`;
  return createBodyGate({
    maxBytes,
    concurrent: MAX_CONCURRENT,
    perAddress: MAX_CONCURRENT_PER_ADDRESS,
    tooLarge: () => new AppError(413, "BODY_TOO_LARGE", text, { limit: maxBytes }),
    tooMany() {
      const busy = "Many large requests are in work right now. Try again in a few seconds.";
      return new AppError(429, "TOO_MANY_UPLOADS", busy, {}, { headers: { "retry-after": "3" } });
    },
  });
}
