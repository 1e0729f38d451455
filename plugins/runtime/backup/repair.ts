// Mends what a conversation can't get over by itself: broken turns, messages that were given up, replies that got stuck.
import type { Database, Statement } from "../../../src/kernel/database/database.ts";
import { outboxPages } from "../outbox/outbox-pages.ts";
import { HIDDEN_PLATFORM } from "../sessions/sessions.ts";
import type { Step } from "../turn/tool-loop.ts";

interface Deps {
  database: Pick<Database, "read" | "write">;
  /** Takes up replies that wait to be delivered. */
  deliver(agentId: string): void;
  /** The numbers of all messages of an agent, in pages. */
  messagePages(agentId: string): AsyncIterable<readonly number[]>;
}

/** A statement, and how to say what it did to so many rows. */
interface RepairStep {
  statement: Statement;
  describe(rows: number): string;
}

/** Tries before a reply is given up. */
const MAX_DELIVERY_ATTEMPTS = 40;
/** An older reply would surprise more than it would help. */
const MAX_REPLY_AGE = 7 * 86_400_000;

/** `1 message`, `2 messages`. */
const count = (rows: number, what: string, many = `${what}s`) => `${rows} ${rows === 1 ? what : many}`;

/** Looks at everything that was said to an agent and waits for it. To be called while none of its turns runs. */
export function createRepair({ database, deliver, messagePages }: Deps) {
  /** Messages with steps, and those of entries that are not answered yet. */
  async function* findSuspects(agentId: string) {
    for await (const seqs of messagePages(agentId)) {
      const { rows } = await database.read(SUSPECTS, [agentId, JSON.stringify(seqs)]);
      for (const { seq, role, entry, steps } of rows) {
        yield { seq: Number(seq), role, entry: entry === null ? undefined : String(entry), steps };
      }
    }
  }

  /** What was half done when somebody, or something, broke it off. */
  async function halfDoneTurns(agentId: string): Promise<RepairStep[]> {
    const calls: { seq: number; steps: string | null }[] = [];
    const replies = new Map<string, number>();
    const questions = new Map<string, number[]>();
    for await (const { seq, role, entry, steps } of findSuspects(agentId)) {
      const completeSteps = typeof steps === "string" ? withoutUnfinishedCalls(steps) : undefined;
      if (completeSteps !== undefined) calls.push({ seq, steps: completeSteps });
      if (entry === undefined) continue;
      if (role === "assistant") replies.set(entry, seq);
      else questions.set(entry, [...(questions.get(entry) ?? []), seq]);
    }
    const answered = [...replies].map(([id, reply]) => ({ id, reply }));
    // A turn writes the question together with its reply.
    const orphanQuestions = [...questions].flatMap(([entry, seqs]) => (replies.has(entry) ? [] : seqs));
    return [
      {
        statement: { sql: FIX_STEPS, args: [JSON.stringify(calls)] },
        describe: (rows) =>
          `${count(rows, "reply", "replies")} with tool calls that have no result: the calls were removed`,
      },
      {
        statement: { sql: FIX_ANSWERED, args: [agentId, JSON.stringify(answered), Date.now()] },
        describe: (rows) => `${count(rows, "message")} that had been answered already: not answered again`,
      },
      {
        statement: { sql: DELETE_ORPHANS, args: [JSON.stringify(orphanQuestions)] },
        describe: (rows) => `${count(rows, "half turn")}: taken back, to be run as a whole`,
      },
    ];
  }

  /** Replies that were given up for a reason that may be over. */
  async function undeliveredReplies(agentId: string): Promise<RepairStep[]> {
    const since = (Date.now() - MAX_REPLY_AGE).toString(16).padStart(12, "0");
    const found: string[] = [];
    for await (const [first, last] of outboxPages(database, agentId, `${since.slice(0, 8)}-${since.slice(8)}`)) {
      const { rows } = await database.read(UNDELIVERED, [agentId, first, last, MAX_DELIVERY_ATTEMPTS]);
      found.push(...rows.map(({ id }) => String(id)));
    }
    return [
      {
        statement: { sql: FIX_UNDELIVERED, args: [JSON.stringify(found)], after: () => deliver(agentId) },
        describe: (rows) => `${count(rows, "reply", "replies")} that had not arrived: sent again`,
      },
    ];
  }

  return async function repair(agentId: string): Promise<string[]> {
    const repairSteps: RepairStep[] = [
      ...(await halfDoneTurns(agentId)),
      {
        statement: { sql: FIX_PARKED, args: [agentId] },
        describe: (rows) => `${count(rows, "message")} that had been given up: tried again`,
      },
      {
        statement: { sql: RESET_ATTEMPTS, args: [agentId] },
        describe: (rows) => `${count(rows, "message")} about to be given up: all tries again`,
      },
      {
        statement: { sql: RECREATE_SESSIONS, args: [agentId, Date.now()] },
        describe: (rows) => `${count(rows, "session")} that messages wait for was gone: made anew`,
      },
      ...(await undeliveredReplies(agentId)),
      {
        statement: { sql: FIX_COUNTS, args: [agentId] },
        describe: (rows) => `${count(rows, "session")} with a wrong number of messages: counted again`,
      },
      {
        statement: { sql: FIX_SUMMARIES, args: [agentId] },
        describe: (rows) => `${count(rows, "session")} whose summary hid messages that it does not hold: shown again`,
      },
    ];
    const results = await database.write(repairSteps.map(({ statement }) => statement));
    return repairSteps.flatMap(({ describe }, n) => {
      const rows = results[n]?.rowsAffected ?? 0;
      return rows > 0 ? [describe(rows)] : [];
    });
  };
}

/** The calls that have a result, as they are to be kept: undefined when all have, null when none has. */
function withoutUnfinishedCalls(text: string): string | null | undefined {
  const steps = parseJson(text);
  const completeSteps = Array.isArray(steps) ? steps.filter(isStep) : [];
  if (Array.isArray(steps) && completeSteps.length === steps.length) return undefined;
  return completeSteps.length > 0 ? JSON.stringify(completeSteps) : null;
}

function parseJson(text: string): unknown {
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
const DELETE_ORPHANS = "DELETE FROM messages WHERE seq IN (SELECT value FROM json_each(?1))";
const FIX_PARKED = `UPDATE inbox SET status = 'pending', attempts = 0, error = NULL, settled_at = NULL
  WHERE agent_id = ?1 AND status = 'parked'`;
/** Since the tries of a turn are fewer: these are starts of the process that found it in work. */
const RESET_ATTEMPTS = "UPDATE inbox SET attempts = 0 WHERE agent_id = ?1 AND status = 'pending' AND attempts >= 5";
const RECREATE_SESSIONS = `INSERT INTO sessions (id, agent_id, platform, created_at, last_activity_at)
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
  WHERE sessions.id = real.id AND message_count <> real.count AND platform <> '${HIDDEN_PLATFORM}'`;
const FIX_SUMMARIES = `UPDATE sessions SET summary_upto = iif(summary IS NULL, 0, last)
  FROM (SELECT id AS of, coalesce((SELECT max(seq) FROM messages WHERE session_id = sessions.id), 0) AS last
    FROM sessions WHERE agent_id = ?1) AS real
  WHERE sessions.id = real.of AND (summary_upto > last OR (summary IS NULL AND summary_upto > 0))`;
