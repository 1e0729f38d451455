// Counts an agent's turns: it starts from the history in the database and is updated with each turn that ends.
import { HOUR, MINUTE } from "../../src/kernel/util/time.ts";

/** Size of the sliding window of the hourly count, in buckets of one minute. */
const MINUTES_PER_HOUR = HOUR / MINUTE;
/** The success rate covers the last 1,000 turns, the mean time the last 100 answered ones. See docs/operating.md. */
export const RECENT_TURNS = { outcomes: 1_000, times: 100 };

/** A turn that has ended: a message or a due reminder that was answered or given up. */
export interface EndedTurn {
  ok: boolean;
  /** From the arrival of the message to the end of the turn. */
  ms: number;
  /** Epoch ms. */
  at: number;
}

/** An agent's turns according to the database. */
export interface TurnHistory {
  total: number;
  /** The last hour by minute (since the epoch), with the turns that ended in it. */
  minutes: readonly (readonly [minute: number, turns: number])[];
  /** The last turns, oldest first. */
  recent: readonly Pick<EndedTurn, "ok" | "ms">[];
}

export interface TurnStats {
  processed: number;
  lastHour: number;
  /** Mean of the last 100 answered turns, in ms; undefined before the first. */
  meanMs: number | undefined;
  /** Share of the last 1,000 turns, 0 to 1; undefined before the first. */
  successRate: number | undefined;
}

export interface TurnCounter {
  add(turn: EndedTurn): void;
  snapshot(now?: number): TurnStats;
}

/** Takes about 5 KiB of memory. */
export function createTurnCounter({ total, minutes, recent }: TurnHistory): TurnCounter {
  let processed = total;
  const perMinute = new Uint32Array(MINUTES_PER_HOUR);
  let newest = minutes.reduce((last, [minute]) => Math.max(last, minute), 0);
  for (const [minute, turns] of minutes)
    if (minute > newest - MINUTES_PER_HOUR) perMinute[minute % MINUTES_PER_HOUR] = turns;
  const outcomes = createRingBuffer(RECENT_TURNS.outcomes);
  const times = createRingBuffer(RECENT_TURNS.times);

  function addOutcome(ok: boolean, ms: number): void {
    outcomes.push(ok ? 1 : 0);
    if (ok) times.push(ms);
  }
  for (const { ok, ms } of recent) addOutcome(ok, ms);

  /** Clears the buckets of minutes without a turn; called with each turn and each snapshot. */
  function advanceTo(minute: number): void {
    for (let empty = Math.max(newest + 1, minute - MINUTES_PER_HOUR + 1); empty <= minute; empty++)
      perMinute[empty % MINUTES_PER_HOUR] = 0;
    newest = Math.max(newest, minute);
  }

  return {
    add({ ok, ms, at }) {
      const minute = Math.floor(at / MINUTE);
      advanceTo(minute);
      processed++;
      if (minute > newest - MINUTES_PER_HOUR)
        perMinute[minute % MINUTES_PER_HOUR] = (perMinute[minute % MINUTES_PER_HOUR] ?? 0) + 1;
      addOutcome(ok, ms);
    },
    snapshot(now = Date.now()) {
      advanceTo(Math.floor(now / MINUTE));
      return {
        processed,
        lastHour: perMinute.reduce((sum, turns) => sum + turns, 0),
        meanMs: times.mean(),
        successRate: outcomes.mean(),
      };
    },
  };
}

/** Keeps the last `size` numbers. */
function createRingBuffer(size: number) {
  const values = new Float32Array(size);
  let count = 0;
  return {
    push(value: number): void {
      values[count % size] = value;
      count++;
    },
    /** Undefined while it is empty. */
    mean(): number | undefined {
      const held = Math.min(count, size);
      return held === 0 ? undefined : values.subarray(0, held).reduce((sum, value) => sum + value, 0) / held;
    },
  };
}
