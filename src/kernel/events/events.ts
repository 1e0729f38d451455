// Records events in the batch of their cause, calls listeners after the commit, and reads events by sequence number.

import type { Row } from "@libsql/client";
import { type Database, insertedRowid, type Statement } from "../database/database.ts";
import type { Log } from "../telemetry/log.ts";
import { SECOND } from "../util/time.ts";

/** An event. `seq` grows with every event and is never reused, so a reader can resume after the last one it saw. */
export interface Event {
  seq: number;
  /** UUIDv7. */
  id: string;
  /** `noun.verb`, such as `agent.started`. */
  type: string;
  userId: string | null;
  agentId: string | null;
  data: unknown;
  /** Epoch ms. */
  createdAt: number;
}

/** The owner and data of an event. `data` is JSON without secrets, since it is sent to webhooks as it is. */
export interface EventDetails {
  userId?: string | null | undefined;
  agentId?: string | null | undefined;
  data: unknown;
}

export interface EventFilter {
  userId?: string;
  agentId?: string;
  types?: readonly string[];
  /** The most events to return, the oldest first. Default 100. */
  limit?: number;
}

export interface Events {
  /** Names further types of events, so that readers can choose them. Throws for a name that is not `noun.verb`. */
  declareTypes(types: readonly string[]): void;
  /** The types that plugins have declared beside those of Berth. */
  readonly declaredTypes: readonly string[];
  /** Makes the statement that records an event, for the batch of its cause. */
  recordStatement(type: string, details: EventDetails): Statement;
  /**
   * Calls the listener for every event that is committed from now on, in order; its errors are logged. Returns the
   * function that unsubscribes it. Events are not queued: a listener that must not miss any stores a cursor and reads
   * `since(cursor)`.
   */
  subscribe(listener: (event: Event) => void): () => void;
  /** Returns the events after a sequence number, the oldest first. */
  since(seq: number, filter?: EventFilter): Promise<Event[]>;
  /** Returns the sequence number of the newest event, 0 before the first. */
  latest(): Promise<number>;
  /** Returns how the ids that a reader knows are told as sequence numbers. `all`: of one that reads everybody's events. */
  numbersFor(userId: string, all: boolean): Promise<EventNumbers>;
}

/** Ids of events stay when an account moves to another cell, which shifts the numbers of its events. */
export interface EventNumbers {
  /** The number of the newest event. */
  latest: number;
  toId(seq: number): number;
  /** At most that of the newest event. */
  toSeq(id: number): number;
}

/** The type of a row that is there for its number alone, and is told to no reader. */
const KEPT_NUMBER = "number.kept";
const TYPE_NAME = /^[a-z][a-z0-9-]{0,30}\.[a-z][a-z0-9_-]{0,30}$/;
const SELECT_NUMBERS = `SELECT (SELECT max(seq) FROM events) AS seq,
  (SELECT shift FROM event_shifts WHERE user_id = ?1) AS shift, (SELECT since FROM event_shifts WHERE user_id = ?1) AS since`;
const SELECT_LATEST: Statement = { sql: "SELECT max(seq) AS seq FROM events", args: [] };
/** The interval of queries for events of other processes on the same database server. */
const SHARED_POLL_MS = SECOND;

export function createEvents(deps: { database: Database; log: Log; now?: () => number }): Events {
  const { database, log, now = Date.now } = deps;
  const listeners = new Set<(event: Event) => void>();
  const declaredTypes: string[] = [];
  const sharedFollower = database.file === undefined ? createSharedFollower() : undefined;

  function notifyListeners(event: Event): void {
    for (const listener of listeners) {
      try {
        listener(event);
      } catch (error) {
        log.error("an event listener failed", { type: event.type, event: event.id, error });
      }
    }
  }

  const events: Events = {
    declareTypes(types) {
      const wrong = types.find((type) => !TYPE_NAME.test(type));
      if (wrong !== undefined)
        throw new Error(`the event type ${wrong} is not a noun and a verb, such as tide.entered.`);
      declaredTypes.push(...types);
    },
    declaredTypes,
    recordStatement(type, { userId = null, agentId = null, data }) {
      const id = Bun.randomUUIDv7();
      const createdAt = now();
      const json = JSON.stringify(data ?? null);
      return {
        sql: "INSERT INTO events (id, type, user_id, agent_id, data, created_at) VALUES (?, ?, ?, ?, ?, ?)",
        args: [id, type, userId, agentId, json, createdAt],
        after(result) {
          const seq = insertedRowid(result);
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
          ${userId === undefined ? `AND type <> '${KEPT_NUMBER}'` : "AND user_id = ?"} ${agentId === undefined ? "" : "AND agent_id = ?"}
          ${types === undefined ? "" : "AND type IN (SELECT value FROM json_each(?))"} ORDER BY seq LIMIT ?`,
        [seq, userId, agentId, types && JSON.stringify(types), limit].filter((value) => value !== undefined),
      );
      return rows.map(toEvent);
    },
    async latest() {
      const { rows } = await database.read(SELECT_LATEST.sql);
      return Number(rows[0]?.seq ?? 0);
    },
    async numbersFor(userId, all) {
      const [row] = (await database.read(SELECT_NUMBERS, [userId])).rows;
      const latest = Number(row?.seq ?? 0);
      const shift = Number(row?.shift ?? 0);
      // Everybody's events are those of the cell: of before the account came, the reader has seen those of another one.
      const least = all ? Number(row?.since ?? Number.NEGATIVE_INFINITY) : Number.NEGATIVE_INFINITY;
      return {
        latest,
        toId: (seq) => seq - shift,
        toSeq: (id) => Math.min(Math.max(id + shift, least), latest),
      };
    },
  };
  return events;

  /**
   * On a server, other processes record events too. So all are read back by a cursor: at once after an event of this
   * process, and every second for those of others.
   */
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
        log.warn("events could not be read; retrying", { error });
      } finally {
        isReading = false;
      }
    }

    /** Reads through the write queue: after every earlier event of this process, and after their callbacks. */
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
