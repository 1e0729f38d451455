// Stores agents: finds them by id from a cache, lists them by owner, changes their status, removes them.
import { and, desc, eq, lt, sql } from "drizzle-orm";
import { GuardFailed, guard, preparedQuery, type Statement, statement } from "../../src/kernel/database/database.ts";
import { notFound } from "../../src/kernel/errors.ts";
import { type Kernel, ownsDatabase } from "../../src/kernel/plugin.ts";
import { createCache } from "../../src/kernel/util/cache.ts";
import { estimateMemorySize } from "../../src/kernel/util/memory-size.ts";
import type { AgentHooks } from "./agent-hooks.ts";
import type { MODEL_CHOICES } from "./model-choices.ts";
import { agents, type STATUSES } from "./schema.ts";

export type ModelChoice = (typeof MODEL_CHOICES)[number];
export type AgentStatus = (typeof STATUSES)[number];

/** An agent's row; times are epoch ms. Responses hold the views of model.ts, never this. */
export type Agent = Readonly<typeof agents.$inferSelect>;

/**
 * Selects the ids of agents that should be up and were begun by a runtime of another version. The few versions are found by
 * steps through their index: a condition on each agent would read all of them.
 */
const BEGUN_BY_OTHERS = (
  runtimeVersions: readonly string[],
) => sql`SELECT id FROM agents WHERE wanted = 'up' AND runtime_version IN (
  WITH RECURSIVE versions (version) AS (
    SELECT min(runtime_version) FROM agents WHERE wanted = 'up'
    UNION ALL
    SELECT (SELECT min(runtime_version) FROM agents WHERE wanted = 'up' AND runtime_version > version) FROM versions
      WHERE version IS NOT NULL)
  SELECT version FROM versions WHERE version NOT IN (SELECT value FROM json_each(${JSON.stringify(runtimeVersions)})))`;

export interface StatusChange {
  /** Why it is in `error`, for its owner. */
  reason?: string;
  /** True after a restart: sets `startedAt` and records the event even if the status is unchanged. */
  hasRestarted?: boolean;
  runtimeVersion?: string;
  /** Whether it should be up, where that does not follow from the status. */
  wanted?: "up" | "down";
  /** Written in the same batch, after the change. */
  statementsAfter?: readonly Statement[];
}

