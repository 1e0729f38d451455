// Routes of an agent's log: the newest lines on both surfaces, and a stream of new lines on the web.
import { Elysia, type Static } from "elysia";
import { AppError, invalidInput } from "../../../src/kernel/errors.ts";
import { unwrap } from "../../../src/kernel/http/backend/backend-response.ts";
import { documentReplyOrStream, eventSchema } from "../../../src/kernel/http/openapi/event-streams.ts";
import { documentErrors } from "../../../src/kernel/http/openapi/route-documentation.ts";
import { readFlag, readLimit } from "../../../src/kernel/http/paging.ts";
import { acceptsEventStream } from "../../../src/kernel/http/sse-streams.ts";
import type { Kernel } from "../../../src/kernel/plugin.ts";
import type { auth, Identity } from "../../auth/index.ts";
import type { createAgentGuards } from "../agent-guards.ts";
import type { Agent } from "../agent-store.ts";
import { logLine, logsQuery, logsResponse, type Views } from "../model.ts";
import { LOG_LEVELS, type LogStore } from "./log-store.ts";
import type { LogStream } from "./log-stream.ts";

interface Deps extends Pick<Kernel, "config" | "backend"> {
  identities: Pick<ReturnType<typeof auth.setup>["service"]["identities"], "createGrant">;
  guards: ReturnType<typeof createAgentGuards>;
  logs: LogStore;
  logStream: LogStream;
  views: Views;
}

interface LogRequest {
  agent: Agent;
  identity: Identity;
  query: Static<typeof logsQuery>;
  request: Request;
}

const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 100;
/** Milliseconds to wait for the backend before answering with the lines in the database. */
const BACKEND_TIMEOUT_MS = 5_000;

type LogsBackend = ReturnType<typeof logRoutes>["backend"];

export function logRoutes({ config, backend: transport, identities, guards, logs, logStream, views }: Deps) {
  async function list({ agent, query }: Pick<LogRequest, "agent" | "query">) {
    const limit = readLimit(query.limit, DEFAULT_LIMIT, MAX_LIMIT);
    const { lines, total } = await logs.list(agent.id, {
      limit,
      level: readLevel(query.level),
      before: readLineId(query.before, "before"),
    });
    return { logs: lines.map(views.line), total, limit, status: "ok" as const };
  }

  /**
   * Asks the process that writes the lines, which still has the newest ones in memory: a restart is in the log as soon
   * as it is done. While the backend can't be reached, answers from the database.
   */
  async function listFresh(context: LogRequest): Promise<Static<typeof logsResponse>> {
    if (config.role !== "web") return list(context);
    const { agent, identity, query, request } = context;
    const granted = identities.createGrant(identity, request, "agent.read", agent.id);
    const fetch = { signal: AbortSignal.timeout(BACKEND_TIMEOUT_MS) };
    try {
      return unwrap(
        await transport.client<LogsBackend>(granted).api.agents({ id: agent.id }).logs.get({ query, fetch }),
      );
    } catch (error) {
      if (!(error instanceof AppError && error.code === "BACKEND_UNAVAILABLE")) throw error;
      return list(context);
    }
  }

  async function follow({ agent, identity, query, request }: LogRequest): Promise<Response> {
    const after = readLineId(request.headers.get("last-event-id") ?? query.lastEventId, "lastEventId");
    return logStream.follow({ request, identity, agent, level: readLevel(query.level), after });
  }

  const backend = new Elysia({ name: "agents.logs.backend" }).use(guards).get("/api/agents/:id/logs", list, {
    agentCall: "agent.read",
    query: logsQuery,
    response: { 200: logsResponse },
    detail: {
      tags: ["Agents"],
      summary: "What an agent did, newest first",
      description: "Kept are 14 days or 10,000 lines, whichever is less.",
    },
  });

  const web = new Elysia({ name: "agents.logs" })
    .use(guards)
    .get("/api/agents/:id/logs", (context) => (wantsFollow(context) ? follow(context) : listFresh(context)), {
      ownAgent: { scope: "read", kind: "data" },
      query: logsQuery,
      response: { 200: logsResponse },
      detail: {
        tags: ["Agents"],
        summary: "What an agent did, newest first",
        description:
          "With `follow=1` and `Accept: text/event-stream` the lines as they are written, oldest first: events `log` whose " +
          "`id` is the line's, so that a stream that was cut off goes on without gap or duplicate. " +
          "Kept are 14 days or 10,000 lines, whichever is less.",
        ...documentErrors({ 429: "TOO_MANY_STREAMS" }),
        ...documentReplyOrStream(
          logsResponse,
          eventSchema("LogEvent", "One line, as it is written.", () => ({ log: logLine })),
          "The lines",
        ),
      },
    });

  return { web, backend };
}

const wantsFollow = ({ query, request }: LogRequest) => readFlag(query.follow, "follow") && acceptsEventStream(request);

function readLevel(value: string | undefined) {
  if (value === undefined) return undefined;
  const level = LOG_LEVELS.find((known) => known === value);
  if (!level) throw invalidInput({ path: "level", message: `The level is one of: ${LOG_LEVELS.join(", ")}.` });
  return level;
}

/** The id of a line; undefined for none. */
function readLineId(value: string | undefined, path: string): string | undefined {
  if (value === undefined || value === "") return undefined;
  if (!/^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/.test(value)) {
    throw invalidInput({ path, message: "Give the id of a line that you have seen." });
  }
  return value;
}
