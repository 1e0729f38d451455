// The web's side of public pages: the owner's switch, the page itself, and the messages of visitors.
import { Elysia } from "elysia";
import { type BackendTransport, unwrap, unwrapJson } from "../../src/backend.ts";
import type { Config } from "../../src/config.ts";
import { forbidden, notFound } from "../../src/errors.ts";
import { contextOf, guarded, openRoutes } from "../../src/http.ts";
import type { Idempotency } from "../../src/idempotency.ts";
import { STREAM_HEADERS, wantsEvents } from "../../src/live-streams.ts";
import { answers, guardedBy, mayAnswer } from "../../src/openapi/told.ts";
import type { ServiceOf } from "../../src/plugin.ts";
import type { Agent, agents as agentsPlugin } from "../agents/index.ts";
import type { auth } from "../auth/index.ts";
import { type backendRoutes, VISIT_ERRORS } from "./backend.ts";
import type { Faces } from "./faces.ts";
import { type Card, card, messageBody, reply, settingsBody, settingsWithUrl } from "./model.ts";
import type { PublicPage, PublicPages } from "./pages.ts";
import type { Turns } from "./turns.ts";
import type { Visitor, Visitors } from "./visitors.ts";

type Accounts = ServiceOf<typeof auth>;

interface Deps {
  config: Config;
  backend: BackendTransport;
  idempotency: Idempotency;
  identities: Accounts["identities"];
  users: Pick<Accounts["users"], "byId">;
  agents: Pick<ServiceOf<typeof agentsPlugin>, "bySubdomain" | "guards" | "views">;
  pages: PublicPages;
  visitors: Visitors;
  turns: Turns;
  faces: Faces;
}

/** What subdomains are made of; nothing else is looked for. */
const IS_LABEL = /^[a-z0-9-]{1,63}$/;

const nobodyHere = () => notFound("There is no agent at this address.", "AGENT_NOT_FOUND");

