// Defines the routes that the script of the chat calls from other sites: how it looks, and visitors' messages. None of them
// reads a cookie or a key.
import { Elysia, t } from "elysia";
import { forbidden } from "../../src/kernel/errors.ts";
import type { Idempotency } from "../../src/kernel/http/idempotency.ts";
import { documentReplyOrStream } from "../../src/kernel/http/openapi/event-streams.ts";
import { documentErrors, documentGuard } from "../../src/kernel/http/openapi/route-documentation.ts";
import { contextOf } from "../../src/kernel/http/request-context.ts";
import { guarded } from "../../src/kernel/http/route-guards.ts";
import { EVENT_STREAM_HEADERS } from "../../src/kernel/http/sse-streams.ts";
import { preferredLanguage } from "../../src/kernel/pages/language.ts";
import type { Kernel, ServiceOf } from "../../src/kernel/plugin.ts";
import { type publicPage, VISIT_ERRORS } from "../public-page/index.ts";
import type { AdmittedPage, Embeddings } from "./embeddings.ts";
import { chatLook, embeddedEvent, embeddedReply, languages, messageBody, stopBody, stopped } from "./model.ts";
import { lookOf } from "./texts.ts";
import { createVisitorTokens } from "./visitor-tokens.ts";

interface Deps extends Pick<ServiceOf<typeof publicPage>, "visitors" | "visitorMessages"> {
  idempotency: Idempotency;
  vault: Kernel["vault"];
  embeddings: Embeddings;
}

/** The same answer for an unknown agent, one without sites, and a site that is not named: a stranger learns nothing. */
const notAdmitted = () =>
  forbidden("FOREIGN_ORIGIN", "This site may not show the chat of such an agent. Its owner names the sites that may.");

export function chatRoutes({ idempotency, vault, embeddings, visitors, visitorMessages }: Deps) {
  const tokens = createVisitorTokens(vault);

  async function admit(request: Request): Promise<AdmittedPage> {
    const page = await embeddings.admitted(request);
    if (!page) throw notAdmitted();
    return page;
  }
  const guards = new Elysia({ name: "embed.guards" }).macro({
    embeddingPage: (_: true) => ({
      ...guarded(async ({ request }) => void (await admit(request))),
      detail: documentGuard([], { 403: "FOREIGN_ORIGIN" }),
      resolve: async ({ request }: { request: Request }) => ({ page: await admit(request) }),
    }),
    embeddedVisit: (_: true) => ({
      ...guarded(async ({ request }) => {
        const { embedding } = await admit(request);
        visitors.countMessage(contextOf(request).address, embedding.agent.id);
      }),
      detail: documentGuard([], { 403: "FOREIGN_ORIGIN", 429: ["RATE_LIMITED", "AGENT_BUSY"] }),
      resolve: async ({ request }: { request: Request }) => ({ page: await admit(request) }),
    }),
  });

  const tags = ["Embed"];
  const params = t.Object({ agent: t.String({ description: "The agent's subdomain or id" }) });
  return new Elysia({ name: "embed.chat" })
    .use(guards)
    .get(
      "/api/embed/:agent",
      ({ page, query, set }) => {
        // The pages of a site each ask for it.
        set.headers["cache-control"] = "private, max-age=60";
        return lookOf(page.embedding, preferredLanguage(query.languages ?? null));
      },
      {
        embeddingPage: true,
        params,
        query: t.Object({ languages: t.Optional(languages) }),
        response: { 200: chatLook },
        detail: {
          tags,
          summary: "Show how an agent's chat looks on a site",
          description:
            "For pages of the sites in the agent's `embed.origins`, which the browser names in `Origin`; see docs/embed.md.",
        },
      },
    )
    .post(
      "/api/embed/:agent/messages",
      ({ page: { embedding, origin }, body, request }) => {
        const agentId = embedding.agent.id;
        const visitor = tokens.readVisitor(body.visitor, agentId, origin, body.id);
        const token = tokens.issue(visitor, agentId, origin);
        const caller = { request, ...(visitor.isReturning && { userId: `visitor ${visitor.id}` }) };
        const send = async () => {
          const sent = { request, agentId, visitorId: visitor.id, message: body.message, id: body.id };
          return withToken(await visitorMessages.send(sent), token);
        };
        return idempotency.respond(caller, send, { secretFields: ["visitor"] });
      },
      {
        embeddedVisit: true,
        params,
        body: messageBody,
        detail: {
          tags,
          summary: "Send an agent a message as a visitor of a site that shows it",
          description:
            "For pages of the sites in the agent's `embed.origins`. The token `visitor` of an answer continues the conversation; it is " +
            "valid for this agent and site. With `accept: text/event-stream` the reply is streamed: visitor, delta, reply, error.",
          ...documentErrors({
            ...VISIT_ERRORS,
            409: [...VISIT_ERRORS[409], "IDEMPOTENCY_MISMATCH", "IDEMPOTENCY_IN_PROGRESS"],
            502: [VISIT_ERRORS[502], "BACKEND_UNAVAILABLE"],
          }),
          ...documentReplyOrStream(embeddedReply, embeddedEvent, "The reply"),
        },
      },
    )
    .post(
      "/api/embed/:agent/stop",
      ({ page: { embedding, origin }, body: { id, visitor } }) => {
        const agentId = embedding.agent.id;
        const { id: visitorId } = tokens.readVisitor(visitor, agentId, origin, id);
        return { stopped: visitorMessages.stop({ agentId, visitorId, id }) };
      },
      {
        embeddingPage: true,
        params,
        body: stopBody,
        response: { 200: stopped },
        detail: {
          tags,
          summary: "Stop the answer to a visitor's message",
          description: "What was said of it stays in the conversation. `id` is that of the message.",
        },
      },
    );
}

/** The reply with the visitor's token: as a field, or as the first event of a stream. */
async function withToken(response: Response, visitor: string): Promise<Response> {
  if (response.headers.get("content-type")?.startsWith("text/event-stream") && response.body) {
    const first = new TextEncoder().encode(`event: visitor\ndata: ${JSON.stringify({ visitor })}\n\n`);
    return new Response(precededBy(first, response.body), { headers: EVENT_STREAM_HEADERS });
  }
  const reply = (await response.json()) as object;
  return Response.json({ ...reply, visitor });
}

function precededBy(first: Uint8Array, body: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  return new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(first),
    async pull(controller) {
      const { done, value } = await reader.read();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel: (reason) => reader.cancel(reason),
  });
}
