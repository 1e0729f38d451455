// Streams an agent's log as server-sent events: reads the lines after the last one sent, no faster than the client
// does.
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
  /** The id of the last line that the client has; undefined streams only lines that are written from now on. */
  after: string | undefined;
}

export interface LogStream {
  /**
   * Opens a stream. It ends when the client leaves or is signed out, when the agent is removed or gets another owner,
   * and when the service stops. Throws 429 `TOO_MANY_STREAMS` beyond 20 streams of one user.
   */
  follow(options: FollowRequest): Promise<Response>;
  /** Ends all streams. */
  close(): void;
}

/** Lines (at most 8 KiB each) that are held in memory for a client that doesn't read. */
const BATCH_SIZE = 50;
/** How often to query for new lines where another process writes them. */
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
