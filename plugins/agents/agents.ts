// Agents: found by id without a query, listed by owner, brought up and down, removed.
import { desc, eq, sql } from "drizzle-orm";
import { GuardFailed, guard, type Statement, statement } from "../../src/database.ts";
import { notFound } from "../../src/errors.ts";
import { heldBytes } from "../../src/held-bytes.ts";
import { type Kernel, ownsDatabase } from "../../src/plugin.ts";
import { createCache } from "./cache.ts";
import type { Changes } from "./changes.ts";
import { agents, type MODEL_CHOICES, type STATUSES } from "./schema.ts";

export type ModelChoice = (typeof MODEL_CHOICES)[number];
export type AgentStatus = (typeof STATUSES)[number];

/** An agent as the service knows it. Never leaves as it is: see model.ts. Times are epoch ms. */
export type Agent = Readonly<typeof agents.$inferSelect>;

export interface StatusChange {
  /** Why it is in error. */
  reason?: string;
  /** It has come up anew, whatever it was before. */
  cameUp?: boolean;
  runtimeVersion?: string;
  /** Written in the same batch. */
  also?: readonly Statement[];
}

export interface Agents {
  /** From memory where one process owns the database, else asked for each time. Any text may be given as the id. */
  find(id: string): Promise<Agent | undefined>;
  /** By the name it is reached under; any text may be given. */
  bySubdomain(subdomain: string): Promise<Agent | undefined>;
  /** A user's agents, newest first. */
  list(userId: string): Promise<Agent[]>;
  /**
   * The agent a user speaks to (contract §6b): the newest that is not stopped, else the newest; undefined with none.
   * With `agentId` that one, if it is the user's own: else 404.
   */
  current(userId: string, agentId?: string): Promise<Agent | undefined>;
  /**
   * Puts an agent in a status, with the event where that is a change. Up statuses make it wanted up, `stopped` wanted
   * down, `error` (with its reason) leaves what is wanted. False when there is no such agent.
   */
  setStatus(id: string, status: AgentStatus, more?: StatusChange): Promise<boolean>;
  /** Writes what was given, in one batch with `also`; 404 when the agent is gone. */
  change(id: string, to: { name?: string; model?: ModelChoice }, also: readonly Statement[]): Promise<Agent>;
  /** Those that should be up and are not, or need a runtime that is not one of these. */
  troubled(runtimeVersions: readonly string[]): Promise<Agent[]>;
  /** Removes an agent with all that belongs to it; false when there is none. */
  remove(id: string): Promise<boolean>;
  /** A user got another agent. */
  added(userId: string): void;
  /** Bytes held in memory for this agent. */
  held(id: string): number;
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** Nothing else is ever put into a query, a path or a grant. */
export const isAgentId = (text: string) => UUID.test(text);

/** The same for an agent that does not exist and for one of somebody else. */
export const noSuchAgent = () => notFound("You have no agent with this id.", "AGENT_NOT_FOUND");

export const CACHED_AGENTS = 20_000;

/** Rows are kept in memory only where no other process can write them. */
export const cacheSize = (kernel: Pick<Kernel, "config" | "database">) => (ownsDatabase(kernel) ? CACHED_AGENTS : 0);

type Deps = Pick<Kernel, "database" | "events" | "config"> & { changes: Changes };

export function createAgents({ database, events, config, changes }: Deps): Agents {
  const db = database.drizzle;
  const known = createCache<Agent>({ entries: cacheSize({ config, database }) });
  const owned = createCache<readonly string[]>({ entries: cacheSize({ config, database }) });
  changes.onChange(known.drop);

  const byId = db
    .select()
    .from(agents)
    .where(eq(agents.id, sql.placeholder("id")))
    .prepare();
  const idOfSubdomain = db
    .select({ id: agents.id })
    .from(agents)
    .where(eq(agents.subdomain, sql.placeholder("subdomain")))
    .prepare();
  // Ids grow with time.
  const byOwner = db
    .select()
    .from(agents)
    .where(eq(agents.userId, sql.placeholder("userId")))
    .orderBy(desc(agents.id))
    .prepare();

  const find = async (id: string) =>
    isAgentId(id) ? known.get(id, async () => (await byId.execute({ id }))[0]) : undefined;
  const list = (userId: string) => byOwner.execute({ userId });

  async function newest(userId: string): Promise<Agent | undefined> {
    const ids = await owned.get(userId, async () => (await list(userId)).map(({ id }) => id));
    let first: Agent | undefined;
    for (const id of ids ?? []) {
      const agent = await find(id);
      if (agent && agent.status !== "stopped") return agent;
      first ??= agent;
    }
    return first;
  }

  return {
    find,
    list,
    added: owned.drop,
    held: (id) => heldBytes(known.peek(id)),

    async bySubdomain(subdomain) {
      const [found] = await idOfSubdomain.execute({ subdomain });
      return found && find(found.id);
    },

    async current(userId, agentId) {
      if (agentId === undefined) return newest(userId);
      const agent = await find(agentId);
      if (agent?.userId !== userId) throw noSuchAgent();
      return agent;
    },

    async setStatus(id, status, { reason, cameUp = false, runtimeVersion, also = [] } = {}) {
      const agent = await find(id);
      if (!agent) return false;
      const now = Date.now();
      const up = status === "running" || status === "active";
      const why = reason ?? null;
      const wanted = up ? "up" : status === "stopped" ? "down" : sql`${agents.wanted}`;
      const since = cameUp ? sql`${now}` : sql`iif(status IN ('running', 'active'), started_at, ${now})`;
      const startedAt = up ? since : sql`${agents.startedAt}`;
      const version = runtimeVersion ?? sql`${agents.runtimeVersion}`;
      const differs = sql`(status <> ${status} OR status_reason IS NOT ${why} OR wanted <> ${wanted})`;
      const always = cameUp || runtimeVersion !== undefined || also.length > 0;
      const change = db
        .update(agents)
        .set({ status, statusReason: why, wanted, startedAt, runtimeVersion: version, updatedAt: now })
        .where(always ? sql`id = ${id}` : sql`id = ${id} AND ${differs}`);
      const { userId, name } = agent;
      const told = status !== agent.status || why !== agent.statusReason || cameUp;
      try {
        await database.write([
          { ...statement(change), after: () => changes.changed(id) },
          guard("change"),
          ...(told
            ? [events.record("agent.status", { userId, agentId: id, data: { id, name, status, reason: why } })]
            : []),
          ...also,
        ]);
      } catch (error) {
        if (!(error instanceof GuardFailed && error.guard === "change")) throw error;
        return (await find(id)) !== undefined; // It was so already, unless it has gone meanwhile.
      }
      return true;
    },

    async change(id, to, also) {
      const update = db
        .update(agents)
        .set({ ...to, updatedAt: Date.now() })
        .where(eq(agents.id, id));
      try {
        await database.write([{ ...statement(update), after: () => changes.changed(id) }, guard("agent"), ...also]);
      } catch (error) {
        if (error instanceof GuardFailed) throw noSuchAgent();
        throw error;
      }
      const agent = await find(id);
      if (!agent) throw noSuchAgent();
      return agent;
    },

    troubled: (runtimeVersions) =>
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
      await changes.deleting(id);
      const { userId, name } = agent;
      const after = () => {
        owned.drop(userId);
        changes.changed(id);
      };
      try {
        await database.write([
          { ...statement(db.delete(agents).where(eq(agents.id, id))), after },
          guard("agent"),
          events.record("agent.deleted", { userId, agentId: id, data: { id, name } }),
        ]);
      } catch (error) {
        if (!(error instanceof GuardFailed)) throw error;
        return false;
      }
      await changes.deleted(id);
      return true;
    },
  };
}
