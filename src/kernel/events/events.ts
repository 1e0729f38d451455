// What happened: written in the batch of its cause, told to listeners after the commit, readable again by sequence number.

import type { ResultSet, Row } from "@libsql/client";
import type { Database, Statement } from "../database/database.ts";
import type { Jobs } from "../jobs/jobs.ts";
import type { Log } from "../telemetry/log.ts";

/** One thing that happened. `seq` grows with every event and is never used twice: resume after the last one seen. */
export interface Event {
  seq: number;
  /** UUIDv7. */
  id: string;
  /** `noun.verb`, as in contract §9. */
  type: string;
  userId: string | null;
  agentId: string | null;
  data: unknown;
  /** Epoch ms. */
  createdAt: number;
}

/** Whose event it is, and what it tells. `data` is JSON and holds no secret: it goes out to webhooks as it is. */
export interface EventDetails {
  userId?: string | null | undefined;
  agentId?: string | null | undefined;
  data: unknown;
}

export interface EventFilter {
  userId?: string;
  agentId?: string;
  types?: readonly string[];
  /** At most so many, the oldest first. Default 100. */
  limit?: number;
}

export interface Events {
  /** To be put into the batch of what causes it. */
  recordStatement(type: string, details: EventDetails): Statement;
  /**
   * Calls the listener for every event committed from now on, in order; what it throws is logged. Returns the way to end it.
   * Nothing is kept for a listener that isn't there: who must not miss one keeps a cursor and reads `since(cursor)` when called.
   */
  subscribe(listener: (event: Event) => void): () => void;
  /** The events after a sequence number, the oldest first. */
  since(seq: number, filter?: EventFilter): Promise<Event[]>;
  /** The sequence number of the newest event, 0 before the first. */
  latest(): Promise<number>;
  /** Removes events older than 30 days; returns how many. Runs every hour by itself. */
  prune(): Promise<number>;
}

const RETENTION_MS = 30 * 24 * 3_600_000;
const SELECT_LATEST: Statement = { sql: "SELECT max(seq) AS seq FROM events", args: [] };
const PRUNE_BATCH_SIZE = 2_000;
/** How often to look for events of other processes that share the database server. */
const SHARED_POLL_MS = 1_000;

export function createEvents(deps: { database: Database; jobs: Jobs; log: Log; now?: () => number }): Events {
  const { database, jobs, log, now = Date.now } = deps;
  const listeners = new Set<(event: Event) => void>();
  const sharedFollower = database.file === undefined ? createSharedFollower() : undefined;

  function notifyListeners(event: Event): void {
    for (const listener of listeners) {
      try {
        listener(event);
      } catch (error) {
        log.error("A listener failed on an event.", { type: event.type, event: event.id, error });
      }
    }
  }

  const events: Events = {
    recordStatement(type, { userId = null, agentId = null, data }) {
      const id = Bun.randomUUIDv7();
      const createdAt = now();
      const json = JSON.stringify(data ?? null);
      return {
        sql: "INSERT INTO events (id, type, user_id, agent_id, data, created_at) VALUES (?, ?, ?, ?, ?, ?)",
        args: [id, type, userId, agentId, json, createdAt],
        after({ lastInsertRowid }: ResultSet) {
          const seq = Number(lastInsertRowid);
          if (sharedFollower) sharedFollower.onOwnEvent(seq);
          else if (listeners.size > 0)
            notifyListeners({ seq, id, type, userId, agentId, data: JSON.parse(json), createdAt });
        },
      };
    },
    subscribe(listener) {
      const wrapper = (event: Event) => listener(event);
      listeners.add(wrapper);
      sharedFollower?.start();
      return () => {
        listeners.delete(wrapper);
      };
    },
    async since(seq, { userId, agentId, types, limit = 100 } = {}) {
      const { rows } = await database.read(
        `SELECT seq, id, type, user_id, agent_id, data, created_at FROM events WHERE seq > ?
          ${userId === undefined ? "" : "AND user_id = ?"} ${agentId === undefined ? "" : "AND agent_id = ?"}
          ${types === undefined ? "" : "AND type IN (SELECT value FROM json_each(?))"} ORDER BY seq LIMIT ?`,
        [seq, userId, agentId, types && JSON.stringify(types), limit].filter((value) => value !== undefined),
      );
      return rows.map(toEvent);
    },
    async latest() {
      const { rows } = await database.read(SELECT_LATEST.sql);
      return Number(rows[0]?.seq ?? 0);
    },
    async prune() {
      const before = now() - RETENTION_MS;
      for (let total = 0; ; ) {
        const [result] = await database.write([
          {
            // The newest stays, whatever its age: the next number is one more than its.
            sql: `DELETE FROM events WHERE created_at < ? AND seq < (SELECT max(seq) FROM events)
              AND seq IN (SELECT seq FROM events ORDER BY seq LIMIT ?)`,
            args: [before, PRUNE_BATCH_SIZE],
          },
        ]);
        const removed = result?.rowsAffected ?? 0;
        total += removed;
        if (removed < PRUNE_BATCH_SIZE) return total;
      }
    },
  };
  jobs.every("events.prune", 3_600_000, async () => void (await events.prune()));
  return events;

  /** On a server other processes write events too, so all are read back by cursor, own ones at once and others within a second. */
  function createSharedFollower() {
    let cursor: number | undefined;
    let earliestOwn = Number.POSITIVE_INFINITY;
    let isReading = false;
    let hasMore = false;
    let timer: Timer | undefined;

    async function catchUp(): Promise<void> {
      hasMore = true;
      if (isReading) return;
      isReading = true;
      try {
        cursor ??= Math.min(await readLatestInQueue(), earliestOwn - 1);
        while (hasMore) {
          hasMore = false;
          const batch = await events.since(cursor, { limit: 500 });
          for (const event of batch) {
            cursor = event.seq;
            notifyListeners(event);
          }
          hasMore ||= batch.length === 500;
        }
      } catch (error) {
        log.warn("Events could not be read; trying again.", { error });
      } finally {
        isReading = false;
      }
    }

    /** Asked for in the queue, so that it comes after every own event before it has been noticed. */
    async function readLatestInQueue(): Promise<number> {
      const [result] = await database.write([SELECT_LATEST]);
      return Number(result?.rows[0]?.seq ?? 0);
    }

    return {
      start() {
        timer ??= setInterval(poll, SHARED_POLL_MS).unref();
        void catchUp();
      },
      onOwnEvent(seq: number) {
        if (!timer) return;
        earliestOwn = Math.min(earliestOwn, seq);
        void catchUp();
      },
    };

    function poll(): void {
      if (listeners.size > 0) return void catchUp();
      clearInterval(timer);
      timer = undefined;
      cursor = undefined;
      earliestOwn = Number.POSITIVE_INFINITY;
    }
  }
}

const toEvent = (row: Row): Event => ({
  seq: Number(row.seq),
  id: String(row.id),
  type: String(row.type),
  userId: row.user_id === null ? null : String(row.user_id),
  agentId: row.agent_id === null ? null : String(row.agent_id),
  data: JSON.parse(String(row.data)),
  createdAt: Number(row.created_at),
});
