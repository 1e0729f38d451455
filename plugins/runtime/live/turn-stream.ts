// Streams a turn as server-sent events: what it has produced so far, then how it goes on; or its stored outcome.
import { AppError } from "../../../src/kernel/errors.ts";
import { parseFrames } from "../../../src/kernel/http/sse-parser.ts";
import {
  createSseStreams,
  EVENT_STREAM_HEADERS,
  formatEvent,
  type StreamSource,
  type StreamSubscriber,
} from "../../../src/kernel/http/sse-streams.ts";
import type { Log } from "../../../src/kernel/telemetry/log.ts";
import type { Agent } from "../../agents/index.ts";
import type { StoredOutcome, TurnList } from "../conversations/turn-list.ts";
import type { RecallSuspended } from "../journal/suspended-turns.ts";
import { withFiles } from "../reply-files/sent-files.ts";
import { turnNotFound } from "./detached-turns.ts";
import { type LiveTurns, toReply } from "./live-turns.ts";

interface Deps {
  log: Log;
  liveTurns: LiveTurns;
  turnList: Pick<TurnList, "outcome">;
  recallSuspended: RecallSuspended;
  heartbeatMs?: number | undefined;
}

export interface FollowTurn {
  request: Request;
  agent: Agent;
  turnId: string;
  reader: Pick<StreamSubscriber, "userId" | "sessionId">;
  isStillAllowed(repeatedRequest: Request): Promise<boolean>;
}

export function createTurnStream({ log, liveTurns, turnList, recallSuspended, heartbeatMs }: Deps) {
  const streams = createSseStreams({ log, heartbeatMs });

  /** Turns of which is asked now whether they are over. */
  const asked = new Map<string, Promise<StoredOutcome | undefined>>();

  /** Keeps a turn from now on; returns its outcome if it is over. Throws 404 `TURN_NOT_FOUND`. */
  function keep(agent: Agent, turnId: string): Promise<StoredOutcome | undefined> {
    const key = `${agent.id} ${turnId}`;
    // Until then it is kept only in case it is not over: a reader that begins with it would be left without an end.
    const earlier = asked.get(key);
    if (earlier) return earlier;
    const asking = findOrKeep(agent, turnId).finally(() => asked.delete(key));
    asked.set(key, asking);
    return asking;
  }

  async function findOrKeep(agent: Agent, turnId: string): Promise<StoredOutcome | undefined> {
    const key = { id: turnId, agentId: agent.id };
    if (liveTurns.source(key, undefined)) return undefined;
    // Kept from before the question whether the turn is over: so the answer can't come too early.
    liveTurns.open(key, true);
    const stored = await turnList.outcome(agent, turnId).catch(() => undefined);
    if (stored?.status === "waiting") {
      await recallSuspended(agent.id, turnId).catch((error: unknown) => {
        liveTurns.drop(turnId);
        throw error;
      });
    }
    if (stored?.status === "waiting" || stored?.status === "running") return undefined;
    liveTurns.drop(turnId);
    if (!stored) throw turnNotFound();
    return stored;
  }

  function open(agent: Agent, turnId: string, after?: string): StreamSource {
    const source = liveTurns.source({ id: turnId, agentId: agent.id }, after);
    if (!source) throw new AppError(503, "TURN_BUSY", "This turn can't be followed right now. Try again shortly.");
    return source;
  }

  return {
    /** Opens a stream. Throws 404 `TURN_NOT_FOUND`, and 429 `TOO_MANY_STREAMS` beyond 20 streams of one user. */
    async follow({ request, agent, turnId, reader, isStillAllowed }: FollowTurn): Promise<Response> {
      const after = request.headers.get("last-event-id") ?? undefined;
      const stored = await keep(agent, turnId);
      if (stored) return new Response(storedEvents(agent.id, turnId, stored), { headers: EVENT_STREAM_HEADERS });
      return streams.open({ ...reader, agentId: agent.id }, request, () => open(agent, turnId, after), isStillAllowed);
    },

    /**
     * The same events for a reader in this process, until the turn is over or waits for its owner, or the signal aborts. They end
     * without `end` if Berth stops. Throws as `follow`, before the first event.
     */
    async events(agent: Agent, turnId: string, signal: AbortSignal): Promise<AsyncGenerator<TurnFrame>> {
      const stored = await keep(agent, turnId);
      return stored ? parseFrames(storedEvents(agent.id, turnId, stored)) : readSource(open(agent, turnId), signal);
    },
    end: streams.end,
    close: streams.close,
  };
}

export type TurnStream = ReturnType<typeof createTurnStream>;

/** An event of a turn; `data` is JSON. */
export interface TurnFrame {
  event: string;
  data: string;
}

async function* readSource(source: StreamSource, signal: AbortSignal): AsyncGenerator<TurnFrame> {
  let wake: () => void = () => undefined;
  const notify = () => wake();
  const unlisten = source.listen(notify);
  signal.addEventListener("abort", notify, { once: true });
  try {
    while (!signal.aborted) {
      const { promise, resolve } = Promise.withResolvers<void>();
      wake = resolve;
      const { text, end } = await source.read();
      yield* parseFrames(text);
      if (end) return;
      if (text === "") await promise;
    }
  } finally {
    signal.removeEventListener("abort", notify);
    unlisten();
  }
}

/** The end of a turn that is over. */
function storedEvents(agentId: string, turnId: string, { status, sessionId, error, reply }: StoredOutcome): string {
  const events: [string, unknown][] = [];
  if (reply) {
    const { text, at, files } = reply;
    const shown = toReply({ reply: text, timestamp: at, ...withFiles(agentId, files) });
    events.push(["reply", { turnId, conversationId: sessionId, ...shown }]);
  }
  if (error) events.push(["error", { error: error.message, ...error }]);
  events.push(["end", { turnId, status }]);
  return events.map(([event, data], n) => formatEvent(`stored.${n + 1}`, event, data)).join("");
}
