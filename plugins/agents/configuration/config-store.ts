// Stores configurations as versions of unchanged text, and caches the settings that Berth reads in them.
import { and, desc, eq, sql } from "drizzle-orm";
import { GuardFailed, guard, preparedQuery, type Statement, statement } from "../../../src/kernel/database/database.ts";
import { AppError, type Issue, notFound } from "../../../src/kernel/errors.ts";
import type { Kernel } from "../../../src/kernel/plugin.ts";
import { createCache } from "../../../src/kernel/util/cache.ts";
import { estimateMemorySize } from "../../../src/kernel/util/memory-size.ts";
import { providerSettings } from "../../ai/settings.ts";
import { mcpSettings } from "../../mcp/settings.ts";
import type { AgentHooks } from "../agent-hooks.ts";
import { agentNotFound, cacheSize, updatedEvent } from "../agent-store.ts";
import type { LogStore } from "../logs/log-store.ts";
import { agentConfigs, agents } from "../schema.ts";
import { configTooLarge, findIneffective, requireConfig } from "./config-check.ts";
import { type AgentSettings, type CurrentSettings, MAX_CONFIG_BYTES, readSettings } from "./settings.ts";

/** Versions stored of each configuration; a new one deletes the oldest. */
const MAX_VERSIONS = 20;
/** The bound of the settings cache: characters of configuration text that its entries were read from. */
const MAX_CACHED_CHARACTERS = 32 * 1024 * 1024;

/** Warnings in an answer, and characters of each one's path. */
const MAX_WARNINGS = 100;
const MAX_PATH_CHARACTERS = 200;

const BUDGETED_SQL = `SELECT agents.id, agents.name FROM agents JOIN agent_configs AS config ON config.agent_id = agents.id
    AND config.version = (SELECT max(version) FROM agent_configs WHERE agent_id = agents.id)
  WHERE user_id = ? AND json_type(config.body, '$.budget') = 'object' ORDER BY agents.id DESC LIMIT ? OFFSET ?`;

/** The names of the fields in which two configurations differ; their values may be secret. */
export function changedFields(before: string, after: string): string[] {
  const [old, now] = [before, after].map((text) => JSON.parse(text) as Record<string, unknown>);
  const names = new Set([...Object.keys(old ?? {}), ...Object.keys(now ?? {})]);
  return [...names].filter((name) => !Bun.deepEquals(old?.[name], now?.[name])).sort();
}

/** What is stored with an edit of the configuration. */
export interface BesideEdit {
  statements?: readonly Statement[];
  /** What else they change of the agent, for its event. */
  changed?: readonly "channels"[];
}

