// Records where agents were imported from, so that a second import of the same folder is noticed.
import type { Database, Statement } from "../../../src/kernel/database/database.ts";
import { AppError } from "../../../src/kernel/errors.ts";

export interface ImportOrigin {
  format: string;
  /** SHA-256 of the content. */
  digest: string;
  /** SHA-256 of the folder's place on the machine of the service; null for an upload. */
  origin: string | null;
}

const FIND = `SELECT a.id, a.name, i.digest FROM agent_imports i JOIN agents a ON a.id = i.agent_id
  WHERE a.user_id = ?1 AND (i.digest = ?2 OR (?3 IS NOT NULL AND i.origin = ?3)) ORDER BY i.created_at DESC LIMIT 1`;

/** Throws 409 `ALREADY_IMPORTED` if the user has an agent from this file or folder. */
export async function requireNotImported(
  { read }: Pick<Database, "read">,
  userId: string,
  { digest, origin }: ImportOrigin,
): Promise<void> {
  const [row] = (await read(FIND, [userId, digest, origin])).rows;
  if (!row) return;
  const agent = { id: String(row.id), name: String(row.name) };
  const changed = row.digest !== digest;
  const since = changed ? " The files have changed since." : "";
  const text = `You have imported this already, as the agent ${agent.name}.${since} Remove that one, or ask for another.`;
  throw new AppError(409, "ALREADY_IMPORTED", text, { agent, changed });
}

export const recordImportStatement = (agentId: string, { format, digest, origin }: ImportOrigin): Statement => ({
  sql: "INSERT INTO agent_imports (agent_id, format, digest, origin, created_at) VALUES (?, ?, ?, ?, ?)",
  args: [agentId, format, digest, origin, Date.now()],
});
