// Agents: found by id without a query, listed by owner, brought up and down, removed.
import { desc, eq, sql } from "drizzle-orm";
import { GuardFailed, guard, type Statement, statement } from "../../src/kernel/database/database.ts";
import { notFound } from "../../src/kernel/errors.ts";
import { type Kernel, ownsDatabase } from "../../src/kernel/plugin.ts";
import { estimateMemorySize } from "../../src/kernel/util/memory-size.ts";
import type { AgentHooks } from "./agent-hooks.ts";
import { createReadThroughCache } from "./read-through-cache.ts";
import { agents, type MODEL_CHOICES, type STATUSES } from "./schema.ts";

export type ModelChoice = (typeof MODEL_CHOICES)[number];
export type AgentStatus = (typeof STATUSES)[number];

/** An agent as the service knows it. Never leaves as it is: see model.ts. Times are epoch ms. */
export type Agent = Readonly<typeof agents.$inferSelect>;

export interface StatusChange {
  /** Why it is in error. */
  reason?: string;
  /** It has come up anew, whatever it was before. */
  hasRestarted?: boolean;
  runtimeVersion?: string;
  /** Written in the same batch. */
  statementsAfter?: readonly Statement[];
}

export interface AgentStore {
  /** From memory where one process owns the database, else asked for each time. Any text may be given as the id. */
  find(id: string): Promise<Agent | undefined>;
  /** By the name it is reached under; any text may be given. */
  findBySubdomain(subdomain: string): Promise<Agent | undefined>;
  /** A user's agents, newest first. */
  list(userId: string): Promise<Agent[]>;
  /**
   * The agent a user speaks to (contract §6b): the newest that is not stopped, else the newest; undefined with none.
   * With `agentId` that one, if it is the user's own: else 404.
   */
  resolveCurrent(userId: string, agentId?: string): Promise<Agent | undefined>;
  /**
   * Puts an agent in a status, with the event where that is a change. Up statuses make it wanted up, `stopped` wanted
   * down, `error` (with its reason) leaves what is wanted. False when there is no such agent.
   */
  setStatus(id: string, status: AgentStatus, more?: StatusChange): Promise<boolean>;
  /** Writes what was given, in one batch with `also`; 404 when the agent is gone. */
  change(
    id: string,
    fields: { name?: string; model?: ModelChoice },
    statementsAfter: readonly Statement[],
  ): Promise<Agent>;
  /** Those that should be up and are not, or need a runtime that is not one of these. */
  listToReconcile(runtimeVersions: readonly string[]): Promise<Agent[]>;
  /** Removes an agent with all that belongs to it; false when there is none. */
  remove(id: string): Promise<boolean>;
  /** A user got another agent. */
  invalidateOwner(userId: string): void;
  /** Bytes held in memory for this agent. */
  memoryBytes(id: string): number;
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** Nothing else is ever put into a query, a path or a grant. */
export const isAgentId = (text: string) => UUID.test(text);

/** The same for an agent that does not exist and for one of somebody else. */
export const agentNotFound = () => notFound("You have no agent with this id.", "AGENT_NOT_FOUND");

export const CACHED_AGENTS = 20_000;

/** Rows are kept in memory only where no other process can write them. */
export const cacheSize = (kernel: Pick<Kernel, "config" | "database">) => (ownsDatabase(kernel) ? CACHED_AGENTS : 0);

type Deps = Pick<Kernel, "database" | "events" | "config"> & { hooks: AgentHooks };

export function createAgentStore({ database, events, config, hooks }: Deps): AgentStore {
  const db = database.drizzle;
  const agentCache = createReadThroughCache<Agent>({ maxEntries: cacheSize({ config, database }) });
  const idsByOwner = createReadThroughCache<readonly string[]>({ maxEntries: cacheSize({ config, database }) });
  hooks.onChange(agentCache.invalidate);

  const selectById = db
    .select()
    .from(agents)
    .where(eq(agents.id, sql.placeholder("id")))
    .prepare();
  const selectIdBySubdomain = db
    .select({ id: agents.id })
    .from(agents)
    .where(eq(agents.subdomain, sql.placeholder("subdomain")))
    .prepare();
  // Ids grow with time.
  const selectByOwner = db
    .select()
    .from(agents)
    .where(eq(agents.userId, sql.placeholder("userId")))
    .orderBy(desc(agents.id))
    .prepare();

  const find = async (id: string) =>
    isAgentId(id) ? agentCache.get(id, async () => (await selectById.execute({ id }))[0]) : undefined;
  const list = (userId: string) => selectByOwner.execute({ userId });

  async function findDefault(userId: string): Promise<Agent | undefined> {
    const ids = await idsByOwner.get(userId, async () => (await list(userId)).map(({ id }) => id));
    let fallback: Agent | undefined;
    for (const id of ids ?? []) {
      const agent = await find(id);
      if (agent && agent.status !== "stopped") return agent;
      fallback ??= agent;
    }
    return fallback;
  }

  return {
    find,
    list,
    invalidateOwner: idsByOwner.invalidate,
    memoryBytes: (id) => estimateMemorySize(agentCache.peek(id)),

    async findBySubdomain(subdomain) {
      const [found] = await selectIdBySubdomain.execute({ subdomain });
      return found && find(found.id);
    },

    async resolveCurrent(userId, agentId) {
      if (agentId === undefined) return findDefault(userId);
      const agent = await find(agentId);
      if (agent?.userId !== userId) throw agentNotFound();
      return agent;
    },

    async setStatus(id, status, { reason, hasRestarted = false, runtimeVersion, statementsAfter = [] } = {}) {
      const agent = await find(id);
      if (!agent) return false;
      const now = Date.now();
      const isUp = status === "running" || status === "active";
      const statusReason = reason ?? null;
      const wanted = isUp ? "up" : status === "stopped" ? "down" : sql`${agents.wanted}`;
      const newStartedAt = hasRestarted ? sql`${now}` : sql`iif(status IN ('running', 'active'), started_at, ${now})`;
      const startedAt = isUp ? newStartedAt : sql`${agents.startedAt}`;
      const version = runtimeVersion ?? sql`${agents.runtimeVersion}`;
      const differsSql = sql`(status <> ${status} OR status_reason IS NOT ${statusReason} OR wanted <> ${wanted})`;
      const isUnconditional = hasRestarted || runtimeVersion !== undefined || statementsAfter.length > 0;
      const change = db
        .update(agents)
        .set({ status, statusReason, wanted, startedAt, runtimeVersion: version, updatedAt: now })
        .where(isUnconditional ? sql`id = ${id}` : sql`id = ${id} AND ${differsSql}`);
      const { userId, name } = agent;
      const recordsEvent = status !== agent.status || statusReason !== agent.statusReason || hasRestarted;
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
        return (await find(id)) !== undefined; // It was so already, unless it has gone meanwhile.
      }
      return true;
    },

    async change(id, fields, statementsAfter) {
      const update = db
        .update(agents)
        .set({ ...fields, updatedAt: Date.now() })
        .where(eq(agents.id, id));
      try {
        await database.write([
          { ...statement(update), after: () => hooks.notifyChanged(id) },
          guard("agent"),
          ...statementsAfter,
        ]);
      } catch (error) {
        if (error instanceof GuardFailed) throw agentNotFound();
        throw error;
      }
      const agent = await find(id);
      if (!agent) throw agentNotFound();
      return agent;
    },

    listToReconcile: (runtimeVersions) =>
      db
        .select()
        .from(agents)
        .where(
          sql`${agents.wanted} = 'up' AND (${agents.status} NOT IN ('running', 'active')
            OR ${agents.runtimeVersion} NOT IN (SELECT value FROM json_each(${JSON.stringify(runtimeVersions)})))`,
        ),

    async remove(id) {
      const agent = await find(id);
      if (!agent) return false;
      await hooks.runBeforeDelete(id);
      const { userId, name } = agent;
      const after = () => {
        idsByOwner.invalidate(userId);
        hooks.notifyChanged(id);
      };
      try {
        await database.write([
          { ...statement(db.delete(agents).where(eq(agents.id, id))), after },
          guard("agent"),
          events.recordStatement("agent.deleted", { userId, agentId: id, data: { id, name } }),
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
