// The backend's side of public pages: where they are switched on, and where visitors are answered.
import { Elysia } from "elysia";
import { AppError } from "../../src/kernel/errors.ts";
import { documentErrors } from "../../src/kernel/http/openapi/route-documentation.ts";
import { acceptsEventStream } from "../../src/kernel/http/sse-streams.ts";
import type { ServiceOf } from "../../src/kernel/plugin.ts";
import { agentNotFound, type agents as agentsPlugin } from "../agents/index.ts";
import type { auth } from "../auth/index.ts";
import { eventStream, type Observer, type runtime } from "../runtime/index.ts";
import { reply, settings, settingsBody, visitBody } from "./model.ts";
import type { PublicPageStore } from "./public-page-store.ts";

interface Deps {
  identities: Pick<ServiceOf<typeof auth>["identities"], "guards">;
  agents: Pick<ServiceOf<typeof agentsPlugin>, "guards" | "find">;
  runtime: Pick<ServiceOf<typeof runtime>, "chat">;
  pageStore: PublicPageStore;
}

/** What visitors can be refused with. */
export const VISIT_ERRORS = {
  402: "BUDGET_EXCEEDED",
  404: "AGENT_NOT_FOUND",
  409: ["AGENT_STOPPED", "CANCELLED", "ALREADY_SETTLED"],
  502: "MODEL_UNAVAILABLE",
  503: ["STOPPING", "AGENT_CHANGING"],
};

export function backendRoutes({ identities, agents, runtime, pageStore }: Deps) {
  const tags = ["Public page"];
  return new Elysia({ name: "public-page.backend" })
    .use(identities.guards)
    .use(agents.guards)
    .put("/api/agents/:id/public", ({ agent, body }) => pageStore.update(agent.id, body), {
      agentCall: "agent.public",
      body: settingsBody,
      response: { 200: settings },
      detail: { tags, summary: "Let anybody talk to an agent at its public address, or nobody" },
    })
    .post(
      "/api/agents/:id/visits",
      async ({ caller, params: { id }, body: { message, visitor }, request }) => {
        // Only the web speaks for visitors, and says to whom: nobody talks in their name by a session or a key.
        const agent = caller.agentId === id ? await agents.find(id) : undefined;
        if (!agent) throw agentNotFound();
        const chatRequest = {
          agent,
          platform: "public" as const,
          // A conversation, and a circle of memory, of its own.
          peer: `visitor:${visitor}`,
          message,
          sender: { id: visitor, name: "" },
          byOwner: false,
        };
        const chat = async (observer: Observer | undefined, signal: AbortSignal) => {
          try {
            const { reply, timestamp } = await runtime.chat({ ...chatRequest, observer, signal });
            return { reply, timestamp };
          } catch (error) {
            throw toVisitorError(error);
          }
        };
        if (!acceptsEventStream(request)) return Response.json(await chat(undefined, request.signal));
        // Which tools an agent has is its owner's business.
        return eventStream(request.signal, ({ delta }, signal) => chat({ delta, tool: () => undefined }, signal));
      },
      {
        granted: { action: "agent.visit", scope: "chat" },
        body: visitBody,
        response: { 200: reply },
        detail: {
          tags,
          summary: "Answer a visitor of an agent's public page; for the web surface alone",
          description: "With `accept: text/event-stream` the reply is streamed: delta, reply, error.",
          ...documentErrors(VISIT_ERRORS),
        },
      },
    );
}

/** What strangers are told: nothing of models, keys and budgets. */
const VISITOR_MESSAGES: Readonly<Record<string, string>> = {
  AGENT_STOPPED: "This agent is asleep. Come back later.",
  BUDGET_EXCEEDED: "This agent has said all it can for now. Come back later.",
  MODEL_UNAVAILABLE: "This agent can't answer right now. Try again shortly.",
};

function toVisitorError(error: unknown): unknown {
  if (!(error instanceof AppError)) return error;
  const { status, code, message } = error;
  const text =
    VISITOR_MESSAGES[code] ?? (status < 500 || status === 503 ? message : "This agent can't answer right now.");
  return new AppError(status, code, text, {}, { cause: error });
}
