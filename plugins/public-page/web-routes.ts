// Defines the web surface's routes of public pages: the page itself, and visitors' messages.
import { Elysia } from "elysia";
// Imported by its path, since the package does not export the bundle for browsers.
import marked from "../../node_modules/marked/lib/marked.umd.js" with { type: "file" };
import type { Config } from "../../src/kernel/config/config.ts";
import { forbidden, notFound } from "../../src/kernel/errors.ts";
import type { Idempotency } from "../../src/kernel/http/idempotency.ts";
import { documentReplyOrStream } from "../../src/kernel/http/openapi/event-streams.ts";
import { documentErrors, documentGuard, documentResponse } from "../../src/kernel/http/openapi/route-documentation.ts";
import { contextOf, createRequestMemo } from "../../src/kernel/http/request-context.ts";
import { guarded, openRoutes } from "../../src/kernel/http/route-guards.ts";
import { prefersHtml } from "../../src/kernel/pages/accept.ts";
import { createCompressedAsset } from "../../src/kernel/pages/compressed-asset.ts";
import { languageOf } from "../../src/kernel/pages/language.ts";
import type { ServiceOf } from "../../src/kernel/plugin.ts";
import type { Agent, agents as agentsPlugin } from "../agents/index.ts";
import { visitorEvent } from "../runtime/index.ts";
import type { AgentCards } from "./agent-card.ts";
import { card, messageBody, reply, VISIT_ERRORS } from "./model.ts";
import { MARKDOWN_FILE, type PageRenderer } from "./page-renderer.ts";
import type { Visitor, VisitorCookies } from "./visitor-cookies.ts";
import type { VisitorLimiter } from "./visitor-limiter.ts";
import type { VisitorMessage, VisitorMessages } from "./visitor-messages.ts";

interface Deps {
  config: Config;
  idempotency: Idempotency;
  agents: Pick<ServiceOf<typeof agentsPlugin>, "findBySubdomain">;
  cards: Pick<AgentCards, "cardOf" | "enabledPage">;
  visitorCookies: VisitorCookies;
  visitorLimiter: VisitorLimiter;
  visitorMessages: VisitorMessages;
  pageRenderer: PageRenderer;
}

/** An agent that a visitor may talk to. */
type AdmittedAgent = Agent & {
  /** Other sites may show its page in a frame. */
  isEmbedded: boolean;
};

/** The form of a subdomain. Other texts are not looked up. */
const SUBDOMAIN_LABEL = /^[a-z0-9-]{1,63}$/;

const agentNotFound = () => notFound("There is no agent at this address.", "AGENT_NOT_FOUND");

