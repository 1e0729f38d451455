// Mends what a conversation can't get over by itself: broken turns, messages that were given up, replies that got stuck.
import type { Database, Statement } from "../../src/database.ts";
import { outboxPages } from "./outbox-pages.ts";
import { NOBODYS } from "./sessions.ts";
import type { Step } from "./turn.ts";

interface Deps {
  database: Pick<Database, "read" | "write">;
  /** Takes up replies that wait to be delivered. */
  deliver(agentId: string): void;
  /** The numbers of all messages of an agent, in pages. */
  pages(agentId: string): AsyncIterable<readonly number[]>;
}

/** A statement, and how to say what it did to so many rows. */
interface Mend {
  statement: Statement;
  said(rows: number): string;
}

/** Tries before a reply is given up. */
const DELIVERY_TRIES = 40;
/** An older reply would surprise more than it would help. */
const DELIVERED_WITHIN = 7 * 86_400_000;

/** `1 message`, `2 messages`. */
const count = (rows: number, what: string, many = `${what}s`) => `${rows} ${rows === 1 ? what : many}`;

/** Looks at everything that was said to an agent and waits for it. To be called while none of its turns runs. */
export function createMending({ database, deliver, pages }: Deps) {
  /** Messages with steps, and those of entries that are not answered yet. */
  async function* suspects(agentId: string) {
    for await (const seqs of pages(agentId)) {
      const { rows } = await database.read(SUSPECTS, [agentId, JSON.stringify(seqs)]);
      for (const { seq, role, entry, steps } of rows) {
        yield { seq: Number(seq), role, entry: entry === null ? undefined : String(entry), steps };
      }
    }
  }

  /** What was half done when somebody, or something, broke it off. */
  async function halves(agentId: string): Promise<Mend[]> {
    const calls: { seq: number; steps: string | null }[] = [];
    const replies = new Map<string, number>();
    const questions = new Map<string, number[]>();
    for await (const { seq, role, entry, steps } of suspects(agentId)) {
      const whole = typeof steps === "string" ? completed(steps) : undefined;
      if (whole !== undefined) calls.push({ seq, steps: whole });
      if (entry === undefined) continue;
      if (role === "assistant") replies.set(entry, seq);
      else questions.set(entry, [...(questions.get(entry) ?? []), seq]);
    }
    const answered = [...replies].map(([id, reply]) => ({ id, reply }));
    // A turn writes the question together with its reply.
    const early = [...questions].flatMap(([entry, seqs]) => (replies.has(entry) ? [] : seqs));
    return [
      {
        statement: { sql: FIX_STEPS, args: [JSON.stringify(calls)] },
        said: (rows) =>
          `${count(rows, "reply", "replies")} with tool calls that have no result: the calls were removed`,
      },
      {
        statement: { sql: FIX_ANSWERED, args: [agentId, JSON.stringify(answered), Date.now()] },
        said: (rows) => `${count(rows, "message")} that had been answered already: not answered again`,
      },
      {
        statement: { sql: FIX_EARLY, args: [JSON.stringify(early)] },
        said: (rows) => `${count(rows, "half turn")}: taken back, to be run as a whole`,
      },
    ];
  }

  /** Replies that were given up for a reason that may be over. */
  async function undelivered(agentId: string): Promise<Mend[]> {
    const since = (Date.now() - DELIVERED_WITHIN).toString(16).padStart(12, "0");
    const found: string[] = [];
    for await (const [first, last] of outboxPages(database, agentId, `${since.slice(0, 8)}-${since.slice(8)}`)) {
      const { rows } = await database.read(UNDELIVERED, [agentId, first, last, DELIVERY_TRIES]);
      found.push(...rows.map(({ id }) => String(id)));
    }
    return [
      {
        statement: { sql: FIX_UNDELIVERED, args: [JSON.stringify(found)], after: () => deliver(agentId) },
        said: (rows) => `${count(rows, "reply", "replies")} that had not arrived: sent again`,
      },
    ];
  }

  return async function mend(agentId: string): Promise<string[]> {
    const mends: Mend[] = [
      ...(await halves(agentId)),
      {
        statement: { sql: FIX_PARKED, args: [agentId] },
        said: (rows) => `${count(rows, "message")} that had been given up: tried again`,
      },
      {
        statement: { sql: FIX_TRIED, args: [agentId] },
        said: (rows) => `${count(rows, "message")} about to be given up: all tries again`,
      },
      {
        statement: { sql: FIX_HOMELESS, args: [agentId, Date.now()] },
        said: (rows) => `${count(rows, "session")} that messages wait for was gone: made anew`,
      },
      ...(await undelivered(agentId)),
      {
        statement: { sql: FIX_COUNTS, args: [agentId] },
        said: (rows) => `${count(rows, "session")} with a wrong number of messages: counted again`,
      },
      {
        statement: { sql: FIX_SUMMARIES, args: [agentId] },
        said: (rows) => `${count(rows, "session")} whose summary hid messages that it does not hold: shown again`,
      },
    ];
    const results = await database.write(mends.map(({ statement }) => statement));
    return mends.flatMap(({ said }, n) => {
      const rows = results[n]?.rowsAffected ?? 0;
      return rows > 0 ? [said(rows)] : [];
    });
  };
}

