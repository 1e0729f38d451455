// Calls the backend for the messages of agents on other hosts, within the limits of visitors.
import { unwrapJson } from "../../../src/kernel/http/backend/backend-response.ts";
import { parseEvents } from "../../../src/kernel/http/sse-parser.ts";
import type { Kernel, ServiceOf } from "../../../src/kernel/plugin.ts";
import { MINUTE } from "../../../src/kernel/util/time.ts";
import type { Agent } from "../../agents/index.ts";
import type { publicPage as publicPagePlugin } from "../../public-page/index.ts";
import { PEER_ACTION } from "../backend-routes.ts";
import type { peerList, peerMessageBody, peerOutcome } from "../model.ts";

export type PeerMessage = typeof peerMessageBody.static;
export type PeerOutcome = typeof peerOutcome.static;
type Listed = (typeof peerList.static)["messages"][number];

/** A turn as it goes on. `reset`: it has begun anew, what came before does not count. It ends as `running` if it waits for its owner. */
export type TurnEvent =
  | { kind: "text"; text: string }
  | { kind: "reset" }
  | { kind: "end"; status: "done" | "failed" | "cancelled" | "running"; reply: string };

/** The agent that is visited, and the address of the client. */
export interface Visit {
  agent: Agent;
  address: string;
}

interface Deps extends Pick<Kernel, "backend"> {
  visitors: ServiceOf<typeof publicPagePlugin>["visitors"];
}

/** The longest that a turn takes. */
const TURN_MS = 10 * MINUTE;

export type Visits = ReturnType<typeof createVisits>;

export function createVisits({ backend, visitors }: Deps) {
  async function call({ agent, address }: Visit, path: string, init: RequestInit = {}): Promise<Response> {
    const grant = { userId: "visitor:agent", isAdmin: false, agentId: agent.id, action: PEER_ACTION, address };
    return backend.fetch(grant, `/api/agents/${agent.id}/peers/messages${path}`, init);
  }
  const one = (messageId: string, rest = "") => `/${encodeURIComponent(messageId)}${rest}`;

  async function* follow(visit: Visit, messageId: string, signal?: AbortSignal): AsyncGenerator<TurnEvent> {
    const init = { headers: { accept: "text/event-stream" }, ...(signal && { signal }) };
    const response = await call(visit, one(messageId, "/events"), init);
    if (!response.ok || !response.body) {
      await unwrapJson(response);
      return;
    }
    const limit = AbortSignal.timeout(TURN_MS);
    const ended = signal ? AbortSignal.any([signal, limit]) : limit;
    let reply = "";
    // In process, a request's signal does not end the stream.
    for await (const { event, data } of parseEvents(
      response.body.pipeThrough(new TransformStream(), { signal: ended }),
    )) {
      if (data === "") continue;
      const { text, status } = JSON.parse(data) as { text?: string; status?: string };
      if (event === "delta" && text) yield { kind: "text", text };
      else if (event === "reset") yield { kind: "reset" };
      else if (event === "reply") reply = text ?? "";
      else if (event === "end") {
        yield { kind: "end", status: statusOf(status), reply };
      }
    }
  }

  return {
    follow,

    /** Stores a message. The visitor counts as present until its turn has ended, also if nobody waits for that. */
    async send(visit: Visit, message: PeerMessage, signal: AbortSignal): Promise<void> {
      const { agent, address } = visit;
      visitors.countMessage(address, agent.id);
      const release = await visitors.acquire(address, agent.id, signal);
      try {
        const headers = { "content-type": "application/json" };
        await unwrapJson(await call(visit, "", { method: "POST", headers, body: JSON.stringify(message) }));
      } catch (error) {
        release();
        throw error;
      }
      void untilEnd(visit, message.messageId).finally(release);
    },

    find: async (visit: Visit, messageId: string) =>
      (await unwrapJson(await call(visit, one(messageId)))) as PeerOutcome,

    async list(visit: Visit, conversation: string): Promise<readonly Listed[]> {
      const listed = await unwrapJson(await call(visit, `?conversation=${encodeURIComponent(conversation)}`));
      return (listed as typeof peerList.static).messages;
    },

    async cancel(visit: Visit, messageId: string): Promise<void> {
      await unwrapJson(await call(visit, one(messageId, "/cancel"), { method: "POST" }));
    },
  };

  async function untilEnd(visit: Visit, messageId: string): Promise<void> {
    try {
      for await (const { kind } of follow(visit, messageId)) if (kind === "end") return;
    } catch {
      // The backend is gone, or the agent: nobody is present there.
    }
  }
}

function statusOf(status: string | undefined) {
  if (status === "waiting") return "running";
  return status === "done" || status === "cancelled" ? status : "failed";
}
