// Stores deliveries: one row per event and endpoint, from the dispatch of the event until it is delivered or given up.
import { guard, type Statement } from "../../../src/kernel/database/database.ts";
import { cutPage } from "../../../src/kernel/http/paging.ts";
import type { Kernel } from "../../../src/kernel/plugin.ts";
import { MINUTE } from "../../../src/kernel/util/time.ts";
import { DELETE_ORPHANED_ENDPOINTS } from "../endpoints/endpoint-statements.ts";
import { type Endpoint, type Endpoints, toEndpoint } from "../endpoints/endpoints.ts";
import type { EventAccess } from "../endpoints/event-access.ts";
import type { AttemptOutcome } from "./delivery-attempt.ts";
import { bodyOf, type ClaimedDelivery, type Delivery, subjectUserIdOf, toDelivery } from "./delivery-rows.ts";
import { outcomeStatements } from "./outcome-statements.ts";

/** Longer than an attempt can take. After this time the delivery is attempted again. */
const CLAIM_LIFETIME_MS = MINUTE;
/** An endpoint with more pending deliveries is switched off, before they fill the disk. */
export const MAX_PENDING = 50_000;

/** An event that an endpoint is to receive. */
export interface MatchedEvent {
  endpointId: string;
  seq: number;
  eventId: string;
  type: string;
}

export interface Deliveries {
  /**
   * Inserts the deliveries and moves the cursor, in one batch. The guard `webhooks.cursor` fails if these events have been
   * dispatched, by a write whose answer was lost.
   */
  insertStatements(matched: readonly MatchedEvent[], cursor: { from: number; to: number }): Statement[];
  /** Claims up to `limit` due deliveries, oldest event first. */
  claim(endpointId: string, limit: number): Promise<ClaimedDelivery[]>;
  /** When the next delivery is due or its claim expires, in epoch ms; undefined if none is pending. */
  nextDueAt(endpointId: string): Promise<number | undefined>;
  /** Active endpoints with pending deliveries. */
  endpointsWithPending(): Promise<string[]>;
  /** Stores the outcome of an attempt, unless the delivery was replayed or removed meanwhile. */
  settle(claimed: ClaimedDelivery, outcome: AttemptOutcome): Promise<void>;
  /** Releases the claims of the process before. */
  releaseAllClaims(): Promise<void>;
  /** Newest event first; with `cursor`, those of events before it. `nextCursor` is null on the last page. */
  list(
    endpointId: string,
    page: { limit: number; offset: number; cursor?: number | undefined },
  ): Promise<{ deliveries: Delivery[]; nextCursor: string | null }>;
  /** Whether the endpoint may receive the delivery's event, by its owner's present rights. */
  isAllowedFor(endpoint: Endpoint, id: string): Promise<boolean>;
  /** Makes the delivery pending again with all its attempts, in one batch with `extraStatements`. False if there is none. */
  replay(endpointId: string, id: string, extraStatements: Statement[]): Promise<boolean>;
  find(endpointId: string, id: string): Promise<Delivery | undefined>;
  /** Whether more than `MAX_PENDING` deliveries are pending. */
  hasBacklog(endpointId: string): Promise<boolean>;
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

const CLAIMED_EVENTS = `SELECT seq, user_id, agent_id, type, data, created_at FROM events
  WHERE seq IN (SELECT event_seq FROM webhook_deliveries WHERE endpoint_id = ? AND status = 'pending' AND claimed_until = ?)`;

export function createDeliveries({ database, endpoints, eventAccess, now }: Deps): Deliveries {
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
      // Admins' webhooks get events of all agents; their addresses are nothing for those agents' owners.
      const agents = new Map(
        events?.rows.map((event) => [Number(event.seq), event.user_id === row.user_id ? event.agent_id : null]),
      );
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
          agentId: agents.get(Number(event_seq))?.toString(),
          message: messages.get(Number(event_seq)) ?? { lost: "The event is no longer kept." },
          attempts: Number(attempts),
          claimedUntil,
          target,
        }));
    },

    async nextDueAt(endpointId) {
      // Claimed deliveries were due first, so they and the next unclaimed one are among the first rows.
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
      const mayBeLast = claimed.target.ownerDeleted && outcome.kind !== "stopped";
      await database.write([
        ...outcomeStatements(claimed, outcome, now()),
        ...(mayBeLast ? [DELETE_ORPHANED_ENDPOINTS] : []),
      ]);
    },

    async releaseAllClaims() {
      const sql =
        "UPDATE webhook_deliveries SET claimed_until = NULL WHERE status = 'pending' AND claimed_until IS NOT NULL";
      await database.write([{ sql, args: [] }]);
    },

    async list(endpointId, { limit, offset, cursor = Number.MAX_SAFE_INTEGER }) {
      const { rows } = await database.read(
        "SELECT * FROM webhook_deliveries WHERE endpoint_id = ? AND event_seq < ? ORDER BY event_seq DESC LIMIT ? OFFSET ?",
        [endpointId, cursor, limit + 1, offset],
      );
      const { page, nextCursor } = cutPage(rows, limit, ({ event_seq }) => String(event_seq));
      return { deliveries: page.map(toDelivery), nextCursor };
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
  };
}
