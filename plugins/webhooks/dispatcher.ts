// Hands each event out to the endpoints that want it: read by a cursor that is on disk, so that a kill loses none.
import type { Row } from "@libsql/client";
import { GuardFailed } from "../../src/database.ts";
import type { Kernel } from "../../src/plugin.ts";
import type { Audience } from "./audience.ts";
import { type Deliveries, MAX_WAITING, type Taken } from "./deliveries.ts";
import { CLEARED, switchedOff } from "./endpoints.ts";
import { covers } from "./types.ts";

const BATCH = 500;
/** Events that come so close together are handed out together. */
const GATHER_MS = 20;
/** On a server other processes write events and endpoints too. Also how soon trouble is tried again. */
const POLL_MS = 1_000;
/** How often an endpoint's backlog is measured: after so many events handed out to it. */
const MEASURED_EVERY = 5_000;

export interface Dispatcher {
  start(): void;
  /** Some endpoint may want events now. */
  wake(): void;
  stop(): Promise<void>;
}

interface Deps extends Pick<Kernel, "database" | "events" | "log"> {
  deliveries: Pick<Deliveries, "handedOut" | "isOverfull">;
  audience: Pick<Audience, "of">;
  /** Something waits for this endpoint. */
  kick(endpointId: string): void;
  now: () => number;
}

interface Candidate {
  id: string;
  userId: string | null;
  types: string[];
  wide: boolean;
  wideAs: string | null;
  fromSeq: number;
}

interface Happened {
  seq: number;
  eventId: string;
  type: string;
  userId: string | null;
}

export function createDispatcher(deps: Deps): Dispatcher {
  const { database, events, log, deliveries, audience, kick, now } = deps;
  const shared = database.file === undefined;
  const sinceMeasured = new Map<string, number>();
  let state: "new" | "started" | "stopped" = "new";
  let timer: Timer | undefined;
  let running: Promise<void> | undefined;
  let again = false;
  /** Set while there is an endpoint: without one, events cost nothing here. */
  let unsubscribe: (() => void) | undefined;

  function wake(delay = GATHER_MS): void {
    if (state !== "started") return;
    again = true;
    if (!running) timer ??= setTimeout(run, delay).unref();
  }

  function run(): void {
    timer = undefined;
    running = work().then((wait) => {
      running = undefined;
      if (wait !== undefined) wake(wait);
    });
  }

  /** Hands out all there is; the milliseconds until the next look, undefined when somebody will wake us. */
  async function work(): Promise<number | undefined> {
    try {
      again = false;
      while (state === "started" && (await step())) again = false;
      if (again) return GATHER_MS;
      return shared ? POLL_MS : undefined;
    } catch (error) {
      log.warn("Events could not be handed out to webhooks; trying again.", { error });
      return POLL_MS;
    }
  }

  /** Hands out the next events; true when there are more. */
  async function step(): Promise<boolean> {
    const { rows } = await database.read(
      "SELECT seq, (SELECT min(from_seq) FROM webhook_endpoints WHERE active = 1) AS floor FROM webhook_cursor",
    );
    const floor = rows[0]?.floor ?? null;
    if (floor === null) return listen(false);
    listen(true);
    const cursor = Number(rows[0]?.seq);
    const happened = await after(Math.max(cursor, Number(floor)));
    const last = happened.at(-1);
    if (!last) return false;
    const taken = await match(happened);
    const statements = deliveries.handedOut(taken, { from: cursor, to: last.seq });
    try {
      await database.write(
        happened.some(({ type }) => type === "user.deleted") ? [...statements, CLEARED] : statements,
      );
    } catch (error) {
      if (error instanceof GuardFailed) return true;
      throw error;
    }
    const endpoints = Map.groupBy(taken, ({ endpointId }) => endpointId);
    for (const [endpointId, { length }] of endpoints) {
      kick(endpointId);
      await measure(endpointId, length);
    }
    return happened.length === BATCH;
  }

  /** A server's other processes may make endpoints unseen, so there the time tells. */
  function listen(wanted: boolean): false {
    if (!shared && wanted) unsubscribe ??= events.subscribe(() => wake());
    if (!wanted) {
      unsubscribe?.();
      unsubscribe = undefined;
    }
    return false;
  }

  async function after(seq: number): Promise<Happened[]> {
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

  async function match(happened: readonly Happened[]): Promise<Taken[]> {
    const candidates = await candidatesFor(happened);
    const listening = await Promise.all(
      candidates.map(async (endpoint) => ({ ...endpoint, hears: await audience.of(endpoint) })),
    );
    return happened.flatMap(({ userId, ...event }) =>
      listening
        .filter(({ fromSeq, types, hears }) => event.seq > fromSeq && covers(types, event.type) && hears(userId))
        .map(({ id }) => ({ endpointId: id, ...event })),
    );
  }

  /** Endpoints of those the events are about, and those that may get everybody's. */
  async function candidatesFor(happened: readonly Happened[]): Promise<Candidate[]> {
    const users = [...new Set(happened.map(({ userId }) => userId))].filter((userId) => userId !== null);
    const active = "SELECT id, user_id, types, wide, wide_as, from_seq FROM webhook_endpoints WHERE active = 1";
    const { rows } = await database.read(
      `${active} AND user_id IN (SELECT value FROM json_each(?1))
        UNION ${active} AND wide = 1 UNION ${active} AND user_id IS NULL`,
      [JSON.stringify(users)],
    );
    return rows.map(toCandidate);
  }

  async function measure(endpointId: string, handedOut: number): Promise<void> {
    const since = (sinceMeasured.get(endpointId) ?? 0) + handedOut;
    sinceMeasured.set(endpointId, since % MEASURED_EVERY);
    if (since < MEASURED_EVERY || !(await deliveries.isOverfull(endpointId))) return;
    log.warn("A webhook lets too much wait and was switched off.", { endpoint: endpointId, limit: MAX_WAITING });
    const reason = `More than ${MAX_WAITING} events were waiting for the receiver.`;
    await database.write(switchedOff(endpointId, reason, now()));
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
      listen(false);
      await running;
    },
  };
}

const toCandidate = (row: Row): Candidate => ({
  id: String(row.id),
  userId: row.user_id === null ? null : String(row.user_id),
  types: JSON.parse(String(row.types)),
  wide: row.wide === 1,
  wideAs: row.wide_as === null ? null : String(row.wide_as),
  fromSeq: Number(row.from_seq),
});
