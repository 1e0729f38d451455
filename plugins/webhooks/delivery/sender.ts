// Sends pending deliveries in one lane per endpoint, so that a slow or dead receiver does not delay the others.

import type { Statement } from "../../../src/kernel/database/database.ts";
import { type Alarm, createAlarm } from "../../../src/kernel/jobs/alarm.ts";
import type { Kernel } from "../../../src/kernel/plugin.ts";
import { SECOND } from "../../../src/kernel/util/time.ts";
import type { Deliveries } from "./deliveries.ts";
import type { AttemptDelivery, AttemptOutcome } from "./delivery-attempt.ts";
import type { ClaimedDelivery } from "./delivery-rows.ts";

/** The job that wakes dispatcher and sender of the backend, which may be another process than that of the request. */
export const WAKE_JOB = "webhooks.wake";

/** Makes the statement that has an endpoint looked at, for the batch that makes it, switches it on or replays a delivery. */
export const wakeStatementOf =
  (jobs: Pick<Kernel["jobs"], "enqueueStatement">) =>
  (endpointId: string): Statement =>
    jobs.enqueueStatement(WAKE_JOB, { endpointId }, { uniqueKey: endpointId });

/** Attempts at once, by pool. Endpoints that are new or failing have their own pools, so that they can't block steady ones. */
const SLOTS = { fresh: 64, steady: 128, failing: 64 };
/** Attempts at once of one endpoint. It starts with 1, doubles with each success, and falls back to 1 with a failure. */
const MAX_PER_ENDPOINT = 8;
/** Endpoints remembered as reliable; all are forgotten when there are more. */
const MAX_RELIABLE = 10_000;
/** The delay after a database error. */
const ERROR_RETRY_MS = 5 * SECOND;
/** How long attempts may continue after `stop`. */
const GRACE_MS = 2 * SECOND;

type SlotPool = keyof typeof SLOTS;

interface Lane {
  endpointId: string;
  pool: SlotPool;
  /** Attempts allowed at once. */
  concurrency: number;
  running: number;
  /** No attempt before this time (epoch ms), by the receiver's `Retry-After`. */
  retryNotBefore: number;
  /** For the next delivery that is due, perhaps in a day. */
  alarm: Alarm;
  /** It is claiming deliveries now; `shouldPollAgain`: and claims again afterwards. */
  isPolling: boolean;
  shouldPollAgain: boolean;
}

export interface Sender {
  /** Looks for due deliveries of this endpoint. `fresh`: ignores an earlier `Retry-After`, since its owner asked for it. */
  wake(endpointId: string, fresh?: boolean): void;
  /** The number of running attempts. */
  running(): number;
  /** Starts no more attempts and aborts the running ones after a grace period; those stay pending for the next start. */
  stop(): Promise<void>;
}

interface Deps extends Pick<Kernel, "log"> {
  deliveries: Pick<Deliveries, "claim" | "nextDueAt" | "settle">;
  attempt: AttemptDelivery;
  now: () => number;
  /** Called after each attempt. */
  onAttempt?: (delivery: ClaimedDelivery, outcome: AttemptOutcome) => void;
  graceMs?: number;
}

export function createSender({ log, deliveries, attempt, now, onAttempt, graceMs = GRACE_MS }: Deps): Sender {
  const lanes = new Map<string, Lane>();
  const usedSlots: Record<SlotPool, number> = { fresh: 0, steady: 0, failing: 0 };
  /** Endpoints whose last attempt succeeded. Lanes are deleted when idle, so this is kept apart. */
  const reliable = new Set<string>();
  /** Lanes that found no free slot, in order. */
  const waitingForSlot = new Set<Lane>();
  const attempts = new Set<Promise<void>>();
  const polls = new Set<Promise<void>>();
  const abortController = new AbortController();
  let isStopped = false;

  function laneOf(endpointId: string): Lane {
    let lane = lanes.get(endpointId);
    if (!lane) {
      const idle = { running: 0, retryNotBefore: 0, isPolling: false, shouldPollAgain: false };
      const alarm = createAlarm(() => poll(made), { now });
      const pool = reliable.has(endpointId) ? "steady" : "fresh";
      const made: Lane = { endpointId, pool, concurrency: 1, alarm, ...idle };
      lane = made;
      lanes.set(endpointId, lane);
    }
    return lane;
  }

  /** Claims due deliveries; if the lane is claiming already, it claims once more afterwards. */
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
        lane.alarm.setFor(now() + ERROR_RETRY_MS);
      })
      .finally(() => {
        lane.isPolling = false;
        polls.delete(polling);
        if (lane.shouldPollAgain) poll(lane);
      });
    polls.add(polling);
  }

  async function claimDeliveries(lane: Lane): Promise<void> {
    lane.alarm.clear();
    if (lane.retryNotBefore > now()) return lane.alarm.setFor(lane.retryNotBefore);
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
    if (due !== undefined) lane.alarm.setFor(due);
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
      onAttempt?.(delivery, outcome);
      updatePool(lane, outcome);
      await deliveries.settle(delivery, outcome);
      if (outcome.kind === "gone")
        log.info("A webhook was switched off by its receiver.", { endpoint: lane.endpointId });
    } catch (error) {
      // The claim expires after a minute; the delivery is attempted again then.
      log.error("A webhook's delivery could not be attempted or stored.", {
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
      for (const { alarm } of lanes.values()) alarm.clear();
      const graceTimer = setTimeout(() => abortController.abort(), graceMs);
      while (attempts.size + polls.size > 0) await Promise.all([...attempts, ...polls]);
      clearTimeout(graceTimer);
    },
  };
}
