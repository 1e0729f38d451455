// What belongs to an agent, as rows that go into its backup and come back from one; here: its own row, configurations, credentials.
import { guard, type Statement } from "../../src/kernel/database/database.ts";
import type { Kernel } from "../../src/kernel/plugin.ts";
import { VaultError } from "../../src/kernel/security/vault.ts";
import type { AgentHooks } from "./agent-hooks.ts";
import type { CredentialKind, CredentialStore } from "./credential-store.ts";

/**
 * Names of parts with the scalar query of each: for agent `?1` it gives one JSON array of objects. All parts of an agent
 * are asked for in one statement, so that they tell of one moment; their rows are handed back as they were given.
 */
export type BackupTables<Name extends string> = Readonly<Record<Name, string>>;

/** The rows of parts: JSON arrays, as text. */
export type BackupTableRows<Name extends string> = Readonly<Record<Name, string>>;

export type AgentBackupTable = "agent" | "configs" | "credentials";

export interface AgentBackupRows {
  readonly tables: BackupTables<AgentBackupTable>;
  /**
   * Puts back what an agent is, its configurations, and its credentials, sealed as they are; of the channels' tokens
   * those named. Its status stays. Guard `agent`: it is gone.
   */
  restoreStatements(
    agentId: string,
    rows: BackupTableRows<AgentBackupTable>,
    tokens: readonly CredentialKind[],
  ): Statement[];
  /** Looks for what is wrong, and says it in words. */
  repair(agentId: string): Promise<string[]>;
}

interface Deps extends Pick<Kernel, "database"> {
  hooks: Pick<AgentHooks, "notifyChanged">;
  credentials: Pick<CredentialStore, "open">;
}

const OWN_CREDENTIALS = "owner_kind = 'agent' AND owner_id = ?1";

export function createBackupRows({ database, hooks, credentials }: Deps): AgentBackupRows {
  return {
    tables: {
      agent: `SELECT json_group_array(json_object(
          'name', name, 'model', model, 'tier', tier, 'runtimeVersion', runtime_version)) FROM agents WHERE id = ?1`,
      configs: `SELECT json_group_array(json_object('version', version, 'body', body, 'at', updated_at))
        FROM (SELECT * FROM agent_configs WHERE agent_id = ?1 ORDER BY version)`,
      credentials: `SELECT json_group_array(json_object('kind', kind, 'sealed', sealed, 'at', updated_at))
        FROM credentials WHERE ${OWN_CREDENTIALS}`,
    },

    restoreStatements(agentId, { agent, configs, credentials: sealed }, tokens) {
      const isRestored = `(kind NOT LIKE 'channel@_%' ESCAPE '@' OR kind IN (SELECT value FROM json_each(?2)))`;
      const tokenKinds = JSON.stringify(tokens);
      return [
        {
          sql: `UPDATE agents SET name = was.name, model = was.model, tier = was.tier, runtime_version = was.version, updated_at = ?3
            FROM (SELECT value ->> 'name' AS name, value ->> 'model' AS model, value ->> 'tier' AS tier,
              value ->> 'runtimeVersion' AS version FROM json_each(?2)) AS was WHERE id = ?1`,
          args: [agentId, agent, Date.now()],
          after: () => hooks.notifyChanged(agentId),
        },
        guard("agent"),
        { sql: "DELETE FROM agent_configs WHERE agent_id = ?1", args: [agentId] },
        {
          sql: `INSERT INTO agent_configs (agent_id, version, body, updated_at)
            SELECT ?1, value ->> 'version', value ->> 'body', value ->> 'at' FROM json_each(?2)`,
          args: [agentId, configs],
        },
        { sql: `DELETE FROM credentials WHERE ${OWN_CREDENTIALS} AND ${isRestored}`, args: [agentId, tokenKinds] },
        {
          sql: `INSERT INTO credentials (owner_kind, owner_id, kind, sealed, updated_at)
            SELECT 'agent', ?1, kind, sealed, at FROM (SELECT value ->> 'kind' AS kind, value ->> 'sealed' AS sealed,
              value ->> 'at' AS at FROM json_each(?3)) WHERE ${isRestored} ON CONFLICT DO NOTHING`,
          args: [agentId, tokenKinds, sealed],
        },
      ];
    },

    async repair(agentId) {
      const { rows } = await database.read(`SELECT kind FROM credentials WHERE ${OWN_CREDENTIALS} ORDER BY kind`, [
        agentId,
      ]);
      const found: string[] = [];
      for (const { kind } of rows) {
        try {
          await credentials.open(agentId, kind as CredentialKind);
        } catch (error) {
          if (!(error instanceof VaultError)) throw error;
          found.push(`the credential ${kind} can't be opened with the key in use: set it again`);
        }
      }
      return found;
    },
  };
}
