// Routes on both surfaces that list, preview, change and run an agent's schedules.
import { Elysia, type Static } from "elysia";
import type { BackendTransport } from "../../src/kernel/http/backend/backend-transport.ts";
import { forwardToBackend } from "../../src/kernel/http/backend/forward-to-backend.ts";
import type { Idempotency } from "../../src/kernel/http/idempotency.ts";
import { documentErrors } from "../../src/kernel/http/openapi/route-documentation.ts";
import { readLimit, readOffset } from "../../src/kernel/http/paging.ts";
import type { ServiceOf } from "../../src/kernel/plugin.ts";
import type { Agent, agents as agentsPlugin } from "../agents/index.ts";
import type { auth, Identity } from "../auth/index.ts";
import type { runtime as runtimePlugin } from "../runtime/index.ts";
import type { Firing } from "./firing.ts";
import {
  changeBody,
  createBody,
  listQuery,
  preview,
  previewBody,
  removedResponse,
  runList,
  runResponse,
  runsQuery,
  scheduleList,
  scheduleResponse,
  targetList,
  toRunItem,
  toScheduleItem,
} from "./model.ts";
import type { ScheduleService } from "./schedule-service.ts";
import type { ScheduleStore } from "./schedule-store.ts";

interface Deps {
  guards: ServiceOf<typeof agentsPlugin>["guards"];
  store: Pick<ScheduleStore, "list" | "require" | "runs">;
  service: ScheduleService;
  runtime: Pick<ServiceOf<typeof runtimePlugin>, "channelConversations" | "pendingEntries">;
}

interface WebDeps extends Deps {
  backend: BackendTransport;
  idempotency: Idempotency;
  identities: Pick<ServiceOf<typeof auth>["identities"], "createGrant">;
}

interface BackendDeps extends Deps {
  firing: Firing;
}

const ACTION = "agent.schedule";
const LIST = "/api/agents/:id/schedules";
const ONE = `${LIST}/:scheduleId`;
const tags = ["Schedules"];

const notFoundErrors = { 404: ["AGENT_NOT_FOUND", "SCHEDULE_NOT_FOUND"] };
const writeErrors = {
  400: "INVALID_SCHEDULE",
  ...notFoundErrors,
  409: ["SCHEDULE_IN_CONFIG", "OPERATION_IN_PROGRESS"],
};

const create = {
  body: createBody,
  response: { 201: scheduleResponse },
  summary: "Make a schedule",
  description:
    "At the given times the agent is told the prompt, and answers as to a message. Times follow the clocks of the zone: one that " +
    "does not exist on a day runs when the skipped hour ends, one that comes twice runs the first time. A schedule that " +
    "fails five times in a row is paused.",
  errors: {
    400: "INVALID_SCHEDULE",
    404: "AGENT_NOT_FOUND",
    409: "OPERATION_IN_PROGRESS",
    429: "SCHEDULE_LIMIT_REACHED",
  },
};
const change = {
  body: changeBody,
  response: { 200: scheduleResponse },
  summary: "Change, pause or resume a schedule",
  description: "Fields that are left out stay as they are. A schedule of the configuration can't be changed here.",
  errors: { ...writeErrors, 429: "SCHEDULE_LIMIT_REACHED" },
};
const remove = {
  response: { 200: removedResponse },
  summary: "Delete a schedule and its history",
  description: "A schedule of the configuration is removed from the configuration instead.",
  errors: writeErrors,
};
const run = {
  response: { 202: runResponse },
  summary: "Run a schedule now, beside its times",
  description: "The run is accepted with 202 and goes on in the background; its times don't change.",
  errors: { ...notFoundErrors, 409: ["AGENT_STOPPED", "AGENT_FROZEN", "OPERATION_IN_PROGRESS"] },
};
const detailOf = (
  {
    summary,
    description,
    errors,
  }: { summary: string; description?: string; errors: Record<number, string | string[]> },
  more: Record<number, string | string[]> = {},
) => ({ tags, summary, ...(description && { description }), ...documentErrors({ ...errors, ...more }) });

