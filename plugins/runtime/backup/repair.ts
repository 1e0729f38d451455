// Repairs the rows of an agent's conversations: incomplete turns, parked messages, failed deliveries, wrong counters.
import type { Database, Statement } from "../../../src/kernel/database/database.ts";
import { DAY } from "../../../src/kernel/util/time.ts";
import { idPages } from "../id-pages.ts";
import { PENDING_INBOX } from "../inbox/inbox-sql.ts";
import { MAX_DELIVERY_ATTEMPTS } from "../outbox/outbox.ts";
import { HIDDEN_PLATFORM } from "../sessions/session-sql.ts";
import { MAX_TURN_ATTEMPTS } from "../turn/failed-turn.ts";
import type { Step } from "../turn/tool-calls.ts";

interface Deps {
  database: Pick<Database, "read" | "readLong" | "writeLong">;
  /** Takes up the agent's pending replies. */
  deliver(agentId: string): void;
  /** The numbers of all messages of an agent, in pages. */
  messagePages(agentId: string): AsyncIterable<readonly number[]>;
}

/** A statement, and the description of its effect on so many rows. */
interface RepairStep {
  statement: Statement;
  describe(rows: number): string;
}

/** Outbox rows read in one step. */
const OUTBOX_PAGE = 2_000;
/** An older reply is not sent any more: it would surprise more than it would help. */
const MAX_REPLY_AGE = 7 * DAY;

/** `1 message`, `2 messages`. */
const count = (rows: number, what: string, many = `${what}s`) => `${rows} ${rows === 1 ? what : many}`;

/** Returns the function that repairs an agent and describes each repair in a sentence. Call it while no turn of it runs. */
export function createRepair({ database, deliver, messagePages }: Deps) {
  /** Messages with tool calls, and those of entries that are pending or parked, but for turns that wait or waited for approval. */
  async function* findSuspects(agentId: string) {
    for await (const seqs of messagePages(agentId)) {
      // An entry's status lies behind its text, which may be long.
      const { rows } = await database.readLong(SUSPECTS, [agentId, JSON.stringify(seqs)]);
      for (const { seq, role, entry, steps } of rows) {
        yield { seq: Number(seq), role, entry: entry === null ? undefined : String(entry), steps };
      }
    }
  }

  /** Repairs turns of which only a part was written. */
  async function repairIncompleteTurns(agentId: string): Promise<RepairStep[]> {
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
    // A turn writes the user's message together with its reply, so one without a reply is incomplete.
    const orphanQuestions = [...questions].flatMap(([entry, seqs]) => (replies.has(entry) ? [] : seqs));
    return [
      {
        statement: { sql: FIX_STEPS, args: [JSON.stringify(calls)] },
        describe: (rows) =>
          `${count(rows, "reply", "replies")} with tool calls that have no result: the calls were removed`,
      },
      {
        statement: { sql: FIX_ANSWERED, args: [agentId, JSON.stringify(answered), Date.now()] },
        describe: (rows) => `${count(rows, "message")} that had been answered already: marked as answered`,
      },
      {
        statement: { sql: DELETE_ORPHANS, args: [JSON.stringify(orphanQuestions)] },
        describe: (rows) => `${count(rows, "incomplete turn")}: removed, and the message is answered again`,
      },
    ];
  }

  /** Resends replies that failed for a reason that may be over. */
  async function undeliveredReplies(agentId: string): Promise<RepairStep[]> {
    const since = (Date.now() - MAX_REPLY_AGE).toString(16).padStart(12, "0");
    const found: string[] = [];
    const after = `${since.slice(0, 8)}-${since.slice(8)}`;
    for await (const [first, last] of idPages(database, "outbox", agentId, { size: OUTBOX_PAGE, after })) {
      const { rows } = await database.read(UNDELIVERED, [agentId, first, last, MAX_DELIVERY_ATTEMPTS]);
      found.push(...rows.map(({ id }) => String(id)));
    }
    return [
      {
        statement: { sql: FIX_UNDELIVERED, args: [JSON.stringify(found)], after: () => deliver(agentId) },
        describe: (rows) => `${count(rows, "reply", "replies")} that had not arrived: will be sent again`,
      },
    ];
  }

  return async function repair(agentId: string): Promise<string[]> {
    const repairSteps: RepairStep[] = [
      ...(await repairIncompleteTurns(agentId)),
      {
        statement: { sql: FIX_PARKED, args: [agentId] },
        describe: (rows) => `${count(rows, "message")} that had been given up: will be tried again`,
      },
      {
        statement: { sql: RESET_ATTEMPTS, args: [agentId] },
        describe: (rows) => `${count(rows, "message")} about to be given up: the count of tries was reset`,
      },
      {
        statement: { sql: RECREATE_SESSIONS, args: [agentId, Date.now()] },
        describe: (rows) => `${count(rows, "session")} missing for a pending message: created again`,
      },
      ...(await undeliveredReplies(agentId)),
      {
        statement: { sql: FIX_COUNTS, args: [agentId] },
        describe: (rows) => `${count(rows, "session")} with a wrong number of messages: counted again`,
      },
      {
        statement: { sql: FIX_SUMMARIES, args: [agentId] },
        describe: (rows) =>
          `${count(rows, "session")} whose summary hid messages that it does not include: these are shown again`,
      },
    ];
    const results = await database.writeLong(repairSteps.map(({ statement }) => statement));
    return repairSteps.flatMap(({ describe }, n) => {
      const rows = results[n]?.rowsAffected ?? 0;
      return rows > 0 ? [describe(rows)] : [];
    });
  };
}

