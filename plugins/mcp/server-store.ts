// Stores what is known of agents' MCP servers: state and tools, as the last connection found them.
import type { Row } from "@libsql/client";
import type { Database, Statement } from "../../src/kernel/database/database.ts";
import type { JsonSchema } from "../skills/index.ts";

/** A tool as its server lists it, within limits. */
export interface ListedTool {
  name: string;
  description: string;
  inputSchema: JsonSchema;
  /** The server says that it changes nothing. */
  readOnly: boolean;
  /** The server says that a repeated call has no further effect; earlier versions did not note it. */
  idempotent?: boolean;
  /** The server says that it deletes or overwrites. */
  destructive: boolean;
  /** Hash of its name, description and schema. */
  digest: string;
  /** The server has changed it since the owner has seen it. */
  changed?: boolean;
}

/** A tool that is left out of the list. */
export interface OmittedTool {
  name: string;
  reason: string;
}

export type ServerState = "connected" | "unauthorized" | "failed";

/** What the last connection found. */
export interface ServerRecord {
  name: string;
  digest: string;
  state: ServerState;
  lastError: string | null;
  version: string;
  era: string | null;
  tools: readonly ListedTool[];
  omitted: readonly OmittedTool[];
  hasResources: boolean;
  hasPrompts: boolean;
  /** Epoch ms. */
  listedAt: number | null;
  checkedAt: number;
}

export interface ServerStore {
  list(agentId: string): Promise<ServerRecord[]>;
  find(agentId: string, name: string): Promise<ServerRecord | undefined>;
  /** Stores a record, unless the agent is gone. */
  saveStatement(agentId: string, record: ServerRecord): Statement;
  /** Deletes what is known of servers that a configuration no longer names. */
  pruneStatements(agentId: string, configText: string): Statement[];
}

const COLUMNS =
  "name, digest, state, last_error, version, era, tools, omitted, has_resources, has_prompts, listed_at, checked_at";
const SAVE = `INSERT INTO mcp_servers (agent_id, ${COLUMNS})
  SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13 FROM agents WHERE id = ?1
  ON CONFLICT (agent_id, name) DO UPDATE SET digest = excluded.digest, state = excluded.state,
    last_error = excluded.last_error, version = excluded.version, era = excluded.era, tools = excluded.tools,
    omitted = excluded.omitted, has_resources = excluded.has_resources, has_prompts = excluded.has_prompts,
    listed_at = excluded.listed_at, checked_at = excluded.checked_at`;
const isUnnamed = "agent_id = ?1 AND name NOT IN (SELECT key FROM json_each(?2, '$.mcpServers'))";

export const createServerStore = ({ database }: { database: Pick<Database, "read"> }): ServerStore => ({
  async list(agentId) {
    const { rows } = await database.read(`SELECT ${COLUMNS} FROM mcp_servers WHERE agent_id = ? ORDER BY name`, [
      agentId,
    ]);
    return rows.map(toRecord);
  },
  async find(agentId, name) {
    const sql = `SELECT ${COLUMNS} FROM mcp_servers WHERE agent_id = ? AND name = ?`;
    return (await database.read(sql, [agentId, name])).rows.map(toRecord)[0];
  },
  saveStatement: (agentId, one) => ({
    sql: SAVE,
    args: [
      agentId,
      one.name,
      one.digest,
      one.state,
      one.lastError,
      one.version,
      one.era,
      JSON.stringify(one.tools),
      JSON.stringify(one.omitted),
      one.hasResources,
      one.hasPrompts,
      one.listedAt,
      one.checkedAt,
    ],
  }),
  pruneStatements: (agentId, configText) =>
    ["mcp_servers", "mcp_sign_ins"].map((table) => ({
      sql: `DELETE FROM ${table} WHERE ${isUnnamed}`,
      args: [agentId, configText],
    })),
});

const toRecord = (row: Row): ServerRecord => ({
  name: String(row.name),
  digest: String(row.digest),
  // The table admits no other text.
  state: String(row.state) as ServerState,
  lastError: row.last_error === null ? null : String(row.last_error),
  version: String(row.version),
  era: row.era === null ? null : String(row.era),
  tools: JSON.parse(String(row.tools)),
  omitted: JSON.parse(String(row.omitted)),
  hasResources: Number(row.has_resources) === 1,
  hasPrompts: Number(row.has_prompts) === 1,
  listedAt: row.listed_at === null ? null : Number(row.listed_at),
  checkedAt: Number(row.checked_at),
});
