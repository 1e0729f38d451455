// Figures of an agent's turns: counted once from the database when somebody asks, then kept up with each turn that ends.

const MINUTE = 60_000;
/** Minutes that count as the last hour. */
const MINUTES_PER_HOUR = 60;
/** Turns whose outcome counts for the rates, and answered ones whose time counts for the mean. Architecture. */
export const RECENT_TURNS = { outcomes: 1_000, times: 100 };

/** A turn that has ended: a message, or a reminder falling due, that was answered or given up. */
export interface EndedTurn {
  ok: boolean;
  /** From the arrival of the message to its end. */
  ms: number;
  /** Epoch ms. */
  at: number;
}

/** What is known of an agent's turns from the database. */
export interface TurnHistory {
  total: number;
  /** Of the last hour: minutes since the epoch, with the turns that ended in each. */
  minutes: readonly (readonly [minute: number, turns: number])[];
  /** The last ones, oldest first. */
  recent: readonly Pick<EndedTurn, "ok" | "ms">[];
}

export interface TurnStats {
  processed: number;
  lastHour: number;
  /** Mean of the last 100 answered ones, in ms; undefined before the first. */
  meanMs: number | undefined;
  /** Of the last 1,000, 0 to 1; undefined before the first. */
  successRate: number | undefined;
}

export interface TurnCounter {
  add(turn: EndedTurn): void;
  snapshot(now?: number): TurnStats;
}

/** About 2 KiB. */
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

  /** Minutes without a turn are emptied when the next one comes, or somebody asks. */
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

/** The last so many numbers. */
function createRingBuffer(size: number) {
  const values = new Float32Array(size);
  let count = 0;
  return {
    push(value: number): void {
      values[count % size] = value;
      count++;
    },
    /** Undefined before the first. */
    mean(): number | undefined {
      const held = Math.min(count, size);
      return held === 0 ? undefined : values.subarray(0, held).reduce((sum, value) => sum + value, 0) / held;
    },
  };
}
