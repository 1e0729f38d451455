// Stores agents' logs: collects lines in memory, writes them in batches, and deletes the oldest of an agent with too many.
import type { InValue, Row } from "@libsql/client";
import type { Kernel } from "../../../src/kernel/plugin.ts";
import type { AgentHooks } from "../agent-hooks.ts";
import type { LogLinks } from "./log-links.ts";

export const LOG_LEVELS = ["debug", "info", "warning", "error"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export interface LogLine {
  /** A UUIDv7, so that ids sort by time. */
  id: string;
  agentId: string;
  /** Epoch ms. */
  at: number;
  level: string;
  source: string;
  message: string;
  links: LogLinks;
}

export interface LogStore {
  /** Adds a line with secrets redacted; it is written within 250 ms. Lines of a removed agent are dropped. */
  add(agentId: string, level: LogLevel, message: string, source: string, links?: LogLinks): void;
  /**
   * The newest lines first, of those before the line `before`, and the number of all of this level. Includes every line added
   * before the call.
   */
  list(
    agentId: string,
    options: { limit: number; level?: LogLevel | undefined; before?: string | undefined },
  ): Promise<{ lines: LogLine[]; total: number }>;
  /** The lines after this one, oldest first. */
  listSince(
    agentId: string,
    lineId: string,
    options: { limit: number; level?: LogLevel | undefined },
  ): Promise<LogLine[]>;
  /**
   * The id of the newest line of any level; `NIL_LINE_ID` if there is none. Includes every line added before the call.
   */
  newestId(agentId: string): Promise<string>;
  /**
   * Calls the listener after each write of this process, with the agents whose lines it held. Returns the unsubscriber.
   */
  onWritten(listener: (agentIds: ReadonlySet<string>) => void): () => void;
  /** Writes the lines that wait in memory. */
  flush(): Promise<void>;
}

/** Sorts before the id of every line. */
export const NIL_LINE_ID = "00000000-0000-0000-0000-000000000000";
/** Sorts after the id of every line. */
const LAST_LINE_ID = "ffffffff-ffff-ffff-ffff-ffffffffffff";

const FLUSH_AFTER_MS = 250;
const FLUSH_AT_LINES = 100;
const MAX_PENDING_LINES = 10_000;
const LINES_PER_WRITE = 1_000;
const MAX_MESSAGE = 8_192;
/** The most lines of an agent. */
const MAX_LINES = 10_000;
/** New lines of an agent after which lines beyond MAX_LINES are deleted. */
const TRIM_EVERY = 500;

// One statement for any number of lines; the join drops lines of removed agents.
const INSERT = `INSERT INTO agent_logs (id, agent_id, at, level, source, message, links)
  SELECT line.value ->> 0, agents.id, line.value ->> 1, line.value ->> 2, line.value ->> 3, line.value ->> 4, line.value ->> 6
  FROM json_each(?1) AS line JOIN agents ON agents.id = line.value ->> 5`;
const COLUMNS = "id, at, level, source, message, links";
const SINCE = `SELECT ${COLUMNS} FROM agent_logs WHERE agent_id = ?1 AND id > ?2 ORDER BY id LIMIT ?3`;
const SINCE_OF_LEVEL = SINCE.replace("ORDER BY", "AND level = ?4 ORDER BY");
const TRIM = `DELETE FROM agent_logs WHERE agent_id = ?1 AND id <=
  (SELECT id FROM agent_logs WHERE agent_id = ?1 ORDER BY id DESC LIMIT 1 OFFSET ${MAX_LINES})`;

type Deps = Pick<Kernel, "database" | "log"> & { hooks: AgentHooks };

export function createLogStore({ database, log, hooks }: Deps): LogStore {
  const pending: LogLine[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;
  let activeDrain: Promise<void> | undefined;
  let droppedLines = 0;
  /** Lines of each agent that were written since its last trim. */
  const linesSinceTrim = new Map<string, number>();
  const writeListeners = new Set<(agentIds: ReadonlySet<string>) => void>();
  hooks.onDelete((agentId) => void linesSinceTrim.delete(agentId));

  /** Runs one write at a time, so that MAX_PENDING_LINES bounds the lines in memory. */
  function flush(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    // A drain under way takes these lines too: it checks for lines and ends in one synchronous step.
    if (pending.length > 0) activeDrain ??= drain();
    return activeDrain ?? Promise.resolve();
  }

  function flushSoon(): void {
    timer ??= setTimeout(() => void flush(), FLUSH_AFTER_MS);
  }

  async function drain(): Promise<void> {
    while (pending.length > 0) await write(pending.splice(0, LINES_PER_WRITE));
    activeDrain = undefined;
  }

  async function write(lines: LogLine[]): Promise<void> {
    const rows = lines.map(({ id, at, level, source, message, agentId, links }) => [
      ...[id, at, level, source, message, agentId],
      Object.keys(links).length === 0 ? null : JSON.stringify(links),
    ]);
    const written = new Set(lines.map(({ agentId }) => agentId));
    const trims = dueForTrim(lines, written).map((agentId) => ({ sql: TRIM, args: [agentId] }));
    try {
      await database.write([{ sql: INSERT, args: [JSON.stringify(rows)] }, ...trims]);
      for (const listener of writeListeners) listener(written);
    } catch (error) {
      log.error("lines of agents' logs could not be written and are lost", { lines: lines.length, error });
    }
  }

  function dueForTrim(lines: LogLine[], agentIds: ReadonlySet<string>): string[] {
    for (const { agentId } of lines) linesSinceTrim.set(agentId, (linesSinceTrim.get(agentId) ?? 0) + 1);
    const due = [...agentIds].filter((id) => (linesSinceTrim.get(id) ?? 0) >= TRIM_EVERY);
    for (const agentId of due) linesSinceTrim.delete(agentId);
    return due;
  }

  return {
    flush,

    add(agentId, level, message, source, links = {}) {
      if (pending.length >= MAX_PENDING_LINES) {
        droppedLines++; // The database can't keep up; agents' work must not wait for their logs.
        return;
      }
      if (droppedLines > 0)
        log.warn("lines of agents' logs were dropped, since the database is too slow", { lines: droppedLines });
      droppedLines = 0;
      const text = sanitizeText(log.redactForms(message.slice(0, 8 * MAX_MESSAGE)).slice(0, MAX_MESSAGE));
      pending.push({ id: Bun.randomUUIDv7(), agentId, at: Date.now(), level, source, message: text, links });
      if (pending.length >= FLUSH_AT_LINES) void flush();
      else flushSoon();
    },

    async list(agentId, { limit, level, before = LAST_LINE_ID }) {
      await flush();
      const where = `WHERE agent_id = ?1${level === undefined ? "" : " AND level = ?2"}`;
      const args: InValue[] = level === undefined ? [agentId] : [agentId, level];
      const olderLines = `SELECT ${COLUMNS} FROM agent_logs ${where} AND id < ?${args.length + 1} ORDER BY id DESC LIMIT ${limit}`;
      const [page, count] = await Promise.all([
        database.read(olderLines, [...args, before]),
        database.read(`SELECT count(*) AS total FROM agent_logs ${where}`, args),
      ]);
      return { lines: page.rows.map((row) => toLogLine(agentId, row)), total: Number(count.rows[0]?.total ?? 0) };
    },

    async listSince(agentId, lineId, { limit, level }) {
      const { rows } = await database.read(level === undefined ? SINCE : SINCE_OF_LEVEL, [
        ...[agentId, lineId, limit],
        ...(level === undefined ? [] : [level]),
      ]);
      return rows.map((row) => toLogLine(agentId, row));
    },

    async newestId(agentId) {
      await flush();
      const { rows } = await database.read("SELECT max(id) AS id FROM agent_logs WHERE agent_id = ?", [agentId]);
      return String(rows[0]?.id ?? NIL_LINE_ID);
    },

    onWritten(listener) {
      writeListeners.add(listener);
      return () => void writeListeners.delete(listener);
    },
  };
}

const toLogLine = (agentId: string, row: Row): LogLine => ({
  id: String(row.id),
  agentId,
  at: Number(row.at),
  level: String(row.level),
  source: String(row.source),
  message: String(row.message),
  links: row.links === null ? {} : JSON.parse(String(row.links)),
});

/** Replaces characters that SQLite or JSON would alter: NUL, and halves of surrogate pairs. */
const sanitizeText = (text: string) => text.replaceAll("\0", "\u{fffd}").toWellFormed();
