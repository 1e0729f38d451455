// What agents did: lines gathered in memory for a moment, written together, kept for a while.
import type { InValue, Row } from "@libsql/client";
import type { Kernel } from "../../src/plugin.ts";
import { redact } from "../../src/redact.ts";
import type { Changes } from "./changes.ts";

export const LOG_LEVELS = ["debug", "info", "warning", "error"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export interface LogLine {
  /** Grows with time. */
  id: string;
  agentId: string;
  /** Epoch ms. */
  at: number;
  level: string;
  source: string;
  message: string;
}

export interface Logs {
  /** Takes a line, secrets blacked out; it is on disk within 250 ms. Lines of an agent that is gone are dropped. */
  add(agentId: string, level: LogLevel, message: string, source: string): void;
  /** The newest lines first, with the number of all that match. Sees every line added before. */
  list(
    agentId: string,
    options: { limit: number; level?: LogLevel | undefined },
  ): Promise<{ lines: LogLine[]; total: number }>;
  /** The lines after this one, oldest first. */
  since(agentId: string, lineId: string, options: { limit: number; level?: LogLevel | undefined }): Promise<LogLine[]>;
  /** The newest line's id, of every level; `NO_LINE` before the first. Sees every line added before. */
  newest(agentId: string): Promise<string>;
  /** Called after each write with the agents whose lines this process has written. Returns the way to end it. */
  onWritten(listener: (agentIds: ReadonlySet<string>) => void): () => void;
  /** Writes what waits. */
  flush(): Promise<void>;
  /** Drops lines older than 14 days. */
  expire(now?: number): Promise<void>;
}

/** Comes before every line. */
export const NO_LINE = "00000000-0000-0000-0000-000000000000";

const FLUSH_AFTER = 250;
const FLUSH_AT = 100;
const MAX_WAITING = 10_000;
const LINES_PER_WRITE = 1_000;
const MAX_MESSAGE = 8_192;
/** Contract §4: 14 days or 10,000 lines an agent, whichever is less. */
const KEPT_FOR = 14 * 86_400_000;
const KEPT_LINES = 10_000;
/** An agent's lines are counted and cut after so many new ones. */
const TRIM_EVERY = 500;
const EXPIRE_STEP = 5_000;

// One statement whatever the number of lines; the join drops those of agents that are gone.
const INSERT = `INSERT INTO agent_logs (id, agent_id, at, level, source, message)
  SELECT line.value ->> 0, agents.id, line.value ->> 1, line.value ->> 2, line.value ->> 3, line.value ->> 4
  FROM json_each(?1) AS line JOIN agents ON agents.id = line.value ->> 5`;
const COLUMNS = "id, at, level, source, message";
const SINCE = `SELECT ${COLUMNS} FROM agent_logs WHERE agent_id = ?1 AND id > ?2 ORDER BY id LIMIT ?3`;
const SINCE_OF_LEVEL = SINCE.replace("ORDER BY", "AND level = ?4 ORDER BY");
const TRIM = `DELETE FROM agent_logs WHERE agent_id = ?1 AND id <=
  (SELECT id FROM agent_logs WHERE agent_id = ?1 ORDER BY id DESC LIMIT 1 OFFSET ${KEPT_LINES})`;
const EXPIRE = `DELETE FROM agent_logs WHERE id IN (SELECT id FROM agent_logs WHERE id < ?1 ORDER BY id LIMIT ${EXPIRE_STEP})`;

type Deps = Pick<Kernel, "database" | "log"> & { changes: Changes };

export function createLogs({ database, log, changes }: Deps): Logs {
  const waiting: LogLine[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;
  let writing: Promise<void> | undefined;
  let lost = 0;
  /** Lines of each agent since its last trim. */
  const fresh = new Map<string, number>();
  const followers = new Set<(agentIds: ReadonlySet<string>) => void>();
  changes.onDelete((agentId) => void fresh.delete(agentId));

  /** One write at a time, so that what waits is bounded by MAX_WAITING. */
  function flush(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    // The drain that is under way takes these lines too: it ends where it finds none, in the same step.
    if (waiting.length > 0) writing ??= drain();
    return writing ?? Promise.resolve();
  }

  function flushSoon(): void {
    timer ??= setTimeout(() => void flush(), FLUSH_AFTER);
  }

  async function drain(): Promise<void> {
    while (waiting.length > 0) await write(waiting.splice(0, LINES_PER_WRITE));
    writing = undefined;
  }

  async function write(lines: LogLine[]): Promise<void> {
    const rows = lines.map(({ id, at, level, source, message, agentId }) => [id, at, level, source, message, agentId]);
    const written = new Set(lines.map(({ agentId }) => agentId));
    const trims = dueForTrim(lines, written).map((agentId) => ({ sql: TRIM, args: [agentId] }));
    try {
      await database.write([{ sql: INSERT, args: [JSON.stringify(rows)] }, ...trims]);
      for (const listener of followers) listener(written);
    } catch (error) {
      log.error("lines of agents' logs were lost", { lines: lines.length, error });
    }
  }

  function dueForTrim(lines: LogLine[], agentIds: ReadonlySet<string>): string[] {
    for (const { agentId } of lines) fresh.set(agentId, (fresh.get(agentId) ?? 0) + 1);
    const due = [...agentIds].filter((id) => (fresh.get(id) ?? 0) >= TRIM_EVERY);
    for (const agentId of due) fresh.delete(agentId);
    return due;
  }

  return {
    flush,

    add(agentId, level, message, source) {
      if (waiting.length >= MAX_WAITING) {
        lost++; // The database can't keep up; the agent's work goes first.
        return;
      }
      if (lost > 0) log.warn("lines of agents' logs were dropped", { lines: lost });
      lost = 0;
      const text = storable(redact(message.slice(0, 8 * MAX_MESSAGE)).slice(0, MAX_MESSAGE));
      waiting.push({ id: Bun.randomUUIDv7(), agentId, at: Date.now(), level, source, message: text });
      if (waiting.length >= FLUSH_AT) void flush();
      else flushSoon();
    },

    async list(agentId, { limit, level }) {
      await flush();
      const where = `WHERE agent_id = ?1${level === undefined ? "" : " AND level = ?2"}`;
      const args: InValue[] = level === undefined ? [agentId] : [agentId, level];
      const [page, count] = await Promise.all([
        database.read(`SELECT ${COLUMNS} FROM agent_logs ${where} ORDER BY id DESC LIMIT ${limit}`, args),
        database.read(`SELECT count(*) AS total FROM agent_logs ${where}`, args),
      ]);
      return { lines: page.rows.map((row) => lineOf(agentId, row)), total: Number(count.rows[0]?.total ?? 0) };
    },

    async since(agentId, lineId, { limit, level }) {
      const { rows } = await database.read(level === undefined ? SINCE : SINCE_OF_LEVEL, [
        ...[agentId, lineId, limit],
        ...(level === undefined ? [] : [level]),
      ]);
      return rows.map((row) => lineOf(agentId, row));
    },

    async newest(agentId) {
      await flush();
      const { rows } = await database.read("SELECT max(id) AS id FROM agent_logs WHERE agent_id = ?", [agentId]);
      return String(rows[0]?.id ?? NO_LINE);
    },

    onWritten(listener) {
      followers.add(listener);
      return () => void followers.delete(listener);
    },

    async expire(now = Date.now()) {
      const before = firstIdAt(now - KEPT_FOR);
      for (;;) {
        const [result] = await database.write([{ sql: EXPIRE, args: [before] }]);
        if ((result?.rowsAffected ?? 0) < EXPIRE_STEP) return;
      }
    },
  };
}

const lineOf = (agentId: string, row: Row): LogLine => ({
  id: String(row.id),
  agentId,
  at: Number(row.at),
  level: String(row.level),
  source: String(row.source),
  message: String(row.message),
});

/** What SQLite and JSON keep as it is: no NUL, no half of a surrogate pair. */
const storable = (text: string) => text.replaceAll("\0", "\u{fffd}").toWellFormed();

/** Before every UUIDv7 of this millisecond (RFC 9562 §5.7: the time comes first). */
function firstIdAt(time: number): string {
  const hex = time.toString(16).padStart(12, "0");
  return `${hex.slice(0, 8)}-${hex.slice(8)}`;
}
