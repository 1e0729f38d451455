// Stores configurations as versions of unchanged text, and caches the settings that Berth reads in them.
import { and, desc, eq, sql } from "drizzle-orm";
import { GuardFailed, guard, type Statement, statement } from "../../../src/kernel/database/database.ts";
import { type Issue, notFound } from "../../../src/kernel/errors.ts";
import type { Kernel } from "../../../src/kernel/plugin.ts";
import { createCache } from "../../../src/kernel/util/cache.ts";
import { estimateMemorySize } from "../../../src/kernel/util/memory-size.ts";
import { providerSettings } from "../../ai/settings.ts";
import type { AgentHooks } from "../agent-hooks.ts";
import { agentNotFound, cacheSize } from "../agent-store.ts";
import { agentConfigs, agents } from "../schema.ts";
import { findIneffective, requireConfig } from "./config-check.ts";
import { type AgentSettings, type CurrentSettings, readSettings } from "./settings.ts";

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

export interface ConfigStore {
  /** The text of the newest version; `{}` where there is none. */
  text(agentId: string): Promise<string>;
  /**
   * The settings in the newest version, from a cache where one process owns the database. Invalid settings are left
   * out.
   */
  settings(agentId: string): Promise<CurrentSettings>;
  /** A user's agents whose newest version sets a budget, newest first. */
  listBudgeted(userId: string, page: { limit: number; offset: number }): Promise<{ id: string; name: string }[]>;
  /** Checks a text before it is stored, as `requireConfig` does. */
  requireValid(text: string): Promise<AgentSettings>;
  /** What in a valid text has no effect: unknown keys and names, and what this version does not use yet. */
  warnings(agentId: string, text: string): Promise<Issue[]>;
  /** Adds a check that finds settings without an effect, such as names that only another plugin knows. */
  registerCheck(check: ConfigCheck): void;
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
  /** Stores a new version as part of a larger batch. The caller has checked the text with `requireConfig`. */
  saveStatements(agentId: string, text: string): Statement[];
  /** The stored versions, newest first. */
  versions(agentId: string): Promise<ConfigVersion[]>;
  /** The text of one version, by its number or the number as text; 404 `VERSION_NOT_FOUND` when it is not stored. */
  version(agentId: string, version: number | string): Promise<string>;
  /** Bytes held in memory for this agent. */
  memoryBytes(agentId: string): number;
  /** Stores the first version in the batch that creates the agent. The caller has checked the text. */
  firstVersionStatement(agentId: string, text: string, origin: { now: number; imported: boolean }): Statement;
}

/** Returns a warning for each setting of an agent that has no effect. */
export type ConfigCheck = (agentId: string, settings: AgentSettings) => Issue[] | Promise<Issue[]>;

export interface ConfigVersion {
  version: number;
  /** UTF-8 bytes. */
  bytes: number;
  /** Epoch ms. */
  savedAt: number;
  /** It came in an imported file. */
  imported: boolean;
}

type Deps = Pick<Kernel, "database" | "config" | "log"> & { hooks: AgentHooks };

export function createConfigStore({ database, config, log, hooks }: Deps): ConfigStore {
  const keyShapes = config.of(providerSettings).registry.all.map(({ credential }) => credential.shape);
  const requireValid = (body: string) => requireConfig(body, keyShapes);
  const checks: ConfigCheck[] = [];
  const db = database.drizzle;
  const settingsCache = createCache<{ settings: CurrentSettings; size: number }>({
    entries: cacheSize({ config, database }),
    weight: { of: ({ size }) => size, limit: MAX_CACHED_CHARACTERS },
  });
  hooks.onChange(settingsCache.drop);

  const selectNewest = db
    .select({ body: agentConfigs.body, imported: agentConfigs.imported })
    .from(agentConfigs)
    .where(eq(agentConfigs.agentId, sql.placeholder("agentId")))
    .orderBy(desc(agentConfigs.version))
    .limit(1)
    .prepare();
  const newest = async (agentId: string) =>
    (await selectNewest.execute({ agentId }))[0] ?? { body: "{}", imported: false };
  const text = async (agentId: string) => (await newest(agentId)).body;

  const load = async (agentId: string) => {
    const { body, imported } = await newest(agentId);
    const { settings } = readSettings(JSON.parse(body));
    return { settings: imported ? { ...settings, imported } : settings, size: body.length };
  };

  /** @param imported null: as the newest version */
  function saveStatements(agentId: string, body: string, imported: boolean | null): Statement[] {
    const add: Statement = {
      sql: `INSERT INTO agent_configs (agent_id, version, body, updated_at, imported)
        SELECT ?1, coalesce(max(version), 0) + 1, ?2, ?3,
          coalesce(?4, (SELECT imported FROM agent_configs WHERE agent_id = ?1 ORDER BY version DESC LIMIT 1), 0)
        FROM agent_configs WHERE agent_id = ?1`,
      args: [agentId, body, Date.now(), imported],
      after() {
        hooks.notifyChanged(agentId);
        hooks.notifyConfigured(agentId);
      },
    };
    const trim: Statement = {
      sql: `DELETE FROM agent_configs WHERE agent_id = ?1 AND version <=
        (SELECT max(version) FROM agent_configs WHERE agent_id = ?1) - ${MAX_VERSIONS}`,
      args: [agentId],
    };
    return [add, trim];
  }

  async function store(agentId: string, body: string, imported: boolean | null): Promise<void> {
    const touch = db.update(agents).set({ updatedAt: Date.now() }).where(eq(agents.id, agentId));
    try {
      await database.write([statement(touch), guard("agent"), ...saveStatements(agentId, body, imported)]);
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
    text,
    saveStatements: (agentId, body) => saveStatements(agentId, body, false),
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

    firstVersionStatement: (agentId, body, { now, imported }) => ({
      ...statement(db.insert(agentConfigs).values({ agentId, version: 1, body, imported, updatedAt: now })),
      after: () => hooks.notifyConfigured(agentId),
    }),
  };
}

const shorten = (path: string) => (path.length > MAX_PATH_CHARACTERS ? `${path.slice(0, MAX_PATH_CHARACTERS)}…` : path);