export interface AgentStore {
  /** From a cache where one process owns the database, else by a query. `id` may be any text. */
  find(id: string): Promise<Agent | undefined>;
  /** As `find`, but 404 `AGENT_NOT_FOUND` when there is none. */
  require(id: string): Promise<Agent>;
  /** By the subdomain of its public address; `subdomain` may be any text. */
  findBySubdomain(subdomain: string): Promise<Agent | undefined>;
  /** All of a user's agents, newest first. What people ask for is a page of them. */
  list(userId: string): Promise<Agent[]>;
  /** A page of a user's agents, newest first: those with ids before `cursor`. */
  page(userId: string, page: { limit: number; cursor?: string | undefined }): Promise<Agent[]>;
  /** How many agents a user has. */
  count(userId: string): Promise<number>;
  /**
   * Resolves the agent of a user's request: `agentId` if it is given (404 unless the user owns it), otherwise the newest
   * agent that is not stopped, else the newest; undefined if the user has none.
   */
  resolveCurrent(userId: string, agentId?: string): Promise<Agent | undefined>;
  /**
   * Sets an agent's status, and records the event `agent.status` if that changes it. `running` and `active` also set
   * `wanted` to `up`, `stopped` to `down`; `error` leaves it. A frozen agent gets the status when it is frozen no longer.
   * False when there is no such agent.
   */
  setStatus(id: string, status: AgentStatus, more?: StatusChange): Promise<boolean>;
  /**
   * Writes the given fields in one batch with the statements that store a configuration, whose own failed guards are thrown as
   * GuardFailed; 404 when the agent is gone. `changed` names the configuration's fields, for the audit log.
   */
  change(
    id: string,
    fields: { name?: string; model?: ModelChoice },
    config?: { statements: readonly Statement[]; changed: readonly string[] },
  ): Promise<Agent>;
  /** Agents that are wanted up and are not, or that need a runtime version other than these. */
  listToReconcile(runtimeVersions: readonly string[]): Promise<Agent[]>;
  /** Removes an agent and its data; false when there is none. */
  remove(id: string): Promise<boolean>;
  /** Forgets the cached list of a user's agents; call it after the user got another one. */
  invalidateOwner(userId: string): void;
  /** Bytes held in memory for this agent. */
  memoryBytes(id: string): number;
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[78][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** Sorts after every id. */
const AFTER_ALL = "~";

/** Whether an agent in this status takes messages. */
export const isUp = (status: AgentStatus) => status === "running" || status === "active";

/** Whether this is a UUIDv7 as agents have; any other text is kept out of queries, paths and grants. */
export const isAgentId = (text: string) => UUID.test(text);

/** The same for a missing agent and for another user's. */
export const agentNotFound = () => notFound("You have no agent with this id.", "AGENT_NOT_FOUND");

/** The event `agent.updated`, as the arguments of `events.recordStatement`. */
export const updatedEvent = (
  { id, userId, name }: Pick<Agent, "id" | "userId" | "name">,
  changed: readonly ("name" | "model" | "config" | "channels")[],
) => ["agent.updated", { userId, agentId: id, data: { id, name, changed } }] as const;

export const CACHED_AGENTS = 20_000;

/** Entries of caches of agents' rows: 0, no caching, where another process can write them. */
export const cacheSize = (kernel: Pick<Kernel, "config" | "database">) => (ownsDatabase(kernel) ? CACHED_AGENTS : 0);

type Deps = Pick<Kernel, "database" | "events" | "config" | "audit"> & { hooks: AgentHooks };

export function createAgentStore({ database, events, config, audit, hooks }: Deps): AgentStore {
  const db = database.drizzle;
  const agentCache = createCache<Agent | undefined>({ entries: cacheSize({ config, database }) });
  const idsByOwner = createCache<readonly string[]>({ entries: cacheSize({ config, database }) });
  hooks.onChange(agentCache.drop);

  const selectById = preparedQuery(() =>
    db
      .select()
      .from(agents)
      .where(eq(agents.id, sql.placeholder("id"))),
  );
  const selectIdBySubdomain = preparedQuery(() =>
    db
      .select({ id: agents.id })
      .from(agents)
      .where(eq(agents.subdomain, sql.placeholder("subdomain"))),
  );
  // Ids are UUIDv7, which sort by time.
  const selectByOwner = preparedQuery(() =>
    db
      .select()
      .from(agents)
      .where(eq(agents.userId, sql.placeholder("userId")))
      .orderBy(desc(agents.id)),
  );
  const selectPage = preparedQuery(() =>
    db
      .select()
      .from(agents)
      .where(and(eq(agents.userId, sql.placeholder("userId")), lt(agents.id, sql.placeholder("cursor"))))
      .orderBy(desc(agents.id))
      .limit(sql.placeholder("limit")),
  );

  const find = async (id: string) =>
    isAgentId(id) ? agentCache.get(id, async () => (await selectById.execute({ id }))[0]) : undefined;
  const list = (userId: string) => selectByOwner.execute({ userId });

  async function requireAgent(id: string): Promise<Agent> {
    const agent = await find(id);
    if (!agent) throw agentNotFound();
    return agent;
  }

  async function findDefault(userId: string): Promise<Agent | undefined> {
    const ids = await idsByOwner.get(userId, async () => {
      const { rows } = await database.read("SELECT id FROM agents WHERE user_id = ? ORDER BY id DESC", [userId]);
      return rows.map(({ id }) => String(id));
    });
    let fallback: Agent | undefined;
    for (const id of ids) {
      const agent = await find(id);
      if (agent && agent.status !== "stopped") return agent;
      fallback ??= agent;
    }
    return fallback;
  }

  return {
    find,
    require: requireAgent,
    list,
    page: (userId, { limit, cursor = AFTER_ALL }) => selectPage.execute({ userId, limit, cursor }),
    async count(userId) {
      const { rows } = await database.read("SELECT count(*) AS count FROM agents WHERE user_id = ?", [userId]);
      return Number(rows[0]?.count);
    },
    invalidateOwner: idsByOwner.drop,
    memoryBytes: (id) => estimateMemorySize(agentCache.peek(id)),

    async findBySubdomain(subdomain) {
      const [row] = await selectIdBySubdomain.execute({ subdomain });
      return row && find(row.id);
    },

    async resolveCurrent(userId, agentId) {
      if (agentId === undefined) return findDefault(userId);
      const agent = await find(agentId);
      if (agent?.userId !== userId) throw agentNotFound();
      return agent;
    },

    async setStatus(
      id,
      status,
      { reason, hasRestarted = false, runtimeVersion, wanted: newWanted, statementsAfter = [] } = {},
    ) {
      const agent = await find(id);
      if (!agent) return false;
      const now = Date.now();
      const willBeUp = isUp(status);
      const statusReason = reason ?? null;
      const wanted = newWanted ?? (willBeUp ? "up" : status === "stopped" ? "down" : sql`${agents.wanted}`);
      const newStartedAt = hasRestarted ? sql`${now}` : sql`iif(status IN ('running', 'active'), started_at, ${now})`;
      const startedAt = willBeUp ? newStartedAt : sql`${agents.startedAt}`;
      const version = runtimeVersion ?? sql`${agents.runtimeVersion}`;
      const frozen = sql`${agents.thawedStatus} IS NOT NULL`;
      const differsSql = sql`(coalesce(thawed_status, status) <> ${status} OR (thawed_status IS NULL
        AND (status_reason IS NOT ${statusReason} OR wanted <> ${wanted})))`;
      const isUnconditional = hasRestarted || runtimeVersion !== undefined || statementsAfter.length > 0;
      const change = db
        .update(agents)
        .set({
          status: sql`iif(${frozen}, status, ${status})`,
          thawedStatus: sql`iif(${frozen}, ${status}, NULL)`,
          statusReason: sql`iif(${frozen}, status_reason, ${statusReason})`,
          wanted: sql`iif(${frozen}, wanted, ${wanted})`,
          startedAt,
          runtimeVersion: version,
          updatedAt: now,
        })
        .where(isUnconditional ? sql`id = ${id}` : sql`id = ${id} AND ${differsSql}`);
      const { userId, name } = agent;
      const recordsEvent =
        agent.thawedStatus === null && (status !== agent.status || statusReason !== agent.statusReason || hasRestarted);
      try {
        await database.write([
          { ...statement(change), after: () => hooks.notifyChanged(id) },
          guard("change"),
          ...(recordsEvent
            ? [
                events.recordStatement("agent.status", {
                  userId,
                  agentId: id,
                  data: { id, name, status, reason: statusReason },
                }),
              ]
            : []),
          ...statementsAfter,
        ]);
      } catch (error) {
        if (!(error instanceof GuardFailed && error.guard === "change")) throw error;
        return (await find(id)) !== undefined; // Nothing differed, or the agent was removed meanwhile.
      }
      return true;
    },

    async change(id, fields, config) {
      const agent = await requireAgent(id);
      const { name = agent.name, model } = fields;
      const changed = [
        ...(name === agent.name ? [] : (["name"] as const)),
        ...(model === undefined || model === agent.model ? [] : (["model"] as const)),
        ...(config ? (["config"] as const) : []),
      ];
      const details = {
        ...(name !== agent.name && { name: { from: agent.name, to: name } }),
        ...(changed.includes("model") && { model: { from: agent.model, to: model } }),
        ...(config && { fields: config.changed }),
      };
      const update = db
        .update(agents)
        .set({ ...fields, updatedAt: Date.now() })
        .where(eq(agents.id, id));
      try {
        await database.write([
          { ...statement(update), after: () => hooks.notifyChanged(id) },
          guard("agent"),
          ...(config?.statements ?? []),
          ...(changed.length === 0
            ? []
            : [
                events.recordStatement(...updatedEvent({ ...agent, name }, changed)),
                audit.record({ action: "agent.update", target: { kind: "agent", id, name }, details }),
              ]),
        ]);
      } catch (error) {
        if (error instanceof GuardFailed && error.guard === "agent") throw agentNotFound();
        throw error;
      }
      return requireAgent(id);
    },

    listToReconcile: (runtimeVersions) =>
      db
        .select()
        .from(agents)
        .where(
          sql`${agents.id} IN (SELECT id FROM agents INDEXED BY agents_to_bring_up WHERE wanted = 'up' AND status NOT IN ('running', 'active') UNION ALL ${BEGUN_BY_OTHERS(runtimeVersions)})`,
        ),

    async remove(id) {
      const agent = await find(id);
      if (!agent) return false;
      await hooks.runBeforeDelete(id);
      const { userId, name } = agent;
      const after = () => {
        idsByOwner.drop(userId);
        hooks.notifyChanged(id);
      };
      try {
        await database.write([
          { ...statement(db.delete(agents).where(eq(agents.id, id))), after },
          guard("agent"),
          events.recordStatement("agent.deleted", { userId, agentId: id, data: { id, name } }),
          audit.record({ action: "agent.delete", target: { kind: "agent", id, name }, details: { owner: userId } }),
        ]);
      } catch (error) {
        if (!(error instanceof GuardFailed)) throw error;
        return false;
      }
      await hooks.notifyDeleted(id);
      return true;
    },
  };
}