/**
 * The reading routes, which are the same on both surfaces. They are arrow functions, because Elysia misreads the minified source of
 * some methods, and says so on standard output.
 */
function createReaders({ store, service, runtime }: Deps) {
  return {
    async list({ agent, query }: { agent: Agent; query: Static<typeof listQuery> }) {
      const found = await store.list(agent.id, {
        limit: readLimit(query.limit, 50, 100),
        offset: readOffset(query.offset),
      });
      return { schedules: found.map(toScheduleItem), count: found.length };
    },
    one: async ({ agent, params }: { agent: Agent; params: { scheduleId: string } }) => ({
      schedule: toScheduleItem(await store.require(agent.id, params.scheduleId)),
    }),
    async runs({
      agent,
      params,
      query,
    }: {
      agent: Agent;
      params: { scheduleId: string };
      query: Static<typeof runsQuery>;
    }) {
      const { id } = await store.require(agent.id, params.scheduleId);
      const limit = readLimit(query.limit, 50, 100);
      const found = await store.runs(id, { limit: limit + 1, before: query.cursor });
      const page = found.slice(0, limit);
      const running = page.flatMap(({ status, inboxId }) =>
        status === "running" && inboxId !== null ? [inboxId] : [],
      );
      const pending = await runtime.pendingEntries(agent.id, running);
      const nextCursor = found.length > limit ? (page.at(-1)?.id ?? null) : null;
      return {
        runs: page.map((one) => toRunItem(one, (inboxId) => pending.has(inboxId))),
        count: page.length,
        nextCursor,
      };
    },
    targets: async ({ agent }: { agent: Agent }) => {
      const targets = (await runtime.channelConversations(agent.id)).map(
        ({ isGroup, isOwner, lastMessageAt, ...rest }) => ({
          ...rest,
          group: isGroup,
          owner: isOwner,
          lastMessageAt: new Date(lastMessageAt).toISOString(),
        }),
      );
      return { targets, count: targets.length };
    },
    preview: async ({ agent, body }: { agent: Agent; body: Static<typeof previewBody> }) => {
      const { next, ...rest } = await service.preview(agent, body);
      return { next: next.map((at) => new Date(at).toISOString()), ...rest };
    },
  };
}

const reading = { ownAgent: { scope: "read", kind: "data" } } as const;
const writing = { ownAgent: { scope: "write", kind: "data" } } as const;

