// Sends what waits: a lane per endpoint, so that a slow or dead one delays nobody else.
import type { Kernel } from "../../src/kernel/plugin.ts";
import type { AttemptOutcome, ClaimedDelivery, Deliveries } from "./deliveries.ts";
import type { AttemptDelivery } from "./delivery-attempt.ts";

/** Attempts at once, all together: those that fail or hang, or may, have places of their own and can't take the others'. */
const SLOTS = { fresh: 64, steady: 128, failing: 64 };
/** Attempts at once of one endpoint that answers well; the first one, and one that fails, is alone. */
const MAX_PER_ENDPOINT = 8;
/** Endpoints that are remembered for having answered well. */
const MAX_RELIABLE = 10_000;
/** When the storage can't be read or written. */
const ERROR_RETRY_MS = 5_000;
/** What is under way at a stop gets so long. */
const GRACE_MS = 2_000;
/** setTimeout takes 31 bits. */
const MAX_TIMER_MS = 2 ** 31 - 1;

type SlotPool = keyof typeof SLOTS;

interface Lane {
  endpointId: string;
  pool: SlotPool;
  /** How many at once. */
  concurrency: number;
  running: number;
  /** The receiver asked to be left alone until then. */
  retryNotBefore: number;
  timer: Timer | undefined;
  /** Looks for work now, and shall look once more after that. */
  isPolling: boolean;
  shouldPollAgain: boolean;
}

export interface Sender {
  /** Something may wait for this endpoint. `fresh`: its owner asked for it, so that no earlier wish of the receiver counts. */
  wake(endpointId: string, fresh?: boolean): void;
  /** Attempts under way. */
  running(): number;
  /** Ends what is under way soon; what has not arrived by then waits for the next start. */
  stop(): Promise<void>;
}

interface Deps extends Pick<Kernel, "log"> {
  deliveries: Pick<Deliveries, "claim" | "nextDueAt" | "settle">;
  attempt: AttemptDelivery;
  now: () => number;
  /** Told of each attempt. */
  onAttempt?: (kind: AttemptOutcome["kind"]) => void;
  graceMs?: number;
}

export function createSender({ log, deliveries, attempt, now, onAttempt, graceMs = GRACE_MS }: Deps): Sender {
  const lanes = new Map<string, Lane>();
  const usedSlots: Record<SlotPool, number> = { fresh: 0, steady: 0, failing: 0 };
  /** Lanes come and go with the work; what an endpoint has shown stays. */
  const reliable = new Set<string>();
  /** Lanes that found no place, in the order in which they came. */
  const waitingForSlot = new Set<Lane>();
  const attempts = new Set<Promise<void>>();
  const polls = new Set<Promise<void>>();
  const abortController = new AbortController();
  let isStopped = false;

  function laneOf(endpointId: string): Lane {
    let lane = lanes.get(endpointId);
    if (!lane) {
      const idle = { running: 0, retryNotBefore: 0, timer: undefined, isPolling: false, shouldPollAgain: false };
      lane = { endpointId, pool: reliable.has(endpointId) ? "steady" : "fresh", concurrency: 1, ...idle };
      lanes.set(endpointId, lane);
    }
    return lane;
  }

  /** Looks for work, or once more when it is looking already. */
  function poll(lane: Lane): void {
    lane.shouldPollAgain = true;
    if (lane.isPolling || isStopped) return;
    lane.isPolling = true;
    const pollLoop = async () => {
      while (lane.shouldPollAgain && !isStopped) {
        lane.shouldPollAgain = false;
        await claimDeliveries(lane);
      }
    };
    const polling = pollLoop()
      .catch((error: unknown) => {
        log.warn("Webhooks could not be read; trying again.", { endpoint: lane.endpointId, error });
        lane.shouldPollAgain = false;
        pollAt(lane, now() + ERROR_RETRY_MS);
      })
      .finally(() => {
        lane.isPolling = false;
        polls.delete(polling);
        if (lane.shouldPollAgain) poll(lane);
      });
    polls.add(polling);
  }

  function pollAt(lane: Lane, time: number): void {
    clearTimeout(lane.timer);
    lane.timer = setTimeout(() => poll(lane), Math.min(MAX_TIMER_MS, Math.max(0, time - now()))).unref();
  }

  async function claimDeliveries(lane: Lane): Promise<void> {
    clearTimeout(lane.timer);
    if (lane.retryNotBefore > now()) return pollAt(lane, lane.retryNotBefore);
    const { pool } = lane;
    const wantedSlots = lane.concurrency - lane.running;
    const slots = Math.min(wantedSlots, SLOTS[pool] - usedSlots[pool]);
    if (wantedSlots <= 0) return;
    if (slots <= 0) return void waitingForSlot.add(lane);
    usedSlots[pool] += slots;
    let claimedCount = 0;
    try {
      const claimed = await deliveries.claim(lane.endpointId, slots);
      claimedCount = claimed.length;
      for (const delivery of claimed) startAttempt(lane, delivery, pool);
    } finally {
      releaseSlots(pool, slots - claimedCount);
    }
    if (claimedCount === slots) return;
    const due = await deliveries.nextDueAt(lane.endpointId);
    if (due !== undefined) pollAt(lane, due);
    else if (lane.running === 0 && !lane.shouldPollAgain) lanes.delete(lane.endpointId);
  }

  function releaseSlots(pool: SlotPool, slots: number): void {
    usedSlots[pool] -= slots;
    for (const lane of waitingForSlot) {
      if (usedSlots[lane.pool] >= SLOTS[lane.pool]) continue;
      waitingForSlot.delete(lane);
      poll(lane);
      return;
    }
  }

  function startAttempt(lane: Lane, delivery: ClaimedDelivery, pool: SlotPool): void {
    lane.running++;
    const run = performAttempt(lane, delivery).finally(() => {
      lane.running--;
      attempts.delete(run);
      releaseSlots(pool, 1);
      poll(lane);
    });
    attempts.add(run);
  }

  async function performAttempt(lane: Lane, delivery: ClaimedDelivery): Promise<void> {
    try {
      const outcome = await attempt(delivery, abortController.signal);
      onAttempt?.(outcome.kind);
      updatePool(lane, outcome);
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

  function updatePool(lane: Lane, outcome: AttemptOutcome): void {
    if (outcome.kind === "delivered") {
      lane.pool = "steady";
      if (reliable.size >= MAX_RELIABLE) reliable.clear();
      reliable.add(lane.endpointId);
      lane.concurrency = Math.min(MAX_PER_ENDPOINT, lane.concurrency * 2);
    } else if (outcome.kind === "failed") {
      lane.pool = "failing";
      reliable.delete(lane.endpointId);
      lane.concurrency = 1;
      if (outcome.retryAfter) lane.retryNotBefore = Math.max(lane.retryNotBefore, now() + outcome.retryAfter);
    }
  }

  return {
    wake(endpointId, fresh = false) {
      if (isStopped) return;
      const lane = laneOf(endpointId);
      if (fresh) lane.retryNotBefore = 0;
      poll(lane);
    },
    running: () => attempts.size,
    async stop() {
      isStopped = true;
      for (const { timer } of lanes.values()) clearTimeout(timer);
      const graceTimer = setTimeout(() => abortController.abort(), graceMs);
      while (attempts.size + polls.size > 0) await Promise.all([...attempts, ...polls]);
      clearTimeout(graceTimer);
    },
  };
}