export interface ConfigStore {
  /** The text of the newest version; `{}` where there is none. */
  text(agentId: string): Promise<string>;
  /**
   * The settings in the newest version, from a cache where one process owns the database. Invalid settings are left
   * out.
   */
  settings(agentId: string): Promise<CurrentSettings>;
  /** The own models that the newest versions of these agents name, by agent. */
  modelsOf(agentIds: readonly string[]): Promise<ReadonlyMap<string, string>>;
  /** A user's agents whose newest version sets a budget, newest first. */
  listBudgeted(userId: string, page: { limit: number; offset: number }): Promise<{ id: string; name: string }[]>;
  /** Checks a text before it is stored, as `requireConfig` does. */
  requireValid(text: string): Promise<AgentSettings>;
  /** What in a valid text has no effect: unknown keys and names, and what this version does not use yet. */
  warnings(agentId: string, text: string): Promise<Issue[]>;
  /** Adds a check that finds settings without an effect, such as names that only another plugin knows. */
  registerCheck(check: ConfigCheck): void;
  /** Adds statements to every write that stores a new version. */
  registerEffects(effects: ConfigEffects): void;
  /** Checks (`requireConfig`) and stores a new version, on the owner's request; 404 when the agent is gone. */
  save(agentId: string, text: string): Promise<void>;
  /**
   * Stores a stored version once more, as the newest; returns its text. A copy of an imported version still counts as
   * imported. 404 `VERSION_NOT_FOUND`, and the errors of `save`.
   */
  restore(agentId: string, version: number): Promise<string>;
  /**
   * Stores a new version that Berth has made of a stored one; what was imported still counts as imported. It is not checked,
   * because the rules may be stricter than those under which the rest of it was stored. 404 when the agent is gone.
   */
  saveRepaired(agentId: string, text: string): Promise<void>;
  /**
   * Changes a part of the newest version on the owner's request, and stores the result as a new version, with what belongs to
   * the change in the same batch. The caller has checked that part; the rest stays as it is, also as imported. Nothing is stored
   * if `change` returns the text unchanged and there are no statements. 404 when the agent is gone; guards of the statements
   * fail as in a batch of their own.
   */
  edit(agentId: string, change: (text: string) => string, beside?: BesideEdit): Promise<void>;
  /**
   * Stores a new version as part of a larger batch. The caller has checked the text with `requireConfig`. With `from`, the
   * batch fails by the guard `CONFIG_GUARD` unless that version is in force.
   */
  saveStatements(agentId: string, text: string, from?: number): Statement[];
  /** The error 409 `CONFIG_CHANGED`, for a batch that failed by `CONFIG_GUARD`. */
  changedError(agentId: string): Promise<AppError>;
  /** The stored versions, newest first. */
  versions(agentId: string): Promise<ConfigVersion[]>;
  /** The text of one version, by its number or the number as text; 404 `VERSION_NOT_FOUND` when it is not stored. */
  version(agentId: string, version: number | string): Promise<string>;
  /** Bytes held in memory for this agent. */
  memoryBytes(agentId: string): number;
  /** Stores the first version in the batch that creates the agent. The caller has checked the text. */
  firstVersionStatements(agentId: string, text: string, origin: { now: number; imported: boolean }): Statement[];
}

/** Marks an agent as changed if its newest version is still this one. */
const TOUCH_AT_VERSION = `UPDATE agents SET updated_at = ?1 WHERE id = ?2
  AND coalesce((SELECT max(version) FROM agent_configs WHERE agent_id = ?2), 0) = ?3`;

/** Returns a warning for each setting of an agent that has no effect. */
export type ConfigCheck = (agentId: string, settings: AgentSettings) => Issue[] | Promise<Issue[]>;

/** Returns statements for the batch that stores this text as the newest version. Must return quickly. */
export type ConfigEffects = (agentId: string, text: string, isFirst: boolean) => Statement[];

export interface ConfigVersion {
  version: number;
  /** UTF-8 bytes. */
  bytes: number;
  /** Epoch ms. */
  savedAt: number;
  /** It came in an imported file. */
  imported: boolean;
}

/** The guard of a save that names the version it was made from. */
export const CONFIG_GUARD = "config";
const SELECT_VERSION = "SELECT max(version) AS version FROM agent_configs WHERE agent_id = ?";
const MODELS_OF = `SELECT agent_id, body ->> '$.model' AS model FROM agent_configs AS c
  WHERE agent_id IN (SELECT value FROM json_each(?))
    AND version = (SELECT max(version) FROM agent_configs WHERE agent_id = c.agent_id)
    AND iif(json_valid(body), json_type(body, '$.model') = 'text', 0)`;

type Deps = Pick<Kernel, "database" | "config" | "events" | "log" | "audit"> & {
  hooks: AgentHooks;
  logs: Pick<LogStore, "add">;
};