export function webRoutes(deps: WebDeps) {
  const { backend, idempotency, identities, guards } = deps;
  const readers = createReaders(deps);
  const forward = (call: { agent: Agent; identity: Identity; request: Request }, path = "") =>
    forwardToBackend(
      backend,
      identities.createGrant(call.identity, call.request, ACTION, call.agent.id),
      call.request,
      `/api/agents/${call.agent.id}/schedules${path}`,
    );
  const once = (call: { agent: Agent; identity: Identity; request: Request }, path = "") =>
    idempotency.respond({ request: call.request, userId: call.identity.user.id }, () => forward(call, path));
  const one = (scheduleId: string) => `/${encodeURIComponent(scheduleId)}`;
  const unavailable = { 502: "BACKEND_UNAVAILABLE" };
  const idempotent = (codes: string | string[]) => [codes, "IDEMPOTENCY_MISMATCH", "IDEMPOTENCY_IN_PROGRESS"].flat();

  return new Elysia({ name: "schedules.web" })
    .use(guards)
    .get(LIST, readers.list, {
      ...reading,
      query: listQuery,
      response: { 200: scheduleList },
      detail: {
        tags,
        summary: "An agent's schedules, newest first",
        description: "Those of the configuration, too, which are changed there.",
      },
    })
    .get(`${LIST}/targets`, readers.targets, {
      ...reading,
      response: { 200: targetList },
      detail: {
        tags,
        summary: "The conversations on channels that a schedule can answer in, newest first",
        description: "Values for `deliver` of a schedule.",
        operationId: "listScheduleTargets",
      },
    })
    .post(`${LIST}/preview`, readers.preview, {
      ...reading,
      body: previewBody,
      response: { 200: preview },
      detail: {
        tags,
        summary: "The next five runs of a cron expression or a time, and the times in words",
        description: "Nothing is stored. Times are in the time zone of the schedule, else of the agent.",
        operationId: "previewSchedule",
        ...documentErrors({ 400: "INVALID_SCHEDULE" }),
      },
    })
    .post(LIST, (call) => once(call), {
      ...writing,
      body: create.body,
      response: create.response,
      detail: detailOf(create, { 409: idempotent("OPERATION_IN_PROGRESS"), ...unavailable }),
    })
    .get(ONE, readers.one, {
      ...reading,
      response: { 200: scheduleResponse },
      detail: {
        tags,
        summary: "One schedule",
        description: "With the times in words, the next run and the result of the last one.",
        ...documentErrors(notFoundErrors),
      },
    })
    .patch(ONE, ({ params, ...call }) => forward(call, one(params.scheduleId)), {
      ...writing,
      body: change.body,
      response: change.response,
      detail: detailOf(change, unavailable),
    })
    .delete(ONE, ({ params, ...call }) => forward(call, one(params.scheduleId)), {
      ...writing,
      response: remove.response,
      detail: detailOf(remove, unavailable),
    })
    .get(`${ONE}/runs`, readers.runs, {
      ...reading,
      query: runsQuery,
      response: { 200: runList },
      detail: {
        tags,
        summary: "The last hundred runs of a schedule, newest first",
        description: "When each run was due, why it ran, and the turn that it became.",
        ...documentErrors(notFoundErrors),
      },
    })
    .post(`${ONE}/run`, ({ params, ...call }) => once(call, `${one(params.scheduleId)}/run`), {
      ...writing,
      response: run.response,
      detail: detailOf(run, {
        409: idempotent(["AGENT_STOPPED", "AGENT_FROZEN", "OPERATION_IN_PROGRESS"]),
        ...unavailable,
      }),
    });
}

export function backendRoutes(deps: BackendDeps) {
  const { guards, service, store, firing } = deps;
  const readers = createReaders(deps);
  const changing = { agentCall: { action: ACTION, scope: "write", changes: true } } as const;

  return new Elysia({ name: "schedules.backend" })
    .use(guards)
    .get(LIST, readers.list, {
      agentCall: "agent.read",
      query: listQuery,
      response: { 200: scheduleList },
      detail: {
        tags,
        summary: "An agent's schedules, newest first",
        description: "Those of the configuration, too, which are changed there.",
      },
    })
    .post(
      LIST,
      async ({ agent, body, status }) => status(201, { schedule: toScheduleItem(await service.create(agent, body)) }),
      { ...changing, body: create.body, response: create.response, detail: detailOf(create) },
    )
    .patch(
      ONE,
      async ({ agent, params, body }) => ({
        schedule: toScheduleItem(await service.change(agent, params.scheduleId, body)),
      }),
      { ...changing, body: change.body, response: change.response, detail: detailOf(change) },
    )
    .delete(
      ONE,
      async ({ agent, params: { scheduleId } }) => {
        await service.remove(agent, scheduleId);
        return { success: true, id: scheduleId };
      },
      { ...changing, response: remove.response, detail: detailOf(remove) },
    )
    .post(
      `${ONE}/run`,
      async ({ agent, params, status }) => {
        const started = await firing.runNow(agent, await store.require(agent.id, params.scheduleId));
        return status(202, { run: toRunItem(started, () => true) });
      },
      { ...changing, response: run.response, detail: detailOf(run) },
    );
}
