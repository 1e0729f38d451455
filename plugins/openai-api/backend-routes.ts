// The backend's routes under /v1 that programs call all the time: chat completions, embeddings and the list of models.
import { Elysia } from "elysia";
import { documentGuard } from "../../src/kernel/http/openapi/route-documentation.ts";
import { guarded } from "../../src/kernel/http/route-guards.ts";
import { type ApiCaller, type ChatBody, parseChatBody, parseEmbeddingsBody, readApiCall } from "../ai/index.ts";
import { documentation } from "./documentation.ts";
import { type ListedModels, toAnthropicModel } from "./sources/listed-models.ts";
import type { FoundSource } from "./sources/model-sources.ts";
import type { V1Service } from "./v1-service.ts";

interface ChatCall {
  found: FoundSource;
  caller: ApiCaller;
  body: ChatBody;
  signal: AbortSignal;
  request: Request;
}

export function backendRoutes({ ai, sources, listed, once, bodies, describe }: V1Service) {
  const { callers } = ai;

  /** The answer of a source as a chat completion. */
  async function answerOfSource({ found, caller, body, signal, request }: ChatCall): Promise<Response> {
    const { chatCompletion, chatFrames } = await import("./answers/chat-answer.ts");
    const { askSource } = await import("./sources/source-answers.ts");
    const { clientNames } = await import("./sources/client-names.ts");
    const { metadata } = Object(body);
    const about = { ...clientNames(request), metadata, api: "chat" as const, previous: undefined };
    const parts = await askSource({ ...about, found, caller, body, signal });
    const id = `chatcmpl-${crypto.randomUUID().replaceAll("-", "")}`;
    const head = { id, model: String(body.model), created: Math.floor(Date.now() / 1000) };
    if (body.stream !== true) return Response.json(await chatCompletion(parts, head), { headers: NO_STORE });
    const { eventStream } = await import("./answers/event-stream.ts");
    const { include_usage: includeUsage } = Object(body.stream_options);
    return eventStream(chatFrames(parts, head, includeUsage === true, describe));
  }

  return new Elysia({ name: "openai-api.backend" })
    .use(v1Routes(bodies))
    .post(
      "/v1/chat/completions",
      async ({ body, request }) => {
        const caller = await callers.admit(request);
        const call = readApiCall(request, caller.userId, () => parseChatBody(body));
        const found = sources.sourceOf(call.body.model);
        const { userId } = caller;
        return once({ request, userId, body: call.body }, () =>
          found ? answerOfSource({ found, caller, request, ...call }) : ai.chat(call),
        );
      },
      { v1: true, detail: documentation.chat },
    )
    .post(
      "/v1/embeddings",
      async ({ body, request }) => {
        const { userId } = await callers.admit(request);
        const call = readApiCall(request, userId, () => parseEmbeddingsBody(body));
        sources.refuse(call.body.model);
        return once({ request, userId, body: call.body }, () => ai.embeddings(call));
      },
      { v1: true, detail: documentation.embeddings },
    )
    .get("/v1/models", async ({ request }) => listModels(request, listed, await callers.admit(request)), {
      v1: true,
      detail: documentation.models,
    });
}

const NO_STORE = { "cache-control": "no-store" };

/** Of a caller without an account where the operator has closed public use, and of an API key without the scope `chat`. */
export const V1_REFUSALS = { 401: "UNAUTHORIZED", 403: "MISSING_SCOPE" };

/** For a route under /v1: its handler identifies the caller. */
export const v1Routes = (bodies: V1Service["bodies"]) =>
  new Elysia({ name: "openai-api.v1" }).macro({
    v1: (_: true) => ({
      ...guarded(({ request }) => bodies.admit(request)),
      afterResponse: ({ request }: { request: Request }) => bodies.release(request),
      detail: documentGuard([], V1_REFUSALS),
    }),
  });

async function listModels(request: Request, listed: ListedModels, caller: ApiCaller) {
  const data = await listed.list(caller);
  if (!request.headers.has("anthropic-version")) return { object: "list" as const, data };
  const [first, last] = [data[0]?.id ?? null, data.at(-1)?.id ?? null];
  const page = { has_more: false, first_id: first, last_id: last };
  return { object: "list" as const, data: data.map(toAnthropicModel), ...page };
}
