// An agent's log as it is written: the lines after the last one seen, read as fast as the reader reads.
import { createLiveStreams, eventFrame, type Source } from "../../src/live-streams.ts";
import { type Kernel, ownsDatabase, type ServiceOf } from "../../src/plugin.ts";
import type { auth, Identity } from "../auth/index.ts";
import { type Agent, type Agents, noSuchAgent } from "./agents.ts";
import type { Changes } from "./changes.ts";
import type { LogLevel, Logs } from "./logs.ts";
import type { Views } from "./model.ts";

type Accounts = ServiceOf<typeof auth>;

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
  follow(wanted: FollowRequest): Promise<Response>;
  /** Ends all. */
  close(): void;
}

/** Lines of at most 8 KiB that a reader who doesn't read may hold in memory. */
const BATCH = 50;
/** Where another process writes the lines: how often to look for new ones. */
const POLL_MS = 1_000;

interface Deps extends Pick<Kernel, "config" | "database" | "log"> {
  identities: Pick<Accounts["identities"], "authenticate">;
  onSessionRevoked: Accounts["onSessionRevoked"];
  agents: Pick<Agents, "find">;
  changes: Pick<Changes, "onDelete">;
  logs: Pick<Logs, "newest" | "since" | "onWritten">;
  views: Pick<Views, "line">;
  heartbeatMs?: number;
}

export function createLogStream(deps: Deps): LogStream {
  const { config, database, log, identities, onSessionRevoked, agents, changes, logs, views, heartbeatMs } = deps;
  const streams = createLiveStreams({ log, heartbeatMs });
  onSessionRevoked((sessionId) => streams.end((reader) => reader.sessionId === sessionId));
  changes.onDelete((agentId) => streams.end((reader) => reader.agentId === agentId));

  async function sourceOf(agentId: string, { level, after }: Pick<FollowRequest, "level" | "after">): Promise<Source> {
    let last = after ?? (await logs.newest(agentId));
    return {
      place: () => last,
      async read() {
        const lines = await logs.since(agentId, last, { limit: BATCH, level });
        last = lines.at(-1)?.id ?? last;
        return {
          text: lines.map((line) => eventFrame(line.id, "log", views.line(line))).join(""),
          more: lines.length === BATCH,
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
        () => sourceOf(id, from),
        async (again) => {
          await identities.authenticate(again, "read");
          if ((await agents.find(id))?.userId !== user.id) throw noSuchAgent();
          return true;
        },
      );
    },
    close: streams.close,
  };
}
