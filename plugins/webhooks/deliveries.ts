// Deliveries: each event's way to each endpoint that wants it, from the moment it is taken up until it is there or given up.
import type { Row } from "@libsql/client";
import { guard, type Statement } from "../../src/kernel/database/database.ts";
import type { Kernel } from "../../src/kernel/plugin.ts";
import {
  DELETE_ORPHANED_ENDPOINTS,
  type DeliveryTarget,
  disableStatements,
  type Endpoint,
  type Endpoints,
  toEndpoint,
} from "./endpoints.ts";
import type { EventAccess } from "./event-access.ts";
import { retryDelayAfter } from "./retry-schedule.ts";

/** Whoever claims a delivery has so long; longer than an attempt can take. */
const CLAIM_LIFETIME_MS = 60_000;
const RETENTION_MS = 30 * 86_400_000;
const PRUNE_BATCH = 2_000;
/** An endpoint that lets more wait than this is switched off, before it fills the disk. */
export const MAX_PENDING = 50_000;

export type DeliveryStatus = "pending" | "delivered" | "failed";

/** One event on its way to one endpoint. Times are epoch ms. */
export interface Delivery {
  id: string;
  eventId: string;
  type: string;
  status: DeliveryStatus;
  attempts: number;
  lastStatus: number | null;
  lastError: string | null;
  nextAttemptAt: number | null;
  createdAt: number;
  deliveredAt: number | null;
}

/** A delivery that is this process's to attempt. */
export interface ClaimedDelivery {
  id: string;
  endpointId: string;
  /** `webhook-id`: the event's, so the same over attempts, replays, and endpoints that share a receiver. */
  messageId: string;
  /** The same bytes each time, or why it can't ever be sent. */
  message: { body: string } | { lost: string };
  attempts: number;
  claimedUntil: number;
  target: DeliveryTarget;
}

/** What became of one attempt. */
export type AttemptOutcome =
  | { kind: "delivered"; status: number }
  /** To be tried again, not before `retryAfter` ms. */
  | { kind: "failed"; status?: number; error: string; retryAfter?: number }
  /** It can't ever arrive. */
  | { kind: "lost"; error: string }
  /** The receiver wants nothing more (410). */
  | { kind: "gone"; status: number }
  /** Broken off by ourselves: it does not count. */
  | { kind: "stopped" };

/** An event for an endpoint. */
export interface MatchedEvent {
  endpointId: string;
  seq: number;
  eventId: string;
  type: string;
}

export interface Deliveries {
  /** One batch: the rows and the cursor. Guard `webhooks.cursor`: somebody else handed out these events. */
  insertStatements(matched: readonly MatchedEvent[], cursor: { from: number; to: number }): Statement[];
  claim(endpointId: string, limit: number): Promise<ClaimedDelivery[]>;
  /** When to look again: the next is due then, or a claim ends; undefined when none waits. */
  nextDueAt(endpointId: string): Promise<number | undefined>;
  /** Endpoints for which something waits. */
  endpointsWithPending(): Promise<string[]>;
  /** Writes what came of an attempt. Nothing when it was replayed or removed meanwhile. */
  settle(claimed: ClaimedDelivery, outcome: AttemptOutcome): Promise<void>;
  /** Gives up all claims: of a process that ended, where no other can have made them. */
  releaseAllClaims(): Promise<void>;
  /** Newest event first. */
  list(endpointId: string, page: { limit: number; offset: number }): Promise<Delivery[]>;
  /** Whether its event is for this endpoint as its owner stands now. */
  isAllowedFor(endpoint: Endpoint, id: string): Promise<boolean>;
  /** Begins anew with the first attempt. `also` is written in the same batch. False when there is no such delivery. */
  replay(endpointId: string, id: string, extraStatements: Statement[]): Promise<boolean>;
  find(endpointId: string, id: string): Promise<Delivery | undefined>;
  /** Whether too much waits for this endpoint. */
  hasBacklog(endpointId: string): Promise<boolean>;
  /** Removes what is older than 30 days, and endpoints whose users are gone. */
  prune(): Promise<void>;
}

interface Deps extends Pick<Kernel, "database"> {
  endpoints: Pick<Endpoints, "targetOf">;
  eventAccess: Pick<EventAccess, "filterFor">;
  now: () => number;
}

const INSERT_DELIVERIES = `INSERT OR IGNORE INTO webhook_deliveries (id, endpoint_id, event_seq, event_id, type, next_attempt_at, created_at)
  SELECT one.value ->> 0, endpoint.id, one.value ->> 2, one.value ->> 3, one.value ->> 4, ?2, ?2
  FROM json_each(?1) AS one JOIN webhook_endpoints AS endpoint ON endpoint.id = one.value ->> 1 AND endpoint.active = 1`;

