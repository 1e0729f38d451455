// Sends messages to agents and follows their turns for a while: long replies are asked for later, by the turn's id.
import { unwrapJson } from "../../../src/kernel/http/backend/backend-response.ts";
import { parseEvents } from "../../../src/kernel/http/sse-parser.ts";
import type { Kernel } from "../../../src/kernel/plugin.ts";
import { SECOND } from "../../../src/kernel/util/time.ts";
import type { Agent } from "../../agents/index.ts";
import type { McpCaller } from "../access.ts";
import { ASSISTANT_ACTION } from "../backend-routes.ts";

/** Clients give up after a minute. */
const WAIT_MS = 45 * SECOND;
const PROGRESS_EVERY_MS = SECOND;

export interface SentTurn {
  turnId: string;
  conversationId: string;
}

/** What is known of a turn: its reply or error, or that it goes on. */
export interface TurnProgress {
  status: "done" | "failed" | "cancelled" | "working";
  conversationId?: string;
  reply?: string;
  error?: string;
  /** Calls that the owner has to approve, in words. */
  approvals: string[];
}

/** Says in words how a turn goes on. */
export type OnProgress = (message: string) => void;

export function createTurns({ backend, waitMs = WAIT_MS }: Pick<Kernel, "backend"> & { waitMs?: number | undefined }) {
  const post = async (caller: McpCaller, agent: Agent, action: string, path: string, body: object) =>
    unwrapJson(
      await backend.fetch(caller.grantFor(action, agent.id), `/api/agents/${agent.id}${path}`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
      }),
    );

  return {
    /** Calls a backend route of the MCP server for an agent. */
    write: (caller: McpCaller, agent: Agent, path: string, body: object) =>
      post(caller, agent, ASSISTANT_ACTION, `/assistant/${path}`, { ...body, trusted: caller.trusted }),

    async send(caller: McpCaller, agent: Agent, message: string, conversation?: string): Promise<SentTurn> {
      const body = { message, ...(conversation !== undefined && { conversation }), trusted: caller.trusted };
      return (await post(caller, agent, ASSISTANT_ACTION, "/assistant/messages", body)) as SentTurn;
    },

    /** Ends a turn whose caller does not want the reply any more. */
    async cancel(caller: McpCaller, agent: Agent, turnId: string): Promise<void> {
      await post(caller, agent, "agent.chat", `/turns/${encodeURIComponent(turnId)}/cancel`, {});
    },

    /** Waits for the end of a turn, but not for long. Throws 404 `TURN_NOT_FOUND`. */
    async follow(
      caller: McpCaller,
      agent: Agent,
      turnId: string,
      signal: AbortSignal,
      onProgress: OnProgress,
    ): Promise<TurnProgress> {
      const path = `/api/agents/${agent.id}/turns/${encodeURIComponent(turnId)}/events`;
      const patience = AbortSignal.timeout(waitMs);
      const found: TurnProgress = { status: "working", approvals: [] };
      try {
        const response = await backend.fetch(caller.grantFor("agent.read", agent.id), path, {
          headers: { accept: "text/event-stream" },
          signal: AbortSignal.any([signal, patience]),
        });
        // Too many streams of this account are open: the turn goes on without a reader.
        if (response.status === 429) return found;
        if (!response.ok || !response.body) await unwrapJson(response);
        else await collect(readUntil(response.body, AbortSignal.any([signal, patience])), found, onProgress);
      } catch (error) {
        if (!patience.aborted || signal.aborted) throw error;
      }
      return found;
    },
  };
}

export type Turns = ReturnType<typeof createTurns>;

/** The stream until it ends or the signal aborts; in process, a request's signal does not end it. */
function readUntil(body: ReadableStream<Uint8Array>, signal: AbortSignal): ReadableStream<Uint8Array> {
  return body.pipeThrough(new TransformStream<Uint8Array, Uint8Array>(), { signal });
}

async function collect(body: ReadableStream<Uint8Array>, found: TurnProgress, onProgress: OnProgress): Promise<void> {
  let characters = 0;
  let saidAt = 0;
  for await (const { event, data } of parseEvents(body)) {
    // A heartbeat, or the time after which a reader comes back.
    if (data === "") continue;
    const fields = JSON.parse(data) as Record<string, unknown>;
    const text = (name: string) => (typeof fields[name] === "string" ? fields[name] : "");
    if (event === "delta") {
      characters += text("text").length;
      if (Date.now() - saidAt < PROGRESS_EVERY_MS) continue;
      saidAt = Date.now();
      onProgress(`Writing: ${characters} characters so far`);
    } else if (event === "tool") onProgress(`Uses ${text("name")}`);
    // The turn waits for its owner: the answer says so at once.
    else if (event === "waiting" && text("code") === "WAITING_FOR_APPROVAL") return;
    else if (event === "approval") found.approvals.push(text("summary"));
    else if (event === "reply") Object.assign(found, { reply: text("text"), conversationId: text("conversationId") });
    else if (event === "error") found.error = text("error");
    else if (event === "end") found.status = statusOf(text("status"));
  }
}

/** A turn that is suspended, until its owner has approved a call, goes on later. */
function statusOf(status: string): TurnProgress["status"] {
  if (status === "waiting") return "working";
  return status === "done" || status === "cancelled" ? status : "failed";
}
