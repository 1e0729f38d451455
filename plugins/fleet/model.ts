// Wire types of the fleet's reports, written by hand, so that a new column is never sent by default. The console takes
// its types from here, so this file imports nothing of the server.
import { t } from "elysia";

export const AGENT_SORTS = ["created", "name", "cost", "errors", "activity"] as const;
export const AGENT_STATES = ["up", "stopped", "error"] as const;
export const USAGE_GROUPS = ["day", "model", "provider", "user", "agent"] as const;
/** Groups by account or agent are cut after the dearest. */
export const MAX_ROWS = 200;

const time = t.String({ description: "ISO 8601" });
const nullable = <Schema extends Parameters<typeof t.Union>[0][number]>(schema: Schema) => t.Union([schema, t.Null()]);
const literals = <const Text extends string>(values: readonly Text[], description?: string) =>
  t.Unsafe<Text>(
    t.Union(
      values.map((value) => t.Literal(value)),
      description === undefined ? {} : { description },
    ),
  );

const limit = t.Optional(t.String({ description: "1 to 200; more counts as 200. Default 50" }));
const cursor = t.Optional(t.String({ maxLength: 1_000, description: "`next` of the page before" }));
const next = nullable(t.String({ description: "The cursor of the next page; null on the last one" }));

const cell = t.Optional(
  t.String({
    maxLength: 4,
    description: "With `CELLS`: the number of a cell, for what it alone has. By default all together",
  }),
);
export const cellQuery = t.Object({ cell });
export const askedCells = t.Optional(
  t.Object(
    {
      asked: t.Integer({ description: "How many cells the service has" }),
      missing: t.Array(t.Integer(), { description: "Those that did not answer in time and are left out" }),
    },
    { title: "AskedCells", description: "Only with `CELLS`, in a report of all of them" },
  ),
);

export const CHANNEL_STATES = ["connected", "connecting", "backing_off", "failed", "stopped"] as const;

const queue = {
  waiting: t.Integer(),
  oldestAt: nullable(t.String({ description: "ISO 8601: since when the oldest waits" })),
};

const queueState = t.Object(queue, { title: "QueueState" });

export const overviewResponse = t.Object({
  problems: t.Array(
    t.Object({
      code: t.String({ description: "For programs and translations" }),
      severity: literals(["error", "warning", "info"]),
      message: t.String({ description: "What is wrong" }),
      action: t.String({ description: "What to do" }),
      link: t.String({ description: "The console's page about it" }),
      values: t.Record(t.String(), t.Union([t.String(), t.Number()])),
    }),
    { description: "What is wrong, the worst first" },
  ),
  users: t.Object({ total: t.Integer(), disabled: t.Integer(), newToday: t.Integer() }),
  agents: t.Object({ total: t.Integer(), up: t.Integer(), stopped: t.Integer(), error: t.Integer() }),
  channels: t.Object(
    {
      connected: t.Integer(),
      connecting: t.Integer(),
      backing_off: t.Integer({ description: "Waiting for their next try" }),
      failed: t.Integer({ description: "Not tried again" }),
      stopped: t.Integer({ description: "Bots of stopped agents" }),
    },
    { title: "ChannelCounts" },
  ),
  today: t.Object({
    calls: t.Integer({ description: "Calls of models" }),
    agentCalls: t.Integer({ description: "Of them by agents: one or more for each reply" }),
    costUsd: t.Number(),
    ownKeyUsd: t.Number({ description: "Part of the cost on keys of users" }),
    errors: t.Integer({ description: "Error lines in the logs of agents" }),
  }),
  month: t.Object({ costUsd: t.Number() }),
  inbox: queueState,
  outbox: t.Object(queue, { description: "Replies that are not delivered yet" }),
  webhooks: t.Object({ ...queue, disabledEndpoints: t.Integer() }),
  jobs: t.Object({
    waiting: t.Integer(),
    late: t.Integer({ description: "Due for more than a minute" }),
    running: t.Integer(),
    failed: t.Integer({ description: "Given up" }),
  }),
  turns: t.Object({ ended: t.Integer(), failed: t.Integer() }, { description: "Turns since the start of the service" }),
  schedules: t.Object({ late: t.Integer({ description: "Due for more than a minute" }) }),
  approvals: t.Object({ waiting: t.Integer({ description: "Tool calls that wait for their owner" }) }),
  streams: t.Object({ live: t.Integer({ description: "On the air" }) }),
  disk: t.Object({ totalBytes: t.Number(), freeBytes: t.Number() }, { title: "DiskSpace" }),
  database: t.Object(
    {
      kind: literals(["file", "server"]),
      bytes: nullable(t.Number()),
      logBytes: nullable(t.Number()),
    },
    { title: "DatabaseSize" },
  ),
  version: t.String(),
  startedAt: time,
  cells: askedCells,
});

export const agentsQuery = t.Object({
  query: t.Optional(
    t.String({ maxLength: 320, description: "A part of the name or the owner's address; a whole id or subdomain" }),
  ),
  status: t.Optional(literals(AGENT_STATES, "Only agents in this state")),
  owner: t.Optional(t.String({ maxLength: 100, description: "The owner's user id" })),
  sort: t.Optional(literals(AGENT_SORTS, "The newest, highest or latest first. Default created")),
  limit,
  cursor,
  cell,
});

