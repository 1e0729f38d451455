// Streams a turn as server-sent events: what it has produced so far, then how it goes on; or its stored outcome.
import { AppError } from "../../../src/kernel/errors.ts";
import {
  createSseStreams,
  EVENT_STREAM_HEADERS,
  formatEvent,
  type StreamSubscriber,
} from "../../../src/kernel/http/sse-streams.ts";
import type { Log } from "../../../src/kernel/telemetry/log.ts";
import type { Agent } from "../../agents/index.ts";
import type { StoredOutcome, TurnList } from "../conversations/turn-list.ts";
import { withFiles } from "../reply-files/sent-files.ts";
import { turnNotFound } from "./detached-turns.ts";
import { type LiveTurns, toReply } from "./live-turns.ts";

interface Deps {
  log: Log;
  liveTurns: LiveTurns;
  turnList: Pick<TurnList, "outcome">;
  heartbeatMs?: number | undefined;
}

export interface FollowTurn {
  request: Request;
  agent: Agent;
  turnId: string;
  reader: Pick<StreamSubscriber, "userId" | "sessionId">;
  isStillAllowed(repeatedRequest: Request): Promise<boolean>;
}

export function createTurnStream({ log, liveTurns, turnList, heartbeatMs }: Deps) {
  const streams = createSseStreams({ log, heartbeatMs });

  return {
    /** Opens a stream. Throws 404 `TURN_NOT_FOUND`, and 429 `TOO_MANY_STREAMS` beyond 20 streams of one user. */
    async follow({ request, agent, turnId, reader, isStillAllowed }: FollowTurn): Promise<Response> {
      const key = { id: turnId, agentId: agent.id };
      const after = request.headers.get("last-event-id") ?? undefined;
      const isKept = liveTurns.source(key, after) !== undefined;
      // Kept from before the question whether the turn is over: so the answer can't come too early.
      if (!isKept) liveTurns.open(key, true);
      const stored = isKept ? undefined : await turnList.outcome(agent, turnId).catch(() => undefined);
      if (!isKept && (!stored || (stored.status !== "waiting" && stored.status !== "running"))) {
        liveTurns.drop(turnId);
        if (!stored) throw turnNotFound();
        return storedStream(agent.id, turnId, stored);
      }
      const open = () => {
        const source = liveTurns.source(key, after);
        if (!source) throw new AppError(503, "TURN_BUSY", "This turn can't be followed right now. Try again shortly.");
        return source;
      };
      return streams.open({ ...reader, agentId: agent.id }, request, open, isStillAllowed);
    },
    end: streams.end,
    close: streams.close,
  };
}

export type TurnStream = ReturnType<typeof createTurnStream>;

/** The end of a turn that is over. */
function storedStream(agentId: string, turnId: string, { status, sessionId, error, reply }: StoredOutcome): Response {
  const events: [string, unknown][] = [];
  if (reply) {
    const { text, at, files } = reply;
    const shown = toReply({ reply: text, timestamp: at, ...withFiles(agentId, files) });
    events.push(["reply", { turnId, conversationId: sessionId, ...shown }]);
  }
  if (error) events.push(["error", { error: error.message, ...error }]);
  events.push(["end", { turnId, status }]);
  const text = events.map(([event, data], n) => formatEvent(`stored.${n + 1}`, event, data)).join("");
  return new Response(text, { headers: EVENT_STREAM_HEADERS });
}
