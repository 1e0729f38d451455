// Stops calls to a provider that keeps failing, then lets one trial call decide whether they resume.

export type BreakerState = "closed" | "open" | "half-open";

/** A normal call, or the trial call of a half-open circuit. */
export type Permit = "call" | "trial";

/** The result of a call for its provider; `unknown` if the client left first. */
export type CallOutcome = "succeeded" | "failed" | "unknown";

export interface CircuitBreaker {
  /** `half-open`: the pause is over, and the next call is a trial. */
  state(): BreakerState;
  /** Milliseconds until a call is permitted again; 0 while the circuit is closed. */
  retryAfterMs(): number;
  /** A permit for one call, whose result must be recorded; undefined while the circuit is open or a trial is in flight. */
  tryAcquire(): Permit | undefined;
  recordResult(permit: Permit, outcome: CallOutcome): void;
}

interface Options {
  /** Called when the circuit opens and when it closes; not when a failed trial opens it again. */
  onStateChange?: (state: "open" | "closed") => void;
  /** Epoch ms. */
  now?: () => number;
}

/**
 * Eight failures in a row open the circuit, or failures in half of the last thirty calls. A message that fails for its own
 * reason is tried five times, which must not stop other callers.
 */
const CONSECUTIVE_FAILURES_MASK = 0b1111_1111;
const FAILURE_THRESHOLD = 15;
const WINDOW_MASK = 0x3fff_ffff;

/** Milliseconds that the circuit stays open: at first, and at most; each failed trial doubles it. */
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
        if (outcome === "succeeded") reset();
        else if (outcome === "failed") trip();
      } else if (openUntil === undefined && outcome !== "unknown") recordCall(outcome === "failed");
      // A call that began before the circuit opened is ignored.
    },
  };
}

function countOnes(bits: number): number {
  let count = 0;
  for (let remaining = bits; remaining !== 0; remaining &= remaining - 1) count++;
  return count;
}
