// The backend's routes under /v1 that are built at the first request for one of them.
import { Elysia } from "elysia";
import { invalidInput } from "../../src/kernel/errors.ts";
import { documentGuard } from "../../src/kernel/http/openapi/route-documentation.ts";
import { contextOf } from "../../src/kernel/http/request-context.ts";
import { guardedFile } from "../../src/kernel/http/route-guards.ts";
import type { ApiCaller } from "../ai/index.ts";
import { V1_REFUSALS, v1Routes } from "./backend-routes.ts";
import { documentation as d } from "./documentation.ts";
import { createMessages } from "./messages/messages.ts";
import type { ResponseKeeper } from "./responses/response-keeper.ts";
import { createResponses, inputItems } from "./responses/responses.ts";
import { toAnthropicModel } from "./sources/listed-models.ts";
import type { V1Service } from "./v1-service.ts";

interface Deps extends V1Service {
  stored: ResponseKeeper;
}

export function lateRoutes(service: Deps) {
  const { ai, bodies, listed, once, sources } = service;
  const { callers } = ai;
  const responses = createResponses(service);
  const answerMessage = createMessages(service);

  const answering = async <Result>(request: Request, answer: (caller: ApiCaller) => Promise<Result>) =>
    answer(await callers.admit(request));

  const answeringOnce = (body: unknown, request: Request, answer: (caller: ApiCaller) => Promise<Response>) =>
    answering(request, (caller) => once({ request, userId: caller.userId, body: Object(body) }, () => answer(caller)));

  async function findModel({ request }: { request: Request }) {
    const model = await listed.find(modelIn(request), await callers.admit(request));
    return request.headers.has("anthropic-version") ? toAnthropicModel(model) : model;
  }

  const forms = new Elysia({ name: "openai-api.forms" }).macro({
    form: (_: true) => ({
      ...guardedFile(({ request }) => bodies.admit(request)),
      afterResponse: ({ request }: { request: Request }) => bodies.release(request),
      detail: documentGuard([], V1_REFUSALS),
    }),
  });

  return new Elysia({ name: "openai-api.late" })
    .use(v1Routes(bodies))
    .use(forms)
    .get("/v1/models/:id", findModel, { v1: true, detail: d.model })
    .get("/v1/models/*", findModel, { v1: true, detail: { hide: true } })
    .post(
      "/v1/responses",
      ({ body, request }) => answeringOnce(body, request, (caller) => responses.create(body, caller, request)),
      { v1: true, detail: d.responses },
    )
    .get(
      "/v1/responses/:id",
      ({ request, params: { id } }) =>
        answering(request, async (caller) => (await responses.read(id, caller)).response),
      { v1: true, detail: d.storedResponse },
    )
    .delete(
      "/v1/responses/:id",
      ({ request, params: { id } }) => answering(request, (caller) => responses.remove(id, caller)),
      { v1: true, detail: d.deleteResponse },
    )
    .get(
      "/v1/responses/:id/input_items",
      ({ request, params: { id } }) =>
        answering(request, async (caller) => inputItems(await responses.read(id, caller))),
      { v1: true, detail: d.inputItems },
    )
    .post(
      "/v1/messages",
      ({ body, request }) => answeringOnce(body, request, (caller) => answerMessage(body, caller, request)),
      { v1: true, detail: d.messages },
    )
    .post(
      "/v1/audio/transcriptions",
      ({ request }) =>
        answering(request, async ({ userId }) => {
          const { transcribe } = await ai.media();
          const form = await readForm(request);
          sources.refuse(form.get("model"));
          return transcribe(form, { userId, signal: request.signal });
        }),
      { form: true, detail: d.transcriptions },
    )
    .post(
      "/v1/audio/speech",
      ({ body, request }) =>
        answering(request, async ({ userId }) => {
          sources.refuse(modelOf(body));
          return (await ai.media()).speak(body, { userId, signal: request.signal });
        }),
      { v1: true, detail: d.speech },
    )
    .post(
      "/v1/images/generations",
      ({ body, request }) =>
        answeringOnce(body, request, async ({ userId }) => {
          sources.refuse(modelOf(body));
          return (await ai.media()).paint(body, { userId, signal: request.signal });
        }),
      { v1: true, detail: d.images },
    );
}

const modelOf = (body: unknown): unknown => (Object(body) as { model?: unknown }).model;

/** The rest of the path: ids of some providers have slashes, which clients may encode. Throws 400. */
function modelIn({ url }: Request): string {
  const { pathname } = new URL(url);
  try {
    return decodeURIComponent(pathname.slice("/v1/models/".length));
  } catch {
    throw invalidInput({ path: "id", message: "Encode this part of the path as UTF-8." });
  }
}

/** Throws 400 for a body that is no form. */
async function readForm(request: Request): Promise<FormData> {
  const type = request.headers.get("content-type") ?? "";
  const body = contextOf(request).bodyBytes ?? new Uint8Array();
  const form = type.toLowerCase().startsWith("multipart/form-data")
    ? await new Response(body, { headers: { "content-type": type } }).formData().catch(() => undefined)
    : undefined;
  if (form) return form as FormData;
  throw invalidInput({
    path: "file",
    message: "Send a form (multipart/form-data) with the recording in its field `file`.",
  });
}
