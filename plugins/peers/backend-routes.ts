// Backend routes for messages of agents on other hosts. Only the web surface calls them, which has checked the visitor's limits.
import { Elysia } from "elysia";
import { notFound } from "../../src/kernel/errors.ts";
import { documentErrors, documentGuard } from "../../src/kernel/http/openapi/route-documentation.ts";
import { contextOf, createRequestMemo } from "../../src/kernel/http/request-context.ts";
import { guarded } from "../../src/kernel/http/route-guards.ts";
import { eventStreamResponse } from "../../src/kernel/http/sse-streams.ts";
import type { ServiceOf } from "../../src/kernel/plugin.ts";
import { type Agent, agentNotFound, type agents as agentsPlugin } from "../agents/index.ts";
import type { auth } from "../auth/index.ts";
import type { publicPage as publicPagePlugin } from "../public-page/index.ts";
import { type runtime as runtimePlugin, turnEvent } from "../runtime/index.ts";
import { TAINT } from "../skills/index.ts";
import { cancelledPeerTurn, peerList, peerListQuery, peerMessageBody, peerOutcome, peerTurn } from "./model.ts";
import { conversationOf, peerOf } from "./route.ts";

/** The action of the service tokens with which the web surface calls these routes. */
export const PEER_ACTION = "agent.peer";

interface Deps {
  identities: Pick<ServiceOf<typeof auth>["identities"], "authorize">;
  agents: Pick<ServiceOf<typeof agentsPlugin>, "find">;
  runtime: Pick<ServiceOf<typeof runtimePlugin>, "agentMessages" | "followTurn">;
  toVisitorError: ServiceOf<typeof publicPagePlugin>["toVisitorError"];
}

const LIST = "/api/agents/:id/peers/messages";
const ONE = `${LIST}/:messageId`;
const tags = ["Public page"];
const messageNotFound = () => notFound("There is no such message.");
const notThere = { 404: ["AGENT_NOT_FOUND", "NOT_FOUND"] };

export function backendRoutes({ identities, agents, runtime, toVisitorError }: Deps) {
  const { agentMessages, followTurn } = runtime;
  const admitted = createRequestMemo<Agent>();
  async function admit(request: Request, id: string): Promise<Agent> {
    const caller = await identities.authorize(request, PEER_ACTION, "chat");
    const agent = caller.agentId === id ? await agents.find(id) : undefined;
    if (!agent) throw agentNotFound();
    return admitted.set(request, agent);
  }
  const guards = new Elysia({ name: "peers.guards" }).macro({
    peer: (_: true) => ({
      ...guarded(async ({ request, params }) => void (await admit(request, params.id ?? ""))),
      detail: documentGuard(["serviceToken"], { 404: "AGENT_NOT_FOUND" }),
      resolve: async ({ request, params }: { request: Request; params: Record<string, string> }) => ({
        agent: admitted.get(request) ?? (await admit(request, params.id ?? "")),
      }),
    }),
  });

  async function requireTurn(agent: Agent, messageId: string) {
    const found = await agentMessages.find(agent.id, { platform: "public", messageId });
    if (!found) throw messageNotFound();
    return found;
  }

  return new Elysia({ name: "peers.backend" })
    .use(guards)
    .post(
      LIST,
      async ({ agent, body: { messageId, conversation, path, sender, text }, status }) => {
        try {
          const turn = await agentMessages.send(agent, {
            platform: "public",
            peer: peerOf({ conversation, path }),
            messageId,
            sender: { id: path.at(-1) ?? "agent", name: sender },
            byOwner: false,
            taint: TAINT.outside,
            text,
          });
          return status(202, turn);
        } catch (error) {
          throw toVisitorError(error);
        }
      },
      {
        peer: true,
        body: peerMessageBody,
        response: { 202: peerTurn },
        detail: {
          tags,
          summary: "Store a message of another host's agent; only for the web surface",
          description: "The web surface has spoken the A2A protocol with the caller; here the message becomes a turn.",
          operationId: "createPeerMessage",
          ...documentErrors({ 409: ["AGENT_STOPPED", "AGENT_FROZEN"], 429: "TOO_MANY_WAITING", 503: "STOPPING" }),
        },
      },
    )
    .get(
      LIST,
      async ({ agent, query: { conversation } }) => ({
        messages: await agentMessages.list(agent, { platform: "public", peer: peerOf({ conversation, path: [] }) }),
      }),
      {
        peer: true,
        query: peerListQuery,
        response: { 200: peerList },
        detail: {
          tags,
          summary: "What became of the messages of a conversation, newest first; only for the web surface",
          description: "For a caller of the A2A protocol that asks for a conversation.",
          operationId: "listPeerMessages",
          ...documentErrors({ 404: "AGENT_NOT_FOUND" }),
        },
      },
    )
    .get(
      ONE,
      async ({ agent, params: { messageId } }) => {
        const { turnId, peer } = await requireTurn(agent, messageId);
        const found = await agentMessages.outcome(agent, turnId);
        if (!found) throw messageNotFound();
        const { status, reply } = found;
        return { status, conversation: conversationOf(peer), reply: reply?.text ?? null, at: reply?.at ?? null };
      },
      {
        peer: true,
        response: { 200: peerOutcome },
        detail: {
          tags,
          summary: "What became of a message; only for the web surface",
          description: "For a caller of the A2A protocol that asks for a task.",
          operationId: "getPeerMessage",
          ...documentErrors(notThere),
        },
      },
    )
    .get(
      `${ONE}/events`,
      async ({ agent, params: { messageId }, request }) =>
        followTurn({
          request,
          agent,
          turnId: (await requireTurn(agent, messageId)).turnId,
          // Not the owner's: visitors can't use up the streams of the console.
          reader: { userId: `visitor ${contextOf(request).address} ${agent.id}`, sessionId: undefined },
          isStillAllowed: async () => (await agents.find(agent.id)) !== undefined,
        }),
      {
        peer: true,
        detail: {
          tags,
          summary: "Follow the turn of a message; only for the web surface",
          description: "The same events as those of a turn.",
          operationId: "followPeerMessage",
          ...documentErrors({ ...notThere, 429: "TOO_MANY_STREAMS", 503: "TURN_BUSY" }),
          responses: { 200: eventStreamResponse(turnEvent) },
        },
      },
    )
    .post(
      `${ONE}/cancel`,
      async ({ agent, params: { messageId } }) => {
        await agentMessages.cancel(agent, (await requireTurn(agent, messageId)).turnId);
        return { success: true };
      },
      {
        peer: true,
        response: { 200: cancelledPeerTurn },
        detail: {
          tags,
          summary: "Cancel the turn of a message; only for the web surface",
          description: "A message that is answered already can't be cancelled.",
          operationId: "cancelPeerMessage",
          ...documentErrors({ ...notThere, 409: "ALREADY_SETTLED" }),
        },
      },
    );
}
