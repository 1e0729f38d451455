// Sends what waits: a lane per endpoint, so that a slow or dead one delays nobody else.
import type { Kernel } from "../../src/plugin.ts";
import type { Attempt } from "./attempt.ts";
import type { Claimed, Deliveries, Outcome } from "./deliveries.ts";

/** Attempts at once, all together: those that fail or hang, or may, have places of their own and can't take the others'. */
const PLACES = { fresh: 64, steady: 128, failing: 64 };
/** Attempts at once of one endpoint that answers well; the first one, and one that fails, is alone. */
const MAX_PER_ENDPOINT = 8;
/** Endpoints that are remembered for having answered well. */
const MAX_PROVEN = 10_000;
/** When the storage can't be read or written. */
const TROUBLE_MS = 5_000;
/** What is under way at a stop gets so long. */
const GRACE_MS = 2_000;
/** setTimeout takes 31 bits. */
const MAX_TIMER_MS = 2 ** 31 - 1;

type Pool = keyof typeof PLACES;

interface Lane {
  endpointId: string;
  pool: Pool;
  /** How many at once. */
  width: number;
  running: number;
  /** The receiver asked to be left alone until then. */
  heldUntil: number;
  timer: Timer | undefined;
  /** Looks for work now, and shall look once more after that. */
  looking: boolean;
  again: boolean;
}

export interface Sender {
  /** Something may wait for this endpoint. `fresh`: its owner asked for it, so that no earlier wish of the receiver counts. */
  kick(endpointId: string, fresh?: boolean): void;
  /** Attempts under way. */
  running(): number;
  /** Ends what is under way soon; what has not arrived by then waits for the next start. */
  stop(): Promise<void>;
}

interface Deps extends Pick<Kernel, "log"> {
  deliveries: Pick<Deliveries, "claim" | "nextDue" | "settle">;
  attempt: Attempt;
  now: () => number;
  /** Told of each attempt. */
  tried?: (kind: Outcome["kind"]) => void;
  graceMs?: number;
}

export function createSender({ log, deliveries, attempt, now, tried, graceMs = GRACE_MS }: Deps): Sender {
  const lanes = new Map<string, Lane>();
  const taken: Record<Pool, number> = { fresh: 0, steady: 0, failing: 0 };
  /** Lanes come and go with the work; what an endpoint has shown stays. */
  const proven = new Set<string>();
  /** Lanes that found no place, in the order in which they came. */
  const starved = new Set<Lane>();
  const runs = new Set<Promise<void>>();
  const searches = new Set<Promise<void>>();
  const stopping = new AbortController();
  let stopped = false;

  function laneOf(endpointId: string): Lane {
    let lane = lanes.get(endpointId);
    if (!lane) {
      const idle = { running: 0, heldUntil: 0, timer: undefined, looking: false, again: false };
      lane = { endpointId, pool: proven.has(endpointId) ? "steady" : "fresh", width: 1, ...idle };
      lanes.set(endpointId, lane);
    }
    return lane;
  }

  /** Looks for work, or once more when it is looking already. */
  function look(lane: Lane): void {
    lane.again = true;
    if (lane.looking || stopped) return;
    lane.looking = true;
    const search = async () => {
      while (lane.again && !stopped) {
        lane.again = false;
        await fill(lane);
      }
    };
    const searching = search()
      .catch((error: unknown) => {
        log.warn("Webhooks could not be read; trying again.", { endpoint: lane.endpointId, error });
        lane.again = false;
        lookAt(lane, now() + TROUBLE_MS);
      })
      .finally(() => {
        lane.looking = false;
        searches.delete(searching);
        if (lane.again) look(lane);
      });
    searches.add(searching);
  }

  function lookAt(lane: Lane, time: number): void {
    clearTimeout(lane.timer);
    lane.timer = setTimeout(() => look(lane), Math.min(MAX_TIMER_MS, Math.max(0, time - now()))).unref();
  }

  async function fill(lane: Lane): Promise<void> {
    clearTimeout(lane.timer);
    if (lane.heldUntil > now()) return lookAt(lane, lane.heldUntil);
    const { pool } = lane;
    const wanted = lane.width - lane.running;
    const places = Math.min(wanted, PLACES[pool] - taken[pool]);
    if (wanted <= 0) return;
    if (places <= 0) return void starved.add(lane);
    taken[pool] += places;
    let used = 0;
    try {
      const claimed = await deliveries.claim(lane.endpointId, places);
      used = claimed.length;
      for (const delivery of claimed) begin(lane, delivery, pool);
    } finally {
      leave(pool, places - used);
    }
    if (used === places) return;
    const due = await deliveries.nextDue(lane.endpointId);
    if (due !== undefined) lookAt(lane, due);
    else if (lane.running === 0 && !lane.again) lanes.delete(lane.endpointId);
  }

  function leave(pool: Pool, places: number): void {
    taken[pool] -= places;
    for (const lane of starved) {
      if (taken[lane.pool] >= PLACES[lane.pool]) continue;
      starved.delete(lane);
      look(lane);
      return;
    }
  }

  function begin(lane: Lane, delivery: Claimed, pool: Pool): void {
    lane.running++;
    const run = perform(lane, delivery).finally(() => {
      lane.running--;
      runs.delete(run);
      leave(pool, 1);
      look(lane);
    });
    runs.add(run);
  }

  async function perform(lane: Lane, delivery: Claimed): Promise<void> {
    try {
      const outcome = await attempt(delivery, stopping.signal);
      tried?.(outcome.kind);
      learn(lane, outcome);
      await deliveries.settle(delivery, outcome);
      if (outcome.kind === "gone")
        log.info("A webhook was switched off by its receiver.", { endpoint: lane.endpointId });
    } catch (error) {
      // It stays claimed for a minute, and is tried again then.
      log.error("A webhook's delivery failed on our side.", {
        endpoint: lane.endpointId,
        delivery: delivery.id,
        error,
      });
    }
  }

  function learn(lane: Lane, outcome: Outcome): void {
    if (outcome.kind === "delivered") {
      lane.pool = "steady";
      if (proven.size >= MAX_PROVEN) proven.clear();
      proven.add(lane.endpointId);
      lane.width = Math.min(MAX_PER_ENDPOINT, lane.width * 2);
    } else if (outcome.kind === "failed") {
      lane.pool = "failing";
      proven.delete(lane.endpointId);
      lane.width = 1;
      if (outcome.retryAfter) lane.heldUntil = Math.max(lane.heldUntil, now() + outcome.retryAfter);
    }
  }

  return {
    kick(endpointId, fresh = false) {
      if (stopped) return;
      const lane = laneOf(endpointId);
      if (fresh) lane.heldUntil = 0;
      look(lane);
    },
    running: () => runs.size,
    async stop() {
      stopped = true;
      for (const { timer } of lanes.values()) clearTimeout(timer);
      const grace = setTimeout(() => stopping.abort(), graceMs);
      while (runs.size + searches.size > 0) await Promise.all([...runs, ...searches]);
      clearTimeout(grace);
    },
  };
}
