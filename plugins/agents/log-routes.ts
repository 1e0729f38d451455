// The routes of an agent's log: its newest lines on both surfaces, on the web also the lines as they are written.
import { Elysia, type Static } from "elysia";
import { unwrap } from "../../src/backend.ts";
import { AppError, invalid } from "../../src/errors.ts";
import { wantsEvents } from "../../src/live-streams.ts";
import { mayAnswer } from "../../src/openapi/told.ts";
import { readLimit } from "../../src/paging.ts";
import type { Kernel } from "../../src/plugin.ts";
import type { auth, Identity } from "../auth/index.ts";
import type { Agent } from "./agents.ts";
import type { createAgentGuards } from "./guards.ts";
import type { LogStream } from "./log-stream.ts";
import { LOG_LEVELS, type Logs } from "./logs.ts";
import { logsQuery, logs as logsSchema, type Views } from "./model.ts";

interface Deps extends Pick<Kernel, "config" | "backend"> {
  identities: Pick<ReturnType<typeof auth.setup>["service"]["identities"], "grant">;
  guards: ReturnType<typeof createAgentGuards>;
  logs: Logs;
  logStream: LogStream;
  views: Views;
}

interface Asked {
  agent: Agent;
  identity: Identity;
  query: Static<typeof logsQuery>;
  request: Request;
}

const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 100;
/** Milliseconds after which the lines that are on disk have to do. */
const PATIENCE = 5_000;

type LogsBackend = ReturnType<typeof logRoutes>["backend"];

export function logRoutes({ config, backend: transport, identities, guards, logs, logStream, views }: Deps) {
  async function list({ agent, query }: Pick<Asked, "agent" | "query">) {
    const limit = readLimit(query.limit, DEFAULT_LIMIT, MAX_LIMIT);
    const { lines, total } = await logs.list(agent.id, { limit, level: readLevel(query.level) });
    return { logs: lines.map(views.line), total, limit, status: "ok" as const };
  }

  /**
   * The process that writes the lines knows those of the last moment too: whoever has just restarted an agent finds it in
   * the log. While the backend can't be reached, what is in the database is shown.
   */
  async function fresh(asked: Asked): Promise<Static<typeof logsSchema>> {
    if (config.role !== "web") return list(asked);
    const { agent, identity, query, request } = asked;
    const granted = identities.grant(identity, request, "agent.read", agent.id);
    const fetch = { signal: AbortSignal.timeout(PATIENCE) };
    try {
      return unwrap(
        await transport.client<LogsBackend>(granted).api.agents({ id: agent.id }).logs.get({ query, fetch }),
      );
    } catch (error) {
      if (!(error instanceof AppError && error.code === "BACKEND_UNAVAILABLE")) throw error;
      return list(asked);
    }
  }

  async function follow({ agent, identity, query, request }: Asked): Promise<Response> {
    const after = readLineId(request.headers.get("last-event-id") ?? query.lastEventId);
    return logStream.follow({ request, identity, agent, level: readLevel(query.level), after });
  }

  const backend = new Elysia({ name: "agents.logs.backend" }).use(guards).get("/api/agents/:id/logs", list, {
    agentCall: "agent.read",
    query: logsQuery,
    response: { 200: logsSchema },
    detail: { tags: ["Agents"], summary: "What an agent did, newest first" },
  });

  const web = new Elysia({ name: "agents.logs" })
    .use(guards)
    .get("/api/agents/:id/logs", (asked) => (follows(asked) ? follow(asked) : fresh(asked)), {
      ownAgent: { scope: "read", kind: "data" },
      query: logsQuery,
      response: { 200: logsSchema },
      detail: {
        tags: ["Agents"],
        summary: "What an agent did, newest first",
        description:
          "With `follow=1` and `Accept: text/event-stream` the lines as they are written, oldest first: events `log` whose " +
          "`id` is the line's, so that a stream that was cut off goes on without gap or duplicate. " +
          "Kept are 14 days or 10,000 lines, whichever is less.",
        ...mayAnswer({ 429: "TOO_MANY_STREAMS" }),
      },
    });

  return { web, backend };
}

const follows = ({ query, request }: Asked) => query.follow === "1" && wantsEvents(request);

function readLevel(given: string | undefined) {
  if (given === undefined) return undefined;
  const level = LOG_LEVELS.find((known) => known === given);
  if (!level) throw invalid({ path: "level", message: `The level is one of: ${LOG_LEVELS.join(", ")}.` });
  return level;
}

/** Undefined: from now on. */
function readLineId(given: string | undefined): string | undefined {
  if (given === undefined || given === "") return undefined;
  if (!/^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/.test(given)) {
    throw invalid({ path: "lastEventId", message: "Give the id of the last line you have seen." });
  }
  return given;
}
