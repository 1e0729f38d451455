// Says how old messages are deleted: from conversations, inbox and outbox. A conversation of which nothing is left goes, too.
import type { Statement } from "../../../src/kernel/database/database.ts";
import type { Kernel } from "../../../src/kernel/plugin.ts";
import { measureBy } from "../../../src/kernel/retention/deletion.ts";
import type { KeptKind } from "../../../src/kernel/retention/kept-kind.ts";
import { firstIdAt } from "../../../src/kernel/util/time.ts";
import { PENDING_INBOX } from "../inbox/inbox-sql.ts";
import type { Sessions } from "../sessions/sessions.ts";

interface Deps extends Pick<Kernel, "database"> {
  sessions: Pick<Sessions, "invalidate">;
}

/**
 * Numbers of messages follow time, so the oldest are the head of the table; one that is missed, because it was imported, follows when
 * it has come to the head. The newest message of all stays, since the next number is derived from it.
 */
export const OLDEST = `SELECT seq, session_id, created_at FROM messages
  WHERE seq < (SELECT max(seq) FROM messages) ORDER BY seq LIMIT ?1`;
/** ?1: numbers of messages. */
const DELETE = "DELETE FROM messages WHERE seq IN (SELECT value FROM json_each(?1))";
/** ?1: sessions with the number of messages that go. */
const COUNT = `UPDATE sessions SET message_count = max(0, message_count - gone.count)
  FROM (SELECT value ->> 0 AS id, value ->> 1 AS count FROM json_each(?1)) AS gone WHERE sessions.id = gone.id
  RETURNING sessions.id, agent_id, platform, peer`;
/**
 * A conversation without messages begins anew with the next one. It is deleted by a later run, so that a message which is being
 * stored for it meanwhile still finds it. ?1: ids, ?2: epoch ms.
 */
const COMPLETE = `UPDATE sessions SET status = 'completed', summary = NULL, summary_upto = 0, summary_taint = 0
  WHERE id IN (SELECT value FROM json_each(?1)) AND message_count = 0 AND last_activity_at < ?2
    AND NOT EXISTS (SELECT 1 FROM ${PENDING_INBOX}
      WHERE inbox.agent_id = sessions.agent_id AND session_id = sessions.id AND inbox.status = 'pending')
  RETURNING id, agent_id, platform, peer`;
/** The condition repeats that of the index sessions_emptied. */
export const DELETE_EMPTIED = `DELETE FROM sessions WHERE id IN (SELECT id FROM sessions
    WHERE status = 'completed' AND message_count = 0 AND last_activity_at < ?1 ORDER BY last_activity_at LIMIT ?2)
  AND NOT EXISTS (SELECT 1 FROM messages WHERE session_id = sessions.id)`;

/** One look-up for each agent. ?1: the first id that is kept. */
const AGENTS_WITH_OLD = `SELECT id FROM agents WHERE EXISTS (SELECT 1 FROM inbox
  WHERE agent_id = agents.id AND id < ?1 AND status NOT IN ('pending', 'parked'))`;
/** ?1: agent, ?2: the first id that is kept. */
export const OLD_ENTRIES = `SELECT id FROM inbox
  WHERE agent_id = ?1 AND id < ?2 AND status NOT IN ('pending', 'parked') ORDER BY id LIMIT ?3`;
const OF_ENTRIES = "agent_id = ?1 AND turn_id IN (SELECT value FROM json_each(?2))";
/** The steps and approvals of a turn quote it. */
const DELETE_ENTRIES = [
  `DELETE FROM turn_steps WHERE ${OF_ENTRIES}`,
  `DELETE FROM approvals WHERE ${OF_ENTRIES}`,
  "DELETE FROM inbox WHERE agent_id = ?1 AND id IN (SELECT value FROM json_each(?2))",
];
export const DELETE_DELIVERIES = `DELETE FROM outbox WHERE id IN
  (SELECT id FROM outbox WHERE id < ?1 AND status <> 'pending' ORDER BY id LIMIT ?2)`;
const MEASURE = `SELECT count(*) AS rows, min(created_at) AS oldest,
  sum(150 + octet_length(content) + coalesce(octet_length(steps), 0)) AS bytes FROM messages WHERE created_at < ?1`;

export function messagesKind({ database, sessions }: Deps, keepMs: number | undefined): KeptKind {
  const forget = ({ rows }: { rows: readonly Readonly<Record<string, unknown>>[] }) => {
    for (const { id, agent_id, platform, peer } of rows)
      sessions.invalidate({
        ...{ id: String(id), agentId: String(agent_id), platform: String(platform) },
        peer: peer === null ? null : String(peer),
      });
  };

  async function deleteMessages(before: number, limit: number): Promise<number> {
    const { rows } = await database.read(OLDEST, [limit]);
    const old = rows.filter(({ created_at }) => Number(created_at) < before);
    if (old.length === 0) return 0;
    const bySession = Map.groupBy(old, ({ session_id }) => String(session_id));
    const counts = [...bySession].map(([id, messages]) => [id, messages.length]);
    const statements: Statement[] = [
      { sql: DELETE, args: [JSON.stringify(old.map(({ seq }) => seq))] },
      { sql: COUNT, args: [JSON.stringify(counts)], after: forget },
      { sql: COMPLETE, args: [JSON.stringify([...bySession.keys()]), before], after: forget },
    ];
    return (await database.write(statements))[0]?.rowsAffected ?? 0;
  }

  /** Agents that are known to have old entries. */
  let agents: string[] = [];
  async function deleteEntries(before: number, limit: number): Promise<number> {
    const first = firstIdAt(before);
    if (agents.length === 0)
      agents = (await database.readLong(AGENTS_WITH_OLD, [first])).rows.map(({ id }) => String(id));
    for (let agentId = agents.at(-1); agentId !== undefined; agentId = agents.at(-1)) {
      const { rows } = await database.read(OLD_ENTRIES, [agentId, first, limit]);
      const ids = JSON.stringify(rows.map(({ id }) => id));
      const args = [agentId, ids];
      if (rows.length > 0) {
        const results = await database.write(DELETE_ENTRIES.map((sql) => ({ sql, args })));
        return results.at(-1)?.rowsAffected ?? 0;
      }
      agents.pop();
    }
    return 0;
  }

  const affected = async (sql: string, args: (string | number)[]) =>
    (await database.write([{ sql, args }]))[0]?.rowsAffected ?? 0;
  return {
    name: "messages",
    what: "messages of conversations",
    setting: "KEEP_MESSAGES",
    keepMs,
    steps: [
      (before, limit) => affected(DELETE_EMPTIED, [before, limit]),
      deleteMessages,
      deleteEntries,
      (before, limit) => affected(DELETE_DELIVERIES, [firstIdAt(before), limit]),
    ],
    measure: measureBy(database, MEASURE),
  };
}