/** The JSON of the calls that have a result; undefined when all of them have one, null when none has. */
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
  LEFT JOIN inbox AS i ON i.agent_id = ?1 AND i.id = m.inbox_id AND i.status IN ('pending', 'parked') AND i.suspended IS NULL
  WHERE m.seq IN (SELECT value FROM json_each(?2)) AND (i.id IS NOT NULL OR m.steps IS NOT NULL) ORDER BY m.seq`;
const FIX_STEPS = `UPDATE messages SET steps = fixed.steps
  FROM (SELECT value ->> 'seq' AS seq, value ->> 'steps' AS steps FROM json_each(?1)) AS fixed WHERE messages.seq = fixed.seq`;
export const FIX_ANSWERED = `UPDATE inbox SET status = 'done', error = NULL, settled_at = ?3, reply = answered.reply
  FROM (SELECT value ->> 'id' AS id, iif(value IS NULL, '', ?1) AS agent_id, value ->> 'reply' AS reply
    FROM json_each(?2)) AS answered
  WHERE inbox.agent_id = answered.agent_id AND inbox.id = answered.id`;
const DELETE_ORPHANS = "DELETE FROM messages WHERE seq IN (SELECT value FROM json_each(?1))";
const FIX_PARKED = `UPDATE inbox SET status = 'pending', attempts = 0, error = NULL, settled_at = NULL
  WHERE agent_id = ?1 AND status = 'parked'`;
/** A turn is tried less often than this: a higher count comes from starts of the process that found the turn interrupted. */
const RESET_ATTEMPTS = `UPDATE ${PENDING_INBOX} SET attempts = 0
  WHERE agent_id = ?1 AND status = 'pending' AND attempts >= ${MAX_TURN_ATTEMPTS}`;
const RECREATE_SESSIONS = `INSERT INTO sessions (id, agent_id, platform, created_at, last_activity_at)
  SELECT DISTINCT session_id, agent_id, platform, ?2, ?2 FROM ${PENDING_INBOX}
  WHERE agent_id = ?1 AND status = 'pending' AND peer IS NULL AND session_id NOT IN (SELECT id FROM sessions)
  ON CONFLICT DO NOTHING`;
/** Failed for lack of tries, of a running agent or of a connection, not for a refusal. ?2 to ?3: ids. */
const UNDELIVERED = `SELECT id FROM outbox WHERE id BETWEEN ?2 AND ?3 AND agent_id = ?1 AND status = 'failed'
  AND (attempts >= ?4 OR error = 'The agent is stopped.' OR error LIKE '% is not connected any more.')`;
const FIX_UNDELIVERED = `UPDATE outbox SET status = 'pending', attempts = 0, error = NULL
  WHERE id IN (SELECT value FROM json_each(?1))`;
const FIX_COUNTS = `UPDATE sessions SET message_count = counted.count
  FROM (SELECT s.id, count(m.seq) AS count FROM sessions AS s LEFT JOIN messages AS m ON m.session_id = s.id
    WHERE s.agent_id = ?1 GROUP BY s.id) AS counted
  WHERE sessions.id = counted.id AND message_count <> counted.count AND platform <> '${HIDDEN_PLATFORM}'`;
const FIX_SUMMARIES = `UPDATE sessions SET summary_upto = iif(summary IS NULL, 0, last)
  FROM (SELECT id AS session_id, coalesce((SELECT max(seq) FROM messages WHERE session_id = sessions.id), 0) AS last
    FROM sessions WHERE agent_id = ?1) AS newest
  WHERE sessions.id = newest.session_id AND (summary_upto > last OR (summary IS NULL AND summary_upto > 0))`;
