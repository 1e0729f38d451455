// Dispatches each event to the matching endpoints. It reads events by a stored cursor, so that a crash loses none.
import type { Row } from "@libsql/client";
import { GuardFailed } from "../../../src/kernel/database/database.ts";
import type { Kernel } from "../../../src/kernel/plugin.ts";
import { SECOND } from "../../../src/kernel/util/time.ts";
import { DELETE_ORPHANED_ENDPOINTS, disableStatements } from "../endpoints/endpoint-statements.ts";
import type { EventAccess } from "../endpoints/event-access.ts";
import { matchesEventType } from "../event-patterns.ts";
import { type Deliveries, MAX_PENDING, type MatchedEvent } from "./deliveries.ts";

const BATCH = 500;
/** Events within this time are dispatched together. */
const BATCH_DELAY_MS = 20;
/** The delay after an error. */
const ERROR_RETRY_MS = SECOND;
/** An endpoint's backlog is measured each time this number of events was dispatched to it. */
const CHECK_BACKLOG_EVERY = 5_000;

export interface Dispatcher {
  start(): void;
  /** Looks for events soon. Call it when an endpoint is created or switched on. */
  wake(): void;
  stop(): Promise<void>;
}

interface Deps extends Pick<Kernel, "database" | "events" | "log"> {
  deliveries: Pick<Deliveries, "insertStatements" | "hasBacklog">;
  eventAccess: Pick<EventAccess, "filterFor">;
  /** Called when deliveries of an endpoint are pending. */
  wakeSender(endpointId: string): void;
  now: () => number;
}

interface Candidate {
  id: string;
  userId: string | null;
  types: string[];
  allEvents: boolean;
  allEventsByEmail: string | null;
  fromSeq: number;
}

interface EventRow {
  seq: number;
  eventId: string;
  type: string;
  userId: string | null;
}

