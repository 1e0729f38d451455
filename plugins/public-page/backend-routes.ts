// Defines the backend surface's route by which the web passes on what visitors of public pages write.
import { Elysia } from "elysia";
import { documentReplyOrStream } from "../../src/kernel/http/openapi/event-streams.ts";
import { documentErrors, documentGuard } from "../../src/kernel/http/openapi/route-documentation.ts";
import { createRequestMemo } from "../../src/kernel/http/request-context.ts";
import { guarded } from "../../src/kernel/http/route-guards.ts";
import { acceptsEventStream } from "../../src/kernel/http/sse-streams.ts";
import type { ServiceOf } from "../../src/kernel/plugin.ts";
import { type Agent, agentNotFound, type agents as agentsPlugin } from "../agents/index.ts";
import type { auth } from "../auth/index.ts";
import { eventStream, type Observer, type runtime, visitorEvent } from "../runtime/index.ts";
import { reply, VISIT_ERRORS, visitBody } from "./model.ts";
import { toVisitorError } from "./visitor-errors.ts";
import { createNamedVisits } from "./visits/named-visits.ts";

interface Deps {
  identities: Pick<ServiceOf<typeof auth>["identities"], "authorize">;
  agents: Pick<ServiceOf<typeof agentsPlugin>, "find">;
  runtime: Pick<ServiceOf<typeof runtime>, "chat" | "agentMessages" | "turnEvents">;
}

export function backendRoutes({ identities, agents, runtime }: Deps) {
  const answer = createNamedVisits({ runtime });
  const visitedAgents = createRequestMemo<Agent>();
  /** Only the web surface speaks for visitors; its token names the agent. A session or an API key names none: 404. */
  async function admitVisit(request: Request, id: string): Promise<Agent> {
    const caller = await identities.authorize(request, "agent.visit", "chat");
    const agent = caller.agentId === id ? await agents.find(id) : undefined;
    if (!agent) throw agentNotFound();
    return visitedAgents.set(request, agent);
  }
  const visitGuards = new Elysia({ name: "public-page.visit-guards" }).macro({
    visit: (_: true) => ({
      ...guarded(async ({ request, params }) => void (await admitVisit(request, params.id ?? ""))),
      detail: documentGuard(["serviceToken"], { 404: "AGENT_NOT_FOUND" }),
      resolve: async ({ request, params }: { request: Request; params: Record<string, string> }) => ({
        agent: visitedAgents.get(request) ?? (await admitVisit(request, params.id ?? "")),
      }),
    }),
  });

  const tags = ["Public page"];
  return new Elysia({ name: "public-page.backend" }).use(visitGuards).post(
    "/api/agents/:id/visits",
    async ({ agent, body, request }) => {
      const chat = async (observer: Observer | undefined, signal: AbortSignal) => {
        try {
          return await answer({ agent, ...body, id: body.id }, observer, signal);
        } catch (error) {
          throw toVisitorError(error);
        }
      };
      if (!acceptsEventStream(request)) return Response.json(await chat(undefined, request.signal));
      // Tool calls are not shown: which tools an agent has is private to its owner.
      return eventStream(request.signal, ({ delta }, signal) => chat({ delta, tool: () => undefined }, signal));
    },
    {
      visit: true,
      body: visitBody,
      response: { 200: reply },
      detail: {
        tags,
        summary: "Answer a visitor of an agent's public page; only for the web surface",
        description: "With `accept: text/event-stream` the reply is streamed: delta, reply, error.",
        ...documentErrors(VISIT_ERRORS),
        ...documentReplyOrStream(reply, visitorEvent(reply), "The reply"),
      },
    },
  );
}