export function webRoutes(deps: Deps) {
  const { backend, idempotency, identities, users, agents, pages, visitors, turns, faces } = deps;

  const find = async (subdomain: string) => (IS_LABEL.test(subdomain) ? agents.bySubdomain(subdomain) : undefined);
  const urlOf = (agent: Agent) => agents.views.detail(agent, "").url;

  /** The page, if anybody may talk there now. Nobody may where the account of the agent's owner is disabled. */
  async function openPage(agent: Agent): Promise<PublicPage | undefined> {
    const page = await pages.of(agent.id);
    return page.enabled && (await users.byId(agent.userId))?.disabledAt === null ? page : undefined;
  }

  async function cardOf(agent: Agent): Promise<Card> {
    const page = await openPage(agent);
    const { name, status, verified, verificationType } = agent;
    return {
      name,
      status: status === "stopped" ? "asleep" : status === "error" ? "unwell" : "online",
      verified,
      verificationType: verified ? verificationType : null,
      chat: page !== undefined,
      greeting: page?.greeting ?? "",
      url: urlOf(agent),
    };
  }

  /** Where this request finds the agent: by its path on Berth's own host, or on a host of its own. */
  const pathOf = (request: Request, { subdomain }: Agent) =>
    contextOf(request).agentOrigin === undefined ? `/a/${subdomain}` : "/";

  const welcomed = new WeakMap<Request, Agent>();
  /** Settles, before the body is read, whether this visitor may say something now. */
  async function welcome(request: Request, subdomain: string): Promise<Agent> {
    const agent = await find(subdomain);
    if (!agent) throw nobodyHere();
    if (!(await openPage(agent))) throw forbidden("CHAT_OFF", "This agent does not talk to visitors.");
    turns.count(contextOf(request).address, agent.id);
    welcomed.set(request, agent);
    return agent;
  }
  const guests = new Elysia({ name: "visits.guests" }).macro({
    guest: (_: true) => ({
      ...guarded(async ({ request, params }) => void (await welcome(request, params.subdomain ?? ""))),
      detail: guardedBy([], { 403: "CHAT_OFF", 404: "AGENT_NOT_FOUND", 429: ["RATE_LIMITED", "AGENT_BUSY"] }),
      resolve: async ({ request, params }: { request: Request; params: Record<string, string> }) => ({
        agent: welcomed.get(request) ?? (await welcome(request, params.subdomain ?? "")),
      }),
    }),
  });

  async function say(request: Request, agent: Agent, visitor: Visitor, message: string): Promise<Response> {
    const { address, cookies } = contextOf(request);
    const streams = wantsEvents(request);
    const over = await turns.begin(address, agent.id, request.signal);
    let lasts = false;
    try {
      const answer = await backend.fetch(
        { userId: `visitor:${visitor.id}`, isAdmin: false, agentId: agent.id, action: "agent.visit", address },
        `/api/agents/${agent.id}/visits`,
        {
          method: "POST",
          headers: { "content-type": "application/json", ...(streams && { accept: "text/event-stream" }) },
          body: JSON.stringify({ message, visitor: visitor.id }),
          signal: request.signal,
        },
      );
      cookies.push(visitors.remember(visitor, agent.id, pathOf(request, agent)));
      if (!answer.ok || !streams || !answer.body) return Response.json(await unwrapJson(answer));
      lasts = true;
      return new Response(whenOver(answer.body, over), { headers: STREAM_HEADERS });
    } finally {
      if (!lasts) over();
    }
  }

  const tags = ["Public page"];
  return new Elysia({ name: "visits.web" })
    .use(openRoutes)
    .use(agents.guards)
    .use(guests)
    .get("/api/agents/:id/public", async ({ agent }) => ({ ...(await pages.of(agent.id)), url: urlOf(agent) }), {
      ownAgent: { scope: "read", kind: "data" },
      response: { 200: settingsWithUrl },
      detail: { tags, summary: "Whether anybody may talk to an agent at its public address" },
    })
    .put(
      "/api/agents/:id/public",
      async ({ agent, identity, request, body }) => {
        const grant = identities.grant(identity, request, "agent.public", agent.id);
        const client = backend.client<ReturnType<typeof backendRoutes>>(grant);
        return { ...unwrap(await client.api.agents({ id: agent.id }).public.put(body)), url: urlOf(agent) };
      },
      {
        ownAgent: { scope: "write", kind: "data" },
        body: settingsBody,
        response: { 200: settingsWithUrl },
        detail: {
          tags,
          summary: "Let anybody talk to an agent at its public address, or nobody",
          description: "Off at first. Visitors spend the agent's budget: set one (`budget` in its configuration).",
          ...mayAnswer({ 502: "BACKEND_UNAVAILABLE" }),
        },
      },
    )
    .get(
      "/a/:subdomain",
      async ({ params: { subdomain }, request }) => {
        const accepted = request.headers.get("accept") ?? "";
        const agent = await find(subdomain);
        if (!agent) {
          if (accepted.includes("text/html")) return faces.nobody();
          throw nobodyHere();
        }
        const shown = await cardOf(agent);
        const asData = accepted.includes("application/json") && !accepted.includes("text/html");
        if (asData) return Response.json(shown, { headers: { vary: "accept" } });
        return faces.page(shown, agent.subdomain, contextOf(request).agentOrigin);
      },
      {
        open: true,
        detail: {
          tags,
          summary: "An agent's public page: a card, and a chat where its owner allows it",
          description: "HTML, unless `application/json` is asked for.",
          ...mayAnswer({ 404: "AGENT_NOT_FOUND" }),
          ...answers(card, "The card"),
        },
      },
    )
    .post(
      "/a/:subdomain/messages",
      ({ agent, body: { message }, request }) => {
        const visitor = visitors.recognize(request.headers.get("cookie"), agent.id);
        const caller = { request, ...(visitor.returns && { userId: `visitor ${visitor.id}` }) };
        return idempotency.respond(caller, () => say(request, agent, visitor, message));
      },
      {
        guest: true,
        body: messageBody,
        detail: {
          tags,
          summary: "Talk to an agent as a visitor, in a conversation of one's own",
          description:
            "Where the agent's owner allows it. A cookie for this address alone keeps the conversation together. " +
            "With `accept: text/event-stream` the reply is streamed: delta, reply, error.",
          ...mayAnswer({
            ...VISIT_ERRORS,
            409: [...VISIT_ERRORS[409], "IDEMPOTENCY_MISMATCH", "IDEMPOTENCY_IN_PROGRESS"],
            502: [VISIT_ERRORS[502], "BACKEND_UNAVAILABLE"],
          }),
          ...answers(reply, "The reply"),
        },
      },
    );
}

/** The same stream; `over` is called when it has ended, or nobody reads it any more. */
function whenOver(body: ReadableStream<Uint8Array>, over: () => void): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (!done) return controller.enqueue(value);
        controller.close();
      } catch (error) {
        controller.error(error);
      }
      over();
    },
    cancel(reason) {
      over();
      return reader.cancel(reason);
    },
  });
}