export function webRoutes(deps: Deps) {
  const { idempotency, agents } = deps;
  const { visitorCookies, visitorLimiter, visitorMessages, pageRenderer } = deps;
  const { cardOf, enabledPage } = deps.cards;

  const findAgent = async (subdomain: string) =>
    SUBDOMAIN_LABEL.test(subdomain) ? agents.findBySubdomain(subdomain) : undefined;

  /** The path that the visitor's cookie is limited to: the page's on Berth's host, or all of the agent's own host. */
  const cookiePathOf = (request: Request, { subdomain }: Agent) =>
    contextOf(request).pageOrigin === undefined ? `/a/${subdomain}` : "/";

  const admittedAgents = createRequestMemo<AdmittedAgent>();
  /** Checks, before the body is read, whether this visitor may send a message now. */
  async function admitVisitor(request: Request, subdomain: string): Promise<AdmittedAgent> {
    const agent = await findAgent(subdomain);
    if (!agent) throw agentNotFound();
    const page = await enabledPage(agent);
    if (!page) throw forbidden("CHAT_OFF", "This agent does not talk to visitors.");
    visitorLimiter.countMessage(contextOf(request).address, agent.id);
    return admittedAgents.set(request, { ...agent, isEmbedded: page.embedOrigins.length > 0 });
  }
  const visitorGuards = new Elysia({ name: "public-page.guards" }).macro({
    visitorChat: (_: true) => ({
      ...guarded(async ({ request, params }) => void (await admitVisitor(request, params.subdomain ?? ""))),
      detail: documentGuard([], { 403: "CHAT_OFF", 404: "AGENT_NOT_FOUND", 429: ["RATE_LIMITED", "AGENT_BUSY"] }),
      resolve: async ({ request, params }: { request: Request; params: Record<string, string> }) => ({
        agent: admittedAgents.get(request) ?? (await admitVisitor(request, params.subdomain ?? "")),
      }),
    }),
  });

  const sendMessage = (
    request: Request,
    agent: AdmittedAgent,
    visitor: Visitor,
    body: Pick<VisitorMessage, "message" | "id">,
  ) =>
    visitorMessages.send({ ...body, request, agentId: agent.id, visitorId: visitor.id, id: body.id }, () => {
      const { cookies } = contextOf(request);
      cookies.push(visitorCookies.setCookieValue(visitor, agent.id, cookiePathOf(request, agent), agent.isEmbedded));
    });

  // The page requests it with Berth's version in the query, so caches may keep it.
  const markdownScript = createCompressedAsset(() => Bun.file(marked).bytes(), {
    "content-type": "text/javascript;charset=utf-8",
    "cache-control": "public, max-age=31536000, immutable",
  });

  const tags = ["Public page"];
  return new Elysia({ name: "public-page.web" })
    .use(openRoutes)
    .use(visitorGuards)
    .get(
      "/a/:subdomain",
      async ({ params: { subdomain }, request }) => {
        const acceptHeader = request.headers.get("accept") ?? "";
        const agent = await findAgent(subdomain);
        if (!agent) {
          if (prefersHtml(request)) return pageRenderer.notFoundPage(languageOf(request));
          throw agentNotFound();
        }
        const { card: agentCard, embedOrigins } = await cardOf(agent);
        const asData = acceptHeader.includes("application/json") && !acceptHeader.includes("text/html");
        if (asData) return Response.json(agentCard, { headers: { vary: "accept" } });
        return pageRenderer.agentPage(
          agentCard,
          { subdomain: agent.subdomain, agentOrigin: contextOf(request).pageOrigin, embedOrigins },
          languageOf(request),
        );
      },
      {
        open: true,
        detail: {
          tags,
          summary: "Show an agent's public page: a card, and a chat if its owner allows it",
          operationId: "showPublicPage",
          description: "HTML, unless the client accepts `application/json` and not `text/html`.",
          ...documentErrors({ 404: "AGENT_NOT_FOUND" }),
          ...documentResponse(card, "The card"),
        },
      },
    )
    .get(`/a/:subdomain/${MARKDOWN_FILE}`, ({ request }) => markdownScript.response(request), {
      open: true,
      detail: { hide: true },
    })
    .post(
      "/a/:subdomain/messages",
      ({ agent, body, request }) => {
        const visitor = visitorCookies.readVisitor(request.headers.get("cookie"), agent.id, body.id);
        const caller = { request, ...(visitor.isReturning && { userId: `visitor ${visitor.id}` }) };
        return idempotency.respond(caller, () => sendMessage(request, agent, visitor, { ...body, id: body.id }));
      },
      {
        visitorChat: true,
        body: messageBody,
        detail: {
          tags,
          summary: "Send an agent a message as a visitor",
          operationId: "sendVisitorMessage",
          description:
            "Only if the agent's owner allows it. A cookie for this address identifies the visitor's own conversation. " +
            "With `accept: text/event-stream` the reply is streamed: delta, reply, error.",
          ...documentErrors({
            ...VISIT_ERRORS,
            409: [...VISIT_ERRORS[409], "IDEMPOTENCY_MISMATCH", "IDEMPOTENCY_IN_PROGRESS"],
            502: [VISIT_ERRORS[502], "BACKEND_UNAVAILABLE"],
          }),
          ...documentReplyOrStream(reply, visitorEvent(reply), "The reply"),
        },
      },
    );
}