export function createConfigStore({ database, config, events, log, audit, hooks, logs }: Deps): ConfigStore {
  const keyShapes = config.of(providerSettings).registry.all.map(({ credential }) => credential.shape);
  const mcpCommands = config.of(mcpSettings).commands.map(({ name }) => name);
  const requireValid = (body: string) => requireConfig(body, keyShapes, mcpCommands);
  const checks: ConfigCheck[] = [];
  const effects: ConfigEffects[] = [];
  const effectsOf: ConfigEffects = (agentId, body, isFirst) => effects.flatMap((add) => add(agentId, body, isFirst));
  const db = database.drizzle;
  const settingsCache = createCache<{ settings: CurrentSettings; size: number }>({
    entries: cacheSize({ config, database }),
    weight: { of: ({ size }) => size, limit: MAX_CACHED_CHARACTERS },
  });
  hooks.onChange(settingsCache.drop);

  const selectNewest = preparedQuery(() =>
    db
      .select({ body: agentConfigs.body, imported: agentConfigs.imported, version: agentConfigs.version })
      .from(agentConfigs)
      .where(eq(agentConfigs.agentId, sql.placeholder("agentId")))
      .orderBy(desc(agentConfigs.version))
      .limit(1),
  );
  const newest = async (agentId: string) =>
    (await selectNewest.execute({ agentId }))[0] ?? { body: "{}", imported: false, version: 0 };
  const text = async (agentId: string) => (await newest(agentId)).body;

  const load = async (agentId: string) => {
    const { body, imported } = await newest(agentId);
    const { settings } = readSettings(JSON.parse(body));
    return { settings: imported ? { ...settings, imported } : settings, size: body.length };
  };

  /** @param imported null: as the newest version */
  function saveStatements(agentId: string, body: string, imported: boolean | null, from?: number): Statement[] {
    const add: Statement = {
      sql: `INSERT INTO agent_configs (agent_id, version, body, updated_at, imported)
        SELECT ?1, newest + 1, ?2, ?3,
          coalesce(?4, (SELECT imported FROM agent_configs WHERE agent_id = ?1 ORDER BY version DESC LIMIT 1), 0)
        FROM (SELECT coalesce(max(version), 0) AS newest FROM agent_configs WHERE agent_id = ?1)
        WHERE ?5 IS NULL OR newest = ?5 RETURNING version`,
      args: [agentId, body, Date.now(), imported, from ?? null],
      after({ rows }) {
        hooks.notifyChanged(agentId);
        hooks.notifyConfigured(agentId);
        const version = Number(rows[0]?.version);
        logs.add(agentId, "info", `The configuration was changed: version ${version} is in force.`, "configuration", {
          version,
        });
      },
    };
    const trim: Statement = {
      sql: `DELETE FROM agent_configs WHERE agent_id = ?1 AND version <=
        (SELECT max(version) FROM agent_configs WHERE agent_id = ?1) - ${MAX_VERSIONS}`,
      args: [agentId],
    };
    return [add, guard(CONFIG_GUARD), trim, ...effectsOf(agentId, body, false)];
  }

  /** Records the event `agent.updated`, and in the audit log which fields were changed; 404 for a missing agent. */
  async function recordStatements(
    agentId: string,
    changed: readonly ("config" | "channels")[],
    fields: readonly string[],
  ): Promise<Statement[]> {
    const [agent] = await db
      .select({ userId: agents.userId, name: agents.name })
      .from(agents)
      .where(eq(agents.id, agentId));
    if (!agent) throw agentNotFound();
    return [
      events.recordStatement(...updatedEvent({ id: agentId, ...agent }, changed)),
      audit.record({
        action: "agent.update",
        target: { kind: "agent", id: agentId, name: agent.name },
        details: { fields, ...(changed.includes("channels") && { channels: true }) },
      }),
    ];
  }

  async function store(agentId: string, body: string, imported: boolean | null): Promise<void> {
    const records = await recordStatements(agentId, ["config"], changedFields(await text(agentId), body));
    const touch = db.update(agents).set({ updatedAt: Date.now() }).where(eq(agents.id, agentId));
    try {
      await database.write([statement(touch), guard("agent"), ...saveStatements(agentId, body, imported), ...records]);
    } catch (error) {
      if (error instanceof GuardFailed) throw agentNotFound();
      throw error;
    }
  }

  async function findVersion(agentId: string, version: number | string) {
    const number = /^[1-9]\d{0,8}$/.test(String(version)) ? Number(version) : 0;
    const [row] = await db
      .select({ body: agentConfigs.body, imported: agentConfigs.imported })
      .from(agentConfigs)
      .where(and(eq(agentConfigs.agentId, agentId), eq(agentConfigs.version, number)));
    if (!row)
      throw notFound(
        "There is no such version of the configuration. List the versions that are stored.",
        "VERSION_NOT_FOUND",
      );
    return row;
  }

  async function warnings(agentId: string, body: string): Promise<Issue[]> {
    const { settings, warnings: found } = findIneffective(body);
    for (const check of checks) {
      try {
        found.push(...(await check(agentId, settings)));
      } catch (error) {
        log.error("a check of a configuration failed", { agentId, error });
      }
    }
    return found.slice(0, MAX_WARNINGS).map(({ path, message }) => ({ path: shorten(path), message }));
  }

  return {
    requireValid,
    warnings,
    registerCheck: (check) => void checks.push(check),
    registerEffects: (add) => void effects.push(add),
    text,
    async modelsOf(agentIds) {
      if (agentIds.length === 0) return new Map();
      const { rows } = await database.read(MODELS_OF, [JSON.stringify(agentIds)]);
      return new Map(rows.map(({ agent_id, model }) => [String(agent_id), String(model)]));
    },
    saveStatements: (agentId, body, from) => saveStatements(agentId, body, false, from),
    async changedError(agentId) {
      const { rows } = await database.read(SELECT_VERSION, [agentId]);
      const current = Number(rows[0]?.version ?? 0);
      const text = `The configuration was changed meanwhile: version ${current} is in force. Load it, and change that one.`;
      return new AppError(409, "CONFIG_CHANGED", text, { current });
    },
    memoryBytes: (agentId) => estimateMemorySize(settingsCache.peek(agentId)),
    async listBudgeted(userId, { limit, offset }) {
      const { rows } = await database.readLong(BUDGETED_SQL, [userId, limit, offset]);
      return rows.map(({ id, name }) => ({ id: String(id), name: String(name) }));
    },
    settings: async (agentId) => (await settingsCache.get(agentId, () => load(agentId))).settings,

    saveRepaired: (agentId, body) => store(agentId, body, null),
    async save(agentId, body) {
      await requireValid(body);
      await store(agentId, body, false);
    },
    async edit(agentId, change, { statements = [], changed: alsoChanged = [] } = {}) {
      for (;;) {
        const { body, version } = await newest(agentId);
        const changed = change(body);
        if (Buffer.byteLength(changed) > MAX_CONFIG_BYTES) throw configTooLarge();
        const saved = changed === body ? [] : saveStatements(agentId, changed, null);
        if (saved.length + statements.length === 0) return;
        const areas = [...(saved.length > 0 ? ["config" as const] : []), ...alsoChanged];
        const records = areas.length > 0 ? await recordStatements(agentId, areas, changedFields(body, changed)) : [];
        try {
          return void (await database.write([
            { sql: TOUCH_AT_VERSION, args: [Date.now(), agentId, version], after: () => hooks.notifyChanged(agentId) },
            guard("version"),
            ...saved,
            ...statements,
            ...records,
          ]));
        } catch (error) {
          if (!(error instanceof GuardFailed && error.guard === "version")) throw error;
          const isGone = (await database.read("SELECT 1 FROM agents WHERE id = ?", [agentId])).rows.length === 0;
          if (isGone) throw agentNotFound();
          // Another request saved a version meanwhile: change that one.
        }
      }
    },
    async restore(agentId, version) {
      const { body, imported } = await findVersion(agentId, version);
      await requireValid(body);
      await store(agentId, body, imported);
      return body;
    },

    versions: (agentId) =>
      db
        .select({
          version: agentConfigs.version,
          bytes: sql<number>`octet_length(${agentConfigs.body})`,
          savedAt: agentConfigs.updatedAt,
          imported: agentConfigs.imported,
        })
        .from(agentConfigs)
        .where(eq(agentConfigs.agentId, agentId))
        .orderBy(desc(agentConfigs.version)),

    version: async (agentId, version) => (await findVersion(agentId, version)).body,

    firstVersionStatements: (agentId, body, { now, imported }) => [
      {
        ...statement(db.insert(agentConfigs).values({ agentId, version: 1, body, imported, updatedAt: now })),
        after: () => hooks.notifyConfigured(agentId),
      },
      ...effectsOf(agentId, body, true),
    ],
  };
}

const shorten = (path: string) => (path.length > MAX_PATH_CHARACTERS ? `${path.slice(0, MAX_PATH_CHARACTERS)}…` : path);
