// Deletes an account for good, with the events that name it, and says what was deleted.
import type { Actor } from "../../../src/kernel/audit/actor.ts";
import { attachContext, createRequestId } from "../../../src/kernel/http/request-context.ts";
import type { Kernel, ServiceOf } from "../../../src/kernel/plugin.ts";
import type { auth } from "../../auth/index.ts";

type Deps = Pick<Kernel, "database" | "audit" | "cells"> & Pick<ServiceOf<typeof auth>, "users" | "deleteAccount">;

/** ?1: the account. Each table that goes with the account or its agents, by the name in the receipt. */
const COUNTED: Readonly<Record<string, string>> = {
  accounts: "users WHERE id = ?1",
  agents: "agents WHERE user_id = ?1",
  conversations: "sessions WHERE agent_id IN (SELECT id FROM agents WHERE user_id = ?1)",
  messages:
    "messages WHERE session_id IN (SELECT id FROM sessions WHERE agent_id IN (SELECT id FROM agents WHERE user_id = ?1))",
  received: "inbox WHERE agent_id IN (SELECT id FROM agents WHERE user_id = ?1)",
  memories: "memories WHERE agent_id IN (SELECT id FROM agents WHERE user_id = ?1)",
  files: "uploads WHERE agent_id IN (SELECT id FROM agents WHERE user_id = ?1)",
  knowledge: "knowledge_files WHERE agent_id IN (SELECT id FROM agents WHERE user_id = ?1)",
  logLines: "agent_logs WHERE agent_id IN (SELECT id FROM agents WHERE user_id = ?1)",
  responses: "api_responses WHERE user_id = ?1",
  signIns: "auth_sessions WHERE user_id = ?1",
  keys: "api_keys WHERE user_id = ?1",
};
const BATCH = 200;
const EVENTS_OF =
  "SELECT seq FROM events WHERE user_id = ?1 AND type <> 'user.deleted' AND seq < (SELECT max(seq) FROM events)";
const DELETE_EVENTS = [
  `DELETE FROM webhook_deliveries WHERE event_seq IN (SELECT value FROM json_each(?1))`,
  "DELETE FROM events WHERE seq IN (SELECT value FROM json_each(?1))",
];
/** Readers of events still learn that the account is gone, by its id alone. */
const EMPTY_NEWEST = "UPDATE events SET data = json_object('id', user_id) WHERE user_id = ?1";

export const createAccountErasure =
  ({ database, audit, cells, users, deleteAccount }: Deps) =>
  async (userId: string, actor: Pick<Actor, "kind" | "name">): Promise<Record<string, number>> => {
    const user = await users.byId(userId);
    const counts: Record<string, number> = {};
    if (user) {
      for (const [kind, rows] of Object.entries(COUNTED))
        counts[kind] = Number((await database.readLong(`SELECT count(*) AS n FROM ${rows}`, [userId])).rows[0]?.n);
      const kept = await cells?.countKept(userId);
      if (kept) counts.keptInCells = kept;
      const by = { user, isAdmin: true, session: undefined, credentialId: "", scopes: new Set<never>() };
      const record = audit.recorderFor({ ...actor, id: null, address: null, requestId: null });
      const statements = [record({ action: "user.delete", user, details: { erased: true } })];
      await deleteAccount(user, { by, request: requestOf(actor) }, { statements, guardErrors: {} });
    }
    // The deletion has ordered it, too, with the names; the receipt does not come before.
    await cells?.forgetAccount(userId, []);
    // After a kill the account is gone, but not yet its events.
    for (;;) {
      const { rows } = await database.read(`${EVENTS_OF} ORDER BY seq LIMIT ${BATCH}`, [userId]);
      if (rows.length === 0) break;
      const args = [JSON.stringify(rows.map(({ seq }) => seq))];
      await database.write(DELETE_EVENTS.map((sql) => ({ sql, args })));
      counts.events = (counts.events ?? 0) + rows.length;
    }
    await database.write([{ sql: EMPTY_NEWEST, args: [userId] }]);
    return counts;
  };

/** Stands for the command, of which agents learn who deletes them. */
function requestOf({ kind, name }: Pick<Actor, "kind" | "name">): Request {
  const request = new Request("http://localhost/");
  const actor = { kind, name, id: null };
  attachContext(request, { id: createRequestId(), address: "", socketAddress: "", cookies: [], actor });
  return request;
}
