// The statements that hold an account where it is, and let it go on.
import type { InValue } from "@libsql/client";
import type { Name } from "../../kernel/cells/cells.ts";
import type { Database, Statement } from "../../kernel/database/database.ts";

/** What holding changes of an agent, as it was before. */
export interface HeldAgent {
  id: string;
  status: string;
  status_reason: string | null;
  wanted: string;
  started_at: number | null;
  owner_frozen: number;
  thawed_status: string | null;
}

const AGENTS =
  "SELECT id, status, status_reason, wanted, started_at, owner_frozen, thawed_status FROM agents WHERE user_id = ?";
/** As frozen agents that were stopped before: bots disconnect, platforms keep what people write, and turns end without a reply. */
const HOLD = `UPDATE agents SET thawed_status = 'stopped', status = 'stopped', wanted = 'down', owner_frozen = 1 WHERE user_id = ?`;
const RESTORE = `UPDATE agents SET status = ?, status_reason = ?, wanted = ?, started_at = ?, owner_frozen = ?, thawed_status = ?
  WHERE id = ?`;

/** What was given out for the account and carries a mark. ?1: the account. */
const KEYS = `SELECT id AS key FROM users WHERE id = ?1
  UNION SELECT referral_code FROM users WHERE id = ?1
  UNION SELECT id FROM agents WHERE user_id = ?1
  UNION SELECT subdomain FROM agents WHERE user_id = ?1
  UNION SELECT id FROM auth_sessions WHERE user_id = ?1
  UNION SELECT key_hash FROM api_keys WHERE user_id = ?1
  UNION SELECT token_hash FROM auth_links WHERE user_id = ?1
  UNION SELECT token_hash FROM claims WHERE holder_id = ?1
  UNION SELECT hash FROM oauth_secrets WHERE app_id IN (SELECT id FROM connected_apps WHERE user_id = ?1)
  UNION SELECT callback_id FROM channel_connections WHERE agent_id IN (SELECT id FROM agents WHERE user_id = ?1)
  UNION SELECT id FROM live_streams WHERE agent_id IN (SELECT id FROM agents WHERE user_id = ?1)
  UNION SELECT key_hash FROM live_streams WHERE agent_id IN (SELECT id FROM agents WHERE user_id = ?1)`;
/** The names that the directory has of an account, as the plugins register them. */
const NAMES = `SELECT 'email' AS kind, email AS name FROM users WHERE id = ?1
  UNION ALL SELECT 'sign-in', provider || ' ' || subject FROM linked_accounts WHERE user_id = ?1
  UNION ALL SELECT 'social', CAST(fid AS TEXT) FROM social_accounts WHERE user_id = ?1
  UNION ALL SELECT 'bot', channel || ' ' || bot_id FROM channel_connections
    WHERE agent_id IN (SELECT id FROM agents WHERE user_id = ?1)`;
const ADD_KEYS = `INSERT INTO moved_keys (key, account_id) SELECT value, ?2 FROM json_each(?1) WHERE true
  ON CONFLICT (key) DO UPDATE SET account_id = excluded.account_id`;

/** Events of the account that webhooks have not been told yet, while there is any webhook. */
const UNTOLD = `SELECT 1 FROM webhook_cursor WHERE EXISTS (SELECT 1 FROM webhook_endpoints WHERE active = 1)
  AND (SELECT max(seq) FROM events WHERE user_id = ?1) > max(seq, (SELECT min(from_seq) FROM webhook_endpoints WHERE active = 1))`;

/** Messages that wait for an answer, or are being answered. */
const PENDING =
  "SELECT 1 FROM inbox WHERE status = 'pending' AND agent_id IN (SELECT id FROM agents WHERE user_id = ?) LIMIT 1";

type Reading = Pick<Database, "read">;

export async function readAgents({ read }: Reading, account: string): Promise<HeldAgent[]> {
  return (await read(AGENTS, [account])).rows.map((row) => ({
    id: String(row.id),
    status: String(row.status),
    status_reason: textOrNull(row.status_reason),
    wanted: String(row.wanted),
    started_at: row.started_at === null ? null : Number(row.started_at),
    owner_frozen: Number(row.owner_frozen),
    thawed_status: textOrNull(row.thawed_status),
  }));
}

export const readKeys = async ({ read }: Reading, account: string): Promise<string[]> =>
  (await read(KEYS, [account])).rows.map(({ key }) => String(key));

export const readNames = async ({ read }: Reading, account: string): Promise<Name[]> =>
  (await read(NAMES, [account])).rows.map(({ kind, name }) => ({ kind: String(kind), name: String(name) }));

export const hasUntoldEvents = async ({ read }: Reading, account: string): Promise<boolean> =>
  (await read(UNTOLD, [account])).rows.length > 0;

export const hasPendingTurns = async ({ read }: Reading, account: string): Promise<boolean> =>
  (await read(PENDING, [account])).rows.length > 0;

export const holdStatement = (account: string): Statement => ({ sql: HOLD, args: [account] });

export const restoreStatements = (agents: readonly HeldAgent[]): Statement[] =>
  agents.map(({ id, status, status_reason, wanted, started_at, owner_frozen, thawed_status }) => ({
    sql: RESTORE,
    args: [status, status_reason, wanted, started_at, owner_frozen, thawed_status, id],
  }));

export const addKeysStatement = (account: string, keys: readonly string[]): Statement => ({
  sql: ADD_KEYS,
  args: [JSON.stringify(keys), account],
});

const leaseOf = (account: string) => `moving ${account}`;

/** The cell runs no parked job. A restart of the cell releases them. */
export const parkJobsStatement = (account: string, ids: readonly string[]): Statement => ({
  sql: `UPDATE jobs SET state = 'running', lease = ?, lease_until = ? WHERE state = 'queued'
    AND id IN (SELECT value FROM json_each(?))`,
  args: [leaseOf(account), Number.MAX_SAFE_INTEGER, JSON.stringify(ids)],
});
export const releaseJobsStatement = (account: string): Statement => ({
  sql: "UPDATE jobs SET state = 'queued', lease = NULL, lease_until = NULL WHERE state = 'running' AND lease = ?",
  args: [leaseOf(account)],
});

const textOrNull = (value: InValue | undefined) => (value === null || value === undefined ? null : String(value));
