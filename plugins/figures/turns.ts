// Figures of an agent's turns: counted once from the database when somebody asks, then kept up with each turn that ends.

const MINUTE = 60_000;
/** Minutes that count as the last hour. */
const HOUR = 60;
/** Turns whose outcome counts for the rates, and answered ones whose time counts for the mean. Architecture. */
export const RECENT = { outcomes: 1_000, times: 100 };

/** A turn that has ended: a message, or a reminder falling due, that was answered or given up. */
export interface EndedTurn {
  ok: boolean;
  /** From the arrival of the message to its end. */
  ms: number;
  /** Epoch ms. */
  at: number;
}

/** What is known of an agent's turns from the database. */
export interface Tally {
  total: number;
  /** Of the last hour: minutes since the epoch, with the turns that ended in each. */
  minutes: readonly (readonly [minute: number, turns: number])[];
  /** The last ones, oldest first. */
  recent: readonly Pick<EndedTurn, "ok" | "ms">[];
}

export interface TurnFigures {
  processed: number;
  lastHour: number;
  /** Mean of the last 100 answered ones, in ms; undefined before the first. */
  meanMs: number | undefined;
  /** Of the last 1,000, 0 to 1; undefined before the first. */
  successRate: number | undefined;
}

export interface TurnRecord {
  ended(turn: EndedTurn): void;
  figures(now?: number): TurnFigures;
}

/** About 2 KiB. */
export function createTurnRecord({ total, minutes, recent }: Tally): TurnRecord {
  let processed = total;
  const perMinute = new Uint32Array(HOUR);
  let newest = minutes.reduce((last, [minute]) => Math.max(last, minute), 0);
  for (const [minute, turns] of minutes) if (minute > newest - HOUR) perMinute[minute % HOUR] = turns;
  const outcomes = createRing(RECENT.outcomes);
  const times = createRing(RECENT.times);

  function note(ok: boolean, ms: number): void {
    outcomes.push(ok ? 1 : 0);
    if (ok) times.push(ms);
  }
  for (const { ok, ms } of recent) note(ok, ms);

  /** Minutes without a turn are emptied when the next one comes, or somebody asks. */
  function moveOn(minute: number): void {
    for (let empty = Math.max(newest + 1, minute - HOUR + 1); empty <= minute; empty++) perMinute[empty % HOUR] = 0;
    newest = Math.max(newest, minute);
  }

  return {
    ended({ ok, ms, at }) {
      const minute = Math.floor(at / MINUTE);
      moveOn(minute);
      processed++;
      if (minute > newest - HOUR) perMinute[minute % HOUR] = (perMinute[minute % HOUR] ?? 0) + 1;
      note(ok, ms);
    },
    figures(now = Date.now()) {
      moveOn(Math.floor(now / MINUTE));
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
function createRing(size: number) {
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