export const fleetAgentItem = t.Object(
  {
    id: t.String(),
    name: t.String(),
    subdomain: t.String(),
    status: t.String({ description: "running, active, stopped or error" }),
    reason: nullable(t.String({ description: "Why it does not come up" })),
    frozen: nullable(
      literals(["agent", "account"], "What an admin has frozen: the agent itself, or its owner's account"),
    ),
    model: t.String(),
    runtimeVersion: t.String(),
    owner: t.Object({ id: t.String(), email: t.String(), name: t.String(), disabled: t.Boolean() }),
    channels: t.Array(t.Object({ channel: t.String(), state: literals(CHANNEL_STATES) })),
    costTodayUsd: t.Number(),
    errorsToday: t.Integer(),
    lastActivityAt: nullable(time),
    createdAt: time,
  },
  { title: "FleetAgent" },
);

export const agentsResponse = t.Object({
  agents: t.Array(fleetAgentItem),
  total: nullable(t.Integer({ description: "All agents that match; null where counting them would take long" })),
  next,
  cells: askedCells,
});

export const fleetUsageQuery = t.Object({
  from: t.Optional(t.String({ description: "First day, such as 2026-07-02; UTC. Default: 30 days" })),
  to: t.Optional(t.String({ description: "Last day, which is in the report; by default today" })),
  by: t.Optional(literals(USAGE_GROUPS, "What the sums are of. Default day")),
  user: t.Optional(t.String({ maxLength: 100, description: "Only of this account and its agents: a user id" })),
  cell,
});

const sums = {
  calls: t.Integer(),
  cachedCalls: t.Integer({ description: "Of them answered from the cache" }),
  estimatedCalls: t.Integer({ description: "Of them without a count of the provider" }),
  inputTokens: t.Integer(),
  outputTokens: t.Integer(),
  costUsd: t.Number(),
  ownKeyUsd: t.Number({ description: "Part of the cost on keys of users" }),
  creditsUsd: t.Number({ description: "Part of the cost that credits paid" }),
};

export const usageResponse = t.Object({
  from: t.String({ description: "First day, UTC" }),
  to: t.String({ description: "Last day, UTC" }),
  by: literals(USAGE_GROUPS),
  total: t.Object(sums),
  rows: t.Array(
    t.Object({
      key: t.String({ description: "A day, `provider:model`, a provider, a user id or an agent id; empty: nobody's" }),
      name: nullable(t.String({ description: "The model, address or agent's name; null if it is gone" })),
      ...sums,
    }),
    { description: `Days in order; all others the dearest first, at most ${MAX_ROWS}` },
  ),
  cells: askedCells,
});

export const channelsQuery = t.Object({
  state: t.Optional(literals(CHANNEL_STATES, "Only connections in this state")),
  channel: t.Optional(t.String({ maxLength: 40, description: "Only of this channel, such as channel_a" })),
  query: t.Optional(
    t.String({ maxLength: 200, description: "A part of the agent's or the bot's name, or of the owner's address" }),
  ),
  limit,
  cursor,
  cell,
});

export const channelsResponse = t.Object({
  channels: t.Array(
    t.Object({
      agent: t.Object({ id: t.String(), name: t.String() }),
      owner: t.Object({ id: t.String(), email: t.String() }),
      channel: t.String(),
      bot: t.Object({ id: t.String(), username: t.String() }),
      state: literals(CHANNEL_STATES),
      since: time,
      lastError: nullable(t.String()),
      nextTryAt: nullable(time),
      mode: t.String({ description: "polling, gateway or webhook" }),
    }),
  ),
  counts: overviewResponse.properties.channels,
  undelivered: t.Array(t.Object({ channel: t.String(), ...queue }), {
    description: "Replies that are not delivered yet, of each channel that has any",
  }),
  next: nullable(t.String({ description: "The cursor of the next page, which may be there after an empty one too" })),
  cells: askedCells,
});

export const providersResponse = t.Object({
  providers: t.Array(
    t.Object({
      id: t.String(),
      label: t.String(),
      configured: t.Boolean({ description: "Called with the operator's key or address" }),
      demo: t.Boolean({ description: "The built-in demo model" }),
      reachable: nullable(t.Boolean({ description: "By the last probe; null if there was none" })),
      breaker: literals(["closed", "half-open", "open"]),
      retryAt: nullable(t.String({ description: "ISO 8601: calls are paused until then" })),
      recent: t.Object(
        {
          calls: t.Integer(),
          failed: t.Integer(),
          medianMs: nullable(t.Number({ description: "Until the response began" })),
          p95Ms: nullable(t.Number()),
          lastAt: nullable(time),
        },
        { description: "The last calls since the start, at most 256" },
      ),
      models: t.Integer({ description: "In the catalogue" }),
      name: t.String({ description: "The provider's own name" }),
      keySetting: t.String({ description: "The setting that takes its key" }),
      todayUsd: t.Number(),
      monthUsd: t.Number(),
    }),
  ),
  cells: askedCells,
});

export const jobsQuery = t.Object({ limit, cursor, cell });

export const jobsResponse = t.Object({
  kinds: t.Array(
    t.Object({
      kind: t.String(),
      waiting: t.Integer(),
      late: t.Integer(),
      running: t.Integer(),
      failed: t.Integer(),
      nextAt: nullable(t.String({ description: "ISO 8601: when the next one is due" })),
      lastError: nullable(t.String({ description: "Why a job that waits for its next try has failed" })),
    }),
  ),
  queues: t.Object({ inbox: queueState, outbox: queueState, webhooks: queueState }),
  failed: t.Array(
    t.Object({
      id: t.String(),
      kind: t.String(),
      attempts: t.Integer(),
      error: nullable(t.String()),
      createdAt: time,
    }),
    { description: "Jobs that were given up, newest first" },
  ),
  next,
  cells: askedCells,
});

export const jobResponse = t.Object({ success: t.Literal(true), id: t.String() });

const status = t.String({ description: "running, active, stopped or error" });
export const agentOperationResponse = t.Object({
  success: t.Literal(true),
  id: t.String(),
  status,
  reason: nullable(t.String()),
});