const CLAIM_DUE = `UPDATE webhook_deliveries SET claimed_until = ?1 WHERE id IN (
    SELECT id FROM webhook_deliveries WHERE endpoint_id = ?2 AND status = 'pending' AND next_attempt_at <= ?3
      AND (claimed_until IS NULL OR claimed_until <= ?3) ORDER BY next_attempt_at, event_seq LIMIT ?4)
  RETURNING id, event_id, event_seq, attempts`;

const CLAIMED_EVENTS = `SELECT seq, user_id, type, data, created_at FROM events
  WHERE seq IN (SELECT event_seq FROM webhook_deliveries WHERE endpoint_id = ? AND status = 'pending' AND claimed_until = ?)`;

export function createDeliveries({ database, endpoints, eventAccess, now }: Deps): Deliveries {
  const settleStatement = (
    { id, claimedUntil }: ClaimedDelivery,
    set: string,
    args: (string | number | null)[],
  ): Statement => ({
    sql: `UPDATE webhook_deliveries SET claimed_until = NULL, ${set} WHERE id = ? AND claimed_until = ? AND status = 'pending'`,
    args: [...args, id, claimedUntil],
  });

  function outcomeStatements(claimed: ClaimedDelivery, outcome: AttemptOutcome): Statement[] {
    const at = now();
    switch (outcome.kind) {
      case "stopped":
        return [settleStatement(claimed, "status = 'pending'", [])];
      case "delivered": {
        const set = `status = 'delivered', attempts = attempts + 1, last_status = ?, last_error = NULL,
          next_attempt_at = NULL, delivered_at = ?`;
        return [settleStatement(claimed, set, [outcome.status, at])];
      }
      case "lost":
        return [settleStatement(claimed, "status = 'failed', last_error = ?, next_attempt_at = NULL", [outcome.error])];
      case "gone": {
        const reason = "The receiver answered 410: it wants nothing more.";
        const set =
          "status = 'failed', attempts = attempts + 1, last_status = ?, last_error = ?, next_attempt_at = NULL";
        return [
          settleStatement(claimed, set, [outcome.status, reason]),
          ...disableStatements(claimed.endpointId, reason, at),
        ];
      }
      case "failed": {
        const delay = retryDelayAfter(claimed.attempts + 1, outcome.retryAfter);
        const next = delay === undefined ? null : at + delay;
        const set = "status = ?, attempts = attempts + 1, last_status = ?, last_error = ?, next_attempt_at = ?";
        const status = next === null ? "failed" : "pending";
        return [settleStatement(claimed, set, [status, outcome.status ?? null, outcome.error, next])];
      }
    }
  }

  return {
    insertStatements(matched, { from, to }) {
      const cursor: Statement[] = [
        { sql: "UPDATE webhook_cursor SET seq = ? WHERE id = 1 AND seq = ?", args: [to, from] },
        guard("webhooks.cursor"),
      ];
      if (matched.length === 0) return cursor;
      const rows = matched.map(({ endpointId, seq, eventId, type }) => [
        Bun.randomUUIDv7(),
        endpointId,
        seq,
        eventId,
        type,
      ]);
      return [...cursor, { sql: INSERT_DELIVERIES, args: [JSON.stringify(rows), now()] }];
    },

    async claim(endpointId, limit) {
      const at = now();
      const claimedUntil = at + CLAIM_LIFETIME_MS;
      const [claims, events, found] = await database.write([
        { sql: CLAIM_DUE, args: [claimedUntil, endpointId, at, limit] },
        { sql: CLAIMED_EVENTS, args: [endpointId, claimedUntil] },
        { sql: "SELECT * FROM webhook_endpoints WHERE id = ?", args: [endpointId] },
      ]);
      const row = found?.rows[0];
      if (!claims || claims.rows.length === 0 || !row) return [];
      const target = endpoints.targetOf(row);
      const isAllowed = await eventAccess.filterFor(toEndpoint(row));
      const messages = new Map(
        events?.rows.map((event) => [
          Number(event.seq),
          isAllowed(subjectUserIdOf(event))
            ? { body: bodyOf(event) }
            : { lost: "The event is not for this webhook any more." },
        ]),
      );
      return [...claims.rows]
        .sort((a, b) => Number(a.event_seq) - Number(b.event_seq))
        .map(({ id, event_id, event_seq, attempts }) => ({
          id: String(id),
          endpointId,
          messageId: String(event_id),
          message: messages.get(Number(event_seq)) ?? { lost: "The event is no longer kept." },
          attempts: Number(attempts),
          claimedUntil,
          target,
        }));
    },

    async nextDueAt(endpointId) {
      // Those that somebody is at were due first, so they are among the first.
      const { rows } = await database.read(
        `SELECT min(max(next_attempt_at, coalesce(claimed_until, 0))) AS due FROM (
          SELECT next_attempt_at, claimed_until FROM webhook_deliveries
          WHERE endpoint_id = ? AND status = 'pending' ORDER BY next_attempt_at LIMIT 64)`,
        [endpointId],
      );
      const due = rows[0]?.due ?? null;
      return due === null ? undefined : Number(due);
    },

    async endpointsWithPending() {
      const { rows } = await database.read(
        `SELECT id FROM webhook_endpoints WHERE active = 1
          AND EXISTS (SELECT 1 FROM webhook_deliveries WHERE endpoint_id = webhook_endpoints.id AND status = 'pending')`,
      );
      return rows.map((row) => String(row.id));
    },

    async settle(claimed, outcome) {
      const isLast = claimed.target.ownerDeleted && outcome.kind !== "stopped";
      await database.write([...outcomeStatements(claimed, outcome), ...(isLast ? [DELETE_ORPHANED_ENDPOINTS] : [])]);
    },

    async releaseAllClaims() {
      const sql =
        "UPDATE webhook_deliveries SET claimed_until = NULL WHERE status = 'pending' AND claimed_until IS NOT NULL";
      await database.write([{ sql, args: [] }]);
    },

    async list(endpointId, { limit, offset }) {
      const { rows } = await database.read(
        "SELECT * FROM webhook_deliveries WHERE endpoint_id = ? ORDER BY event_seq DESC LIMIT ? OFFSET ?",
        [endpointId, limit, offset],
      );
      return rows.map(toDelivery);
    },

    async find(endpointId, id) {
      const sql = "SELECT * FROM webhook_deliveries WHERE id = ? AND endpoint_id = ?";
      const { rows } = await database.read(sql, [id, endpointId]);
      return rows[0] && toDelivery(rows[0]);
    },

    async isAllowedFor(endpoint, id) {
      const sql = `SELECT events.user_id FROM webhook_deliveries JOIN events ON events.seq = event_seq
        WHERE webhook_deliveries.id = ? AND endpoint_id = ?`;
      const [isAllowed, { rows }] = await Promise.all([
        eventAccess.filterFor(endpoint),
        database.read(sql, [id, endpoint.id]),
      ]);
      return rows.every((event) => isAllowed(subjectUserIdOf(event)));
    },

    async replay(endpointId, id, extraStatements) {
      const [replayed] = await database.write([
        {
          sql: `UPDATE webhook_deliveries SET status = 'pending', attempts = 0, last_status = NULL, last_error = NULL,
              next_attempt_at = ?, claimed_until = NULL, delivered_at = NULL WHERE id = ? AND endpoint_id = ?`,
          args: [now(), id, endpointId],
        },
        ...extraStatements,
      ]);
      return replayed?.rowsAffected === 1;
    },

    async hasBacklog(endpointId) {
      const { rows } = await database.read(
        "SELECT 1 FROM webhook_deliveries WHERE endpoint_id = ? AND status = 'pending' LIMIT 1 OFFSET ?",
        [endpointId, MAX_PENDING],
      );
      return rows.length > 0;
    },

    async prune() {
      const before = minUuidV7At(now() - RETENTION_MS);
      const sql = `DELETE FROM webhook_deliveries WHERE id IN
        (SELECT id FROM webhook_deliveries WHERE id < ? ORDER BY id LIMIT ${PRUNE_BATCH})`;
      for (;;) {
        const [result] = await database.write([{ sql, args: [before] }]);
        if ((result?.rowsAffected ?? 0) < PRUNE_BATCH) break;
      }
      await database.write([DELETE_ORPHANED_ENDPOINTS]);
    },
  };
}

/** Contract §9. The data goes out as the text it was stored as, so that every attempt signs the same bytes. */
const bodyOf = ({ type, created_at, data }: Row) =>
  `{"type":${JSON.stringify(type)},"timestamp":"${new Date(Number(created_at)).toISOString()}","data":${data}}`;

const subjectUserIdOf = ({ user_id }: Row) => (user_id === null ? null : String(user_id));

const toDelivery = (row: Row): Delivery => ({
  id: String(row.id),
  eventId: String(row.event_id),
  type: String(row.type),
  status: String(row.status) as DeliveryStatus,
  attempts: Number(row.attempts),
  lastStatus: row.last_status === null ? null : Number(row.last_status),
  lastError: row.last_error === null ? null : String(row.last_error),
  nextAttemptAt: row.next_attempt_at === null ? null : Number(row.next_attempt_at),
  createdAt: Number(row.created_at),
  deliveredAt: row.delivered_at === null ? null : Number(row.delivered_at),
});

/** Before every UUIDv7 of this millisecond (RFC 9562 §5.7: the time comes first). */
function minUuidV7At(time: number): string {
  const hex = time.toString(16).padStart(12, "0");
  return `${hex.slice(0, 8)}-${hex.slice(8)}`;
}
