// Backup rows of agents: the agent's own row, its configurations and its credentials, read as JSON and written back.
import { channelIds } from "../../channels/registry.ts";
import { guard, type Statement } from "../../src/kernel/database/database.ts";
import type { Kernel } from "../../src/kernel/plugin.ts";
import { VaultError } from "../../src/kernel/security/vault.ts";
import type { AgentHooks } from "./agent-hooks.ts";
import type { CredentialKind, CredentialStore } from "./credential-store.ts";

/**
 * The parts of a backup by name, each with a scalar query that returns a JSON array of objects for agent `?1`. All
 * parts are read in one statement, so that they are of one moment; a restore gets the same rows back.
 */
export type BackupTables<Name extends string> = Readonly<Record<Name, string>>;

/** The rows of each part: a JSON array, as text. */
export type BackupTableRows<Name extends string> = Readonly<Record<Name, string>>;

export type AgentBackupTable = "agent" | "configs" | "credentials";

export interface AgentBackupRows {
  readonly tables: BackupTables<AgentBackupTable>;
  /**
   * Restores the agent's row but for its status, its configurations, and its credentials, still sealed. Of the
   * channels' tokens it restores only those in `tokens`. Guard `agent` fails when the agent is gone.
   */
  restoreStatements(
    agentId: string,
    rows: BackupTableRows<AgentBackupTable>,
    tokens: readonly CredentialKind[],
  ): Statement[];
  /** Finds credentials that can't be opened; returns one sentence for the owner about each. */
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
      configs: `SELECT json_group_array(json_object('version', version, 'body', body, 'imported', imported, 'at', updated_at))
        FROM (SELECT * FROM agent_configs WHERE agent_id = ?1 ORDER BY version)`,
      credentials: `SELECT json_group_array(json_object('kind', kind, 'sealed', sealed, 'at', updated_at))
        FROM credentials WHERE ${OWN_CREDENTIALS}`,
    },

    restoreStatements(agentId, { agent, configs, credentials: sealed }, tokens) {
      const isRestored = `(kind NOT IN (SELECT value FROM json_each(?3)) OR kind IN (SELECT value FROM json_each(?2)))`;
      const tokenKinds = JSON.stringify(tokens);
      const channelKinds = JSON.stringify(channelIds());
      return [
        {
          sql: `UPDATE agents SET name = backup.name, model = backup.model, tier = backup.tier, runtime_version = backup.version, updated_at = ?3
            FROM (SELECT value ->> 'name' AS name, value ->> 'model' AS model, value ->> 'tier' AS tier,
              value ->> 'runtimeVersion' AS version FROM json_each(?2)) AS backup WHERE id = ?1`,
          args: [agentId, agent, Date.now()],
          after: () => hooks.notifyChanged(agentId),
        },
        guard("agent"),
        { sql: "DELETE FROM agent_configs WHERE agent_id = ?1", args: [agentId] },
        {
          sql: `INSERT INTO agent_configs (agent_id, version, body, imported, updated_at)
            SELECT ?1, value ->> 'version', value ->> 'body', coalesce(value ->> 'imported', 0), value ->> 'at' FROM json_each(?2)`,
          args: [agentId, configs],
        },
        {
          sql: `DELETE FROM credentials WHERE ${OWN_CREDENTIALS} AND ${isRestored}`,
          args: [agentId, tokenKinds, channelKinds],
        },
        {
          sql: `INSERT INTO credentials (owner_kind, owner_id, kind, sealed, updated_at)
            SELECT 'agent', ?1, kind, sealed, at FROM (SELECT value ->> 'kind' AS kind, value ->> 'sealed' AS sealed,
              value ->> 'at' AS at FROM json_each(?4)) WHERE ${isRestored} ON CONFLICT DO NOTHING`,
          args: [agentId, tokenKinds, channelKinds, sealed],
        },
      ];
    },

    async repair(agentId) {
      const { rows } = await database.read(`SELECT kind FROM credentials WHERE ${OWN_CREDENTIALS} ORDER BY kind`, [
        agentId,
      ]);
      const findings: string[] = [];
      for (const { kind } of rows) {
        try {
          await credentials.open(agentId, kind as CredentialKind);
        } catch (error) {
          if (!(error instanceof VaultError)) throw error;
          findings.push(`the credential ${kind} can't be opened with the key in use: set it again`);
        }
      }
      return findings;
    },
  };
}
