// An agent's log as it is written: the lines after the last one seen, read as fast as the reader reads.
import { createSseStreams, formatEvent, type StreamSource } from "../../../src/kernel/http/sse-streams.ts";
import { type Kernel, ownsDatabase, type ServiceOf } from "../../../src/kernel/plugin.ts";
import type { auth, Identity } from "../../auth/index.ts";
import type { AgentHooks } from "../agent-hooks.ts";
import { type Agent, type AgentStore, agentNotFound } from "../agent-store.ts";
import type { Views } from "../model.ts";
import type { LogLevel, LogStore } from "./log-store.ts";

type AuthService = ServiceOf<typeof auth>;

export interface FollowRequest {
  request: Request;
  identity: Identity;
  agent: Pick<Agent, "id">;
  level: LogLevel | undefined;
  /** The id of the last line seen; undefined begins with what is written from now on. */
  after: string | undefined;
}

export interface LogStream {
  /**
   * Ends with the reader, at the service's stop, when the agent is removed or handed on, and when the reader is signed out.
   * Throws 429 `TOO_MANY_STREAMS` past 20 of one user.
   */
  follow(options: FollowRequest): Promise<Response>;
  /** Ends all. */
  close(): void;
}

/** Lines of at most 8 KiB that a reader who doesn't read may hold in memory. */
const BATCH_SIZE = 50;
/** Where another process writes the lines: how often to look for new ones. */
const POLL_MS = 1_000;

interface Deps extends Pick<Kernel, "config" | "database" | "log"> {
  identities: Pick<AuthService["identities"], "authenticate">;
  onSessionRevoked: AuthService["onSessionRevoked"];
  agents: Pick<AgentStore, "find">;
  hooks: Pick<AgentHooks, "onDelete">;
  logs: Pick<LogStore, "newestId" | "listSince" | "onWritten">;
  views: Pick<Views, "line">;
  heartbeatMs?: number;
}

export function createLogStream(deps: Deps): LogStream {
  const { config, database, log, identities, onSessionRevoked, agents, hooks, logs, views, heartbeatMs } = deps;
  const streams = createSseStreams({ log, heartbeatMs });
  onSessionRevoked((sessionId) => streams.end((reader) => reader.sessionId === sessionId));
  hooks.onDelete((agentId) => streams.end((reader) => reader.agentId === agentId));

  async function createSource(
    agentId: string,
    { level, after }: Pick<FollowRequest, "level" | "after">,
  ): Promise<StreamSource> {
    let lastId = after ?? (await logs.newestId(agentId));
    return {
      lastEventId: () => lastId,
      async read() {
        const lines = await logs.listSince(agentId, lastId, { limit: BATCH_SIZE, level });
        lastId = lines.at(-1)?.id ?? lastId;
        return {
          text: lines.map((line) => formatEvent(line.id, "log", views.line(line))).join(""),
          more: lines.length === BATCH_SIZE,
        };
      },
      listen(wake) {
        if (ownsDatabase({ config, database })) return logs.onWritten((agentIds) => agentIds.has(agentId) && wake());
        const timer = setInterval(wake, POLL_MS);
        return () => clearInterval(timer);
      },
    };
  }

  return {
    follow({ request, identity: { user, session }, agent: { id }, ...from }) {
      const reader = { userId: user.id, sessionId: session?.id, agentId: id };
      return streams.open(
        reader,
        request,
        () => createSource(id, from),
        async (retriedRequest) => {
          await identities.authenticate(retriedRequest, "read");
          if ((await agents.find(id))?.userId !== user.id) throw agentNotFound();
          return true;
        },
      );
    },
    close: streams.close,
  };
}
