// Spares a provider that keeps failing, and its callers the wait: calls stop for a while, then one finds out whether it is back.

export type BreakerState = "closed" | "open" | "half-open";

/** How a call may go on: as one of many, or as the one that finds out. */
export type Ticket = "call" | "trial";

/** What a call tells of its provider; `unknown` where the client left first. */
export type Outcome = "well" | "failed" | "unknown";

export interface Breaker {
  /** `half-open`: the pause is over, and the next call decides. */
  state(): BreakerState;
  /** Milliseconds until a call is let through again; 0 while they are. */
  opensIn(): number;
  /** Undefined: not now. Every ticket is given back by `left`, a trial's soon. */
  enter(): Ticket | undefined;
  left(ticket: Ticket, outcome: Outcome): void;
}

interface Options {
  /** Called when calls are stopped that were let through before, and when they are let through again. */
  changed?: (state: "open" | "closed") => void;
  /** Epoch ms. */
  now?: () => number;
}

/**
 * Eight failures in a row open it, or as many as successes among the last thirty calls. A message that fails for a reason of its own is
 * tried five times, and must not stop everybody's calls.
 */
const IN_A_ROW = 0b1111_1111;
const HALF = 15;
const THIRTY = 0x3fff_ffff;

/** Milliseconds: after the first opening, and at most, since a trial that fails doubles it. */
const FIRST_PAUSE = 5_000;
const LONGEST_PAUSE = 60_000;

export function createBreaker({ changed = () => undefined, now = Date.now }: Options = {}): Breaker {
  /** The last thirty calls, the newest in the lowest bit; 1: failed. */
  let recent = 0;
  /** Epoch ms; undefined while closed. */
  let openUntil: number | undefined;
  let pause = FIRST_PAUSE;
  let trying = false;

  function open(): void {
    openUntil = now() + pause;
    pause = Math.min(pause * 2, LONGEST_PAUSE);
  }

  function close(): void {
    openUntil = undefined;
    recent = 0;
    pause = FIRST_PAUSE;
    changed("closed");
  }

  function counted(failed: boolean): void {
    recent = ((recent << 1) | Number(failed)) & THIRTY;
    if (!failed || ((recent & IN_A_ROW) !== IN_A_ROW && ones(recent) < HALF)) return;
    open();
    changed("open");
  }

  return {
    state() {
      if (openUntil === undefined) return "closed";
      return now() < openUntil ? "open" : "half-open";
    },
    opensIn: () => (openUntil === undefined ? 0 : Math.max(0, openUntil - now())),
    enter() {
      if (openUntil === undefined) return "call";
      if (trying || now() < openUntil) return undefined;
      trying = true;
      return "trial";
    },
    left(ticket, outcome) {
      if (ticket === "trial") {
        trying = false;
        if (outcome === "well") close();
        else if (outcome === "failed") open();
      } else if (openUntil === undefined && outcome !== "unknown") counted(outcome === "failed");
      // A call from before it opened tells nothing new.
    },
  };
}

function ones(bits: number): number {
  let count = 0;
  for (let left = bits; left !== 0; left &= left - 1) count++;
  return count;
}