/** The calls that have a result, as they are to be kept: undefined when all have, null when none has. */
function completed(text: string): string | null | undefined {
  const steps = parsed(text);
  const whole = Array.isArray(steps) ? steps.filter(isStep) : [];
  if (Array.isArray(steps) && whole.length === steps.length) return undefined;
  return whole.length > 0 ? JSON.stringify(whole) : null;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function isStep(value: unknown): value is Step {
  if (typeof value !== "object" || value === null) return false;
  const of = (name: keyof Step): unknown => Reflect.get(value, name);
  return (
    [of("tool"), of("input"), of("result")].every((text) => typeof text === "string") && typeof of("ok") === "boolean"
  );
}

const SUSPECTS = `SELECT m.seq, m.role, m.steps, i.id AS entry FROM messages AS m
  LEFT JOIN inbox AS i ON i.agent_id = ?1 AND i.id = m.inbox_id AND i.status IN ('pending', 'parked')
  WHERE m.seq IN (SELECT value FROM json_each(?2)) AND (i.id IS NOT NULL OR m.steps IS NOT NULL) ORDER BY m.seq`;
const FIX_STEPS = `UPDATE messages SET steps = fixed.steps
  FROM (SELECT value ->> 'seq' AS seq, value ->> 'steps' AS steps FROM json_each(?1)) AS fixed WHERE messages.seq = fixed.seq`;
const FIX_ANSWERED = `UPDATE inbox SET status = 'done', error = NULL, settled_at = ?3, reply = said.reply
  FROM (SELECT value ->> 'id' AS id, value ->> 'reply' AS reply FROM json_each(?2)) AS said
  WHERE inbox.agent_id = ?1 AND inbox.id = said.id`;
const FIX_EARLY = "DELETE FROM messages WHERE seq IN (SELECT value FROM json_each(?1))";
const FIX_PARKED = `UPDATE inbox SET status = 'pending', attempts = 0, error = NULL, settled_at = NULL
  WHERE agent_id = ?1 AND status = 'parked'`;
/** Since the tries of a turn are fewer: these are starts of the process that found it in work. */
const FIX_TRIED = "UPDATE inbox SET attempts = 0 WHERE agent_id = ?1 AND status = 'pending' AND attempts >= 5";
const FIX_HOMELESS = `INSERT INTO sessions (id, agent_id, platform, created_at, last_activity_at)
  SELECT DISTINCT session_id, agent_id, platform, ?2, ?2 FROM inbox
  WHERE agent_id = ?1 AND status = 'pending' AND peer IS NULL AND session_id NOT IN (SELECT id FROM sessions)
  ON CONFLICT DO NOTHING`;
/** ?2 to ?3: ids. */
const UNDELIVERED = `SELECT id FROM outbox WHERE id BETWEEN ?2 AND ?3 AND agent_id = ?1 AND status = 'failed'
  AND (attempts >= ?4 OR error = 'The agent is stopped.' OR error LIKE '% is not connected any more.')`;
const FIX_UNDELIVERED = `UPDATE outbox SET status = 'pending', attempts = 0, error = NULL
  WHERE id IN (SELECT value FROM json_each(?1))`;
const FIX_COUNTS = `UPDATE sessions SET message_count = real.count
  FROM (SELECT s.id, count(m.seq) AS count FROM sessions AS s LEFT JOIN messages AS m ON m.session_id = s.id
    WHERE s.agent_id = ?1 GROUP BY s.id) AS real
  WHERE sessions.id = real.id AND message_count <> real.count AND platform <> '${NOBODYS}'`;
const FIX_SUMMARIES = `UPDATE sessions SET summary_upto = iif(summary IS NULL, 0, last)
  FROM (SELECT id AS of, coalesce((SELECT max(seq) FROM messages WHERE session_id = sessions.id), 0) AS last
    FROM sessions WHERE agent_id = ?1) AS real
  WHERE sessions.id = real.of AND (summary_upto > last OR (summary IS NULL AND summary_upto > 0))`;
