// The web's routes under /v1: they identify the caller and pass the request on to the backend's route of the same path.
import { Elysia } from "elysia";
import { forwardToBackend } from "../../src/kernel/http/backend/forward-to-backend.ts";
import type { Grant } from "../../src/kernel/http/backend/service-tokens.ts";
import { documentGuard } from "../../src/kernel/http/openapi/route-documentation.ts";
import { createRequestMemo } from "../../src/kernel/http/request-context.ts";
import { guardedFile } from "../../src/kernel/http/route-guards.ts";
import type { Kernel } from "../../src/kernel/plugin.ts";
import type { ApiCallers } from "../ai/index.ts";
import { documentation } from "./documentation.ts";
import { NAME_HEADERS } from "./sources/client-names.ts";
import type { V1Bodies } from "./v1-bodies.ts";

interface Deps extends Pick<Kernel, "backend"> {
  callers: ApiCallers;
  /** Whether callers without an account are served. */
  isPublic: boolean;
  bodies: V1Bodies;
}

/** The type of the body is among them, and left to the backend to check. */
const REQUEST_HEADERS = ["content-type", "x-berth-cache", "anthropic-version", ...NAME_HEADERS];
const RESPONSE_HEADERS = [
  ...["cache-control", "x-berth-model", "x-berth-cache", "age", "retry-after", "request-id", "content-disposition"],
  "x-accel-buffering",
  "idempotency-replayed",
];

export function webRoutes({ backend, callers, isPublic, bodies }: Deps) {
  const grants = createRequestMemo<Grant>();
  const grantOf = async (request: Request) =>
    grants.get(request) ?? grants.set(request, await callers.grantFor(request, isPublic));
  const guards = new Elysia({ name: "openai-api.web.guards" }).macro({
    v1: (_: true) => ({
      ...guardedFile(
        async ({ request }) => void (await grantOf(request)),
        ({ request }) => bodies.admit(request),
      ),
      afterResponse: ({ request }: { request: Request }) => bodies.release(request),
      detail: documentGuard(["session", "apiKey"], { 403: "MISSING_SCOPE" }),
      resolve: async ({ request }: { request: Request }) => ({ grant: await grantOf(request) }),
    }),
  });
  const forward = async ({ request, grant }: { request: Request; grant: Grant }) => {
    const { pathname, search } = new URL(request.url);
    return forwardToBackend(backend, grant, request, pathname + search, {
      signal: request.signal,
      requestHeaders: REQUEST_HEADERS,
      responseHeaders: () => RESPONSE_HEADERS,
    });
  };

  const d = documentation;
  const v1 = true as const;
  return new Elysia({ name: "openai-api.web" })
    .use(guards)
    .get("/v1/models", forward, { v1, detail: d.models })
    .get("/v1/models/:id", forward, { v1, detail: d.model })
    .get("/v1/models/*", forward, { v1, detail: { hide: true } })
    .post("/v1/chat/completions", forward, { v1, detail: d.chat })
    .post("/v1/embeddings", forward, { v1, detail: d.embeddings })
    .post("/v1/responses", forward, { v1, detail: d.responses })
    .get("/v1/responses/:id", forward, { v1, detail: d.storedResponse })
    .delete("/v1/responses/:id", forward, { v1, detail: d.deleteResponse })
    .get("/v1/responses/:id/input_items", forward, { v1, detail: d.inputItems })
    .post("/v1/messages", forward, { v1, detail: d.messages })
    .post("/v1/audio/transcriptions", forward, { v1, detail: d.transcriptions })
    .post("/v1/audio/speech", forward, { v1, detail: d.speech })
    .post("/v1/images/generations", forward, { v1, detail: d.images });
}
