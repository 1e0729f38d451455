// The web routes of the A2A protocol: each public agent's card, and its public address as the place to which messages go.
import { Elysia, t } from "elysia";
import { notFound } from "../../src/kernel/errors.ts";
import { documentErrors, documentGuard, documentResponse } from "../../src/kernel/http/openapi/route-documentation.ts";
import { contextOf, createRequestMemo } from "../../src/kernel/http/request-context.ts";
import { guarded } from "../../src/kernel/http/route-guards.ts";
import type { ServiceOf } from "../../src/kernel/plugin.ts";
import type { Agent, agents as agentsPlugin } from "../agents/index.ts";
import type { auth } from "../auth/index.ts";
import type { publicPage as publicPagePlugin } from "../public-page/index.ts";
import { agentCard, cardSchema } from "./a2a/card.ts";
import type { A2AEndpoint } from "./a2a/endpoint.ts";

interface Deps {
  agents: Pick<ServiceOf<typeof agentsPlugin>, "findBySubdomain" | "views">;
  users: Pick<ServiceOf<typeof auth>["users"], "byId">;
  publicPage: Pick<ServiceOf<typeof publicPagePlugin>, "publicPageOf">;
  /** Made at the first message, since the library takes memory. */
  endpoint: () => Promise<A2AEndpoint>;
}

interface PublicAgent {
  agent: Agent;
  greeting: string;
}

const tags = ["Public page"];
const agentNotFound = () => notFound("There is no agent at this address.", "AGENT_NOT_FOUND");
const jsonRpc = t.Object(
  {},
  {
    additionalProperties: true,
    description: "JSON-RPC 2.0",
    examples: [
      {
        jsonrpc: "2.0",
        id: 1,
        method: "SendMessage",
        params: { message: { messageId: "1", role: "ROLE_USER", parts: [{ text: "Ahoy" }] } },
      },
    ],
  },
);

export function webRoutes({ agents, users, publicPage, endpoint }: Deps) {
  const known = createRequestMemo<PublicAgent>();
  /** The same 404 for an agent that does not talk to visitors, so that nobody can find out which ones exist. */
  async function requirePublic(request: Request, subdomain: string): Promise<PublicAgent> {
    const agent = await agents.findBySubdomain(subdomain);
    if (!agent) throw agentNotFound();
    const { enabled, greeting } = await publicPage.publicPageOf(agent.id);
    if (!enabled || (await users.byId(agent.userId))?.disabledAt !== null) throw agentNotFound();
    return known.set(request, { agent, greeting });
  }
  const guards = new Elysia({ name: "peers.web-guards" }).macro({
    publicAgent: (_: true) => ({
      ...guarded(async ({ request, params }) => void (await requirePublic(request, params.subdomain ?? ""))),
      detail: documentGuard([], { 404: "AGENT_NOT_FOUND" }),
      resolve: async ({ request, params }: { request: Request; params: Record<string, string> }) => ({
        found: known.get(request) ?? (await requirePublic(request, params.subdomain ?? "")),
      }),
    }),
  });
  const urlOf = (agent: Agent) => agents.views.detail(agent, "").url;

  return new Elysia({ name: "peers.web" })
    .use(guards)
    .get(
      "/a/:subdomain/.well-known/agent-card.json",
      ({ found: { agent, greeting } }) => agentCard({ name: agent.name, greeting, url: urlOf(agent) }),
      {
        publicAgent: true,
        response: { 200: cardSchema },
        detail: {
          tags,
          summary: "The card by which other agents find a public agent (A2A protocol)",
          description: "Name, skills and endpoint of an agent whose owner lets others talk to it.",
          operationId: "getAgentCard",
        },
      },
    )
    .post(
      "/a/:subdomain",
      async ({ found: { agent }, body, request }) => {
        const visit = { agent, address: contextOf(request).address };
        return (await endpoint()).respond(request, { ...body }, visit, urlOf(agent));
      },
      {
        publicAgent: true,
        body: jsonRpc,
        detail: {
          tags,
          summary: "Talk to a public agent from another one (A2A protocol, JSON-RPC)",
          operationId: "callPublicAgent",
          description:
            "Versions 1.0 and 0.3, by the header `A2A-Version`; 0.3 without it. The limits of visitors hold. Streaming methods " +
            "answer with server-sent events.",
          ...documentErrors({}),
          ...documentResponse(jsonRpc, "The response, with errors of JSON-RPC"),
        },
      },
    );
}