export function createDispatcher(deps: Deps): Dispatcher {
  const { database, events, log, deliveries, eventAccess, wakeSender, now } = deps;
  /** Events per endpoint since its backlog was last measured. */
  const dispatchedSinceCheck = new Map<string, number>();
  let state: "new" | "started" | "stopped" = "new";
  let timer: Timer | undefined;
  let running: Promise<void> | undefined;
  let hasMore = false;
  /** Set while there is an active endpoint: without one, events cost nothing here. */
  let unsubscribe: (() => void) | undefined;

  function wake(delay = BATCH_DELAY_MS): void {
    if (state !== "started") return;
    hasMore = true;
    if (!running) timer ??= setTimeout(startRun, delay).unref();
  }

  function startRun(): void {
    timer = undefined;
    running = dispatchAll().then((wait) => {
      running = undefined;
      if (wait !== undefined) wake(wait);
    });
  }

  /** Dispatches all events. Returns the delay until the next run in ms; undefined if the next event wakes the dispatcher. */
  async function dispatchAll(): Promise<number | undefined> {
    try {
      hasMore = false;
      while (state === "started" && (await dispatchBatch())) hasMore = false;
      return hasMore ? BATCH_DELAY_MS : undefined;
    } catch (error) {
      log.warn("Events could not be dispatched to webhooks; trying again.", { error });
      return ERROR_RETRY_MS;
    }
  }

  /** Dispatches the next batch of events; true if there are more. */
  async function dispatchBatch(): Promise<boolean> {
    const { rows } = await database.read(
      "SELECT seq, (SELECT min(from_seq) FROM webhook_endpoints WHERE active = 1) AS floor FROM webhook_cursor",
    );
    const floor = rows[0]?.floor ?? null;
    if (floor === null) return setListening(false);
    setListening(true);
    const cursor = Number(rows[0]?.seq);
    const newEvents = await eventsAfter(Math.max(cursor, Number(floor)));
    const last = newEvents.at(-1);
    if (!last) return false;
    const matched = await matchEndpoints(newEvents);
    const statements = deliveries.insertStatements(matched, { from: cursor, to: last.seq });
    try {
      await database.write(
        newEvents.some(({ type }) => type === "user.deleted") ? [...statements, DELETE_ORPHANED_ENDPOINTS] : statements,
      );
    } catch (error) {
      if (error instanceof GuardFailed) return true;
      throw error;
    }
    const endpoints = Map.groupBy(matched, ({ endpointId }) => endpointId);
    for (const [endpointId, { length }] of endpoints) {
      wakeSender(endpointId);
      await checkBacklog(endpointId, length);
    }
    return newEvents.length === BATCH;
  }

  /** Subscribes to new events, or unsubscribes. */
  function setListening(shouldListen: boolean): false {
    if (shouldListen) unsubscribe ??= events.subscribe(() => wake());
    if (!shouldListen) {
      unsubscribe?.();
      unsubscribe = undefined;
    }
    return false;
  }

  async function eventsAfter(seq: number): Promise<EventRow[]> {
    const { rows } = await database.read(
      `SELECT seq, id, type, user_id FROM events WHERE seq > ? ORDER BY seq LIMIT ${BATCH}`,
      [seq],
    );
    return rows.map((row) => ({
      seq: Number(row.seq),
      eventId: String(row.id),
      type: String(row.type),
      userId: row.user_id === null ? null : String(row.user_id),
    }));
  }

  async function matchEndpoints(newEvents: readonly EventRow[]): Promise<MatchedEvent[]> {
    const candidates = await candidatesFor(newEvents);
    const withFilters = await Promise.all(
      candidates.map(async (endpoint) => ({ ...endpoint, isAllowed: await eventAccess.filterFor(endpoint) })),
    );
    return newEvents.flatMap(({ userId, ...event }) =>
      withFilters
        .filter(
          ({ fromSeq, types, isAllowed }) =>
            event.seq > fromSeq && matchesEventType(types, event.type) && isAllowed(userId),
        )
        .map(({ id }) => ({ endpointId: id, ...event })),
    );
  }

  /** The active endpoints of the events' users, those that receive all users' events, and the operator's. */
  async function candidatesFor(newEvents: readonly EventRow[]): Promise<Candidate[]> {
    const users = [...new Set(newEvents.map(({ userId }) => userId))].filter((userId) => userId !== null);
    const active = "SELECT id, user_id, types, wide, wide_as, from_seq FROM webhook_endpoints WHERE active = 1";
    const { rows } = await database.read(
      `${active} AND user_id IN (SELECT value FROM json_each(?1))
        UNION ${active} AND wide = 1 UNION ${active} AND user_id IS NULL`,
      [JSON.stringify(users)],
    );
    return rows.map(toCandidate);
  }

  async function checkBacklog(endpointId: string, dispatched: number): Promise<void> {
    const since = (dispatchedSinceCheck.get(endpointId) ?? 0) + dispatched;
    dispatchedSinceCheck.set(endpointId, since % CHECK_BACKLOG_EVERY);
    if (since < CHECK_BACKLOG_EVERY || !(await deliveries.hasBacklog(endpointId))) return;
    log.warn("A webhook had too many pending deliveries and was switched off.", {
      endpoint: endpointId,
      limit: MAX_PENDING,
    });
    const reason = `More than ${MAX_PENDING} events were waiting for the receiver.`;
    await database.write(disableStatements(endpointId, reason, now()));
  }

  return {
    start() {
      state = "started";
      wake(0);
    },
    wake: () => wake(),
    async stop() {
      state = "stopped";
      clearTimeout(timer);
      setListening(false);
      await running;
    },
  };
}

const toCandidate = (row: Row): Candidate => ({
  id: String(row.id),
  userId: row.user_id === null ? null : String(row.user_id),
  types: JSON.parse(String(row.types)),
  allEvents: row.wide === 1,
  allEventsByEmail: row.wide_as === null ? null : String(row.wide_as),
  fromSeq: Number(row.from_seq),
});
