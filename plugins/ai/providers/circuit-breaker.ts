// Spares a provider that keeps failing, and its callers the wait: calls stop for a while, then one finds out whether it is back.

export type BreakerState = "closed" | "open" | "half-open";

/** How a call may go on: as one of many, or as the one that finds out. */
export type Permit = "call" | "trial";

/** What a call tells of its provider; `unknown` where the client left first. */
export type CallOutcome = "well" | "failed" | "unknown";

export interface CircuitBreaker {
  /** `half-open`: the pause is over, and the next call decides. */
  state(): BreakerState;
  /** Milliseconds until a call is let through again; 0 while they are. */
  retryAfterMs(): number;
  /** Undefined: not now. Every ticket is given back by `left`, a trial's soon. */
  tryAcquire(): Permit | undefined;
  recordResult(permit: Permit, outcome: CallOutcome): void;
}

interface Options {
  /** Called when calls are stopped that were let through before, and when they are let through again. */
  onStateChange?: (state: "open" | "closed") => void;
  /** Epoch ms. */
  now?: () => number;
}

/**
 * Eight failures in a row open it, or as many as successes among the last thirty calls. A message that fails for a reason of its own is
 * tried five times, and must not stop everybody's calls.
 */
const CONSECUTIVE_FAILURES_MASK = 0b1111_1111;
const FAILURE_THRESHOLD = 15;
const WINDOW_MASK = 0x3fff_ffff;

/** Milliseconds: after the first opening, and at most, since a trial that fails doubles it. */
const INITIAL_OPEN_MS = 5_000;
const MAX_OPEN_MS = 60_000;

export function createCircuitBreaker({
  onStateChange = () => undefined,
  now = Date.now,
}: Options = {}): CircuitBreaker {
  /** The last thirty calls, the newest in the lowest bit; 1: failed. */
  let recentCalls = 0;
  /** Epoch ms; undefined while closed. */
  let openUntil: number | undefined;
  let openMs = INITIAL_OPEN_MS;
  let trialInFlight = false;

  function trip(): void {
    openUntil = now() + openMs;
    openMs = Math.min(openMs * 2, MAX_OPEN_MS);
  }

  function reset(): void {
    openUntil = undefined;
    recentCalls = 0;
    openMs = INITIAL_OPEN_MS;
    onStateChange("closed");
  }

  function recordCall(failed: boolean): void {
    recentCalls = ((recentCalls << 1) | Number(failed)) & WINDOW_MASK;
    if (
      !failed ||
      ((recentCalls & CONSECUTIVE_FAILURES_MASK) !== CONSECUTIVE_FAILURES_MASK &&
        countOnes(recentCalls) < FAILURE_THRESHOLD)
    )
      return;
    trip();
    onStateChange("open");
  }

  return {
    state() {
      if (openUntil === undefined) return "closed";
      return now() < openUntil ? "open" : "half-open";
    },
    retryAfterMs: () => (openUntil === undefined ? 0 : Math.max(0, openUntil - now())),
    tryAcquire() {
      if (openUntil === undefined) return "call";
      if (trialInFlight || now() < openUntil) return undefined;
      trialInFlight = true;
      return "trial";
    },
    recordResult(permit, outcome) {
      if (permit === "trial") {
        trialInFlight = false;
        if (outcome === "well") reset();
        else if (outcome === "failed") trip();
      } else if (openUntil === undefined && outcome !== "unknown") recordCall(outcome === "failed");
      // A call from before it opened tells nothing new.
    },
  };
}

function countOnes(bits: number): number {
  let count = 0;
  for (let remaining = bits; remaining !== 0; remaining &= remaining - 1) count++;
  return count;
}
