// What each agent uses and does: told by those who do it, at the price of an addition, and added up when somebody asks.
import type { Clock } from "./clock.ts";
import { begin, busy, createMeter, end, type Meter } from "./meter.ts";
import { createTurnRecord, type EndedTurn, type Tally, type TurnFigures, type TurnRecord } from "./turns.ts";

/** How much of something an agent has here and now. */
export type Holding = (agentId: string) => number;

/** Counts an agent's turns in the database, and hands them over before any turn that is not among them is told of. */
export type CountTurns = (agentId: string, counted: (tally: Tally) => void) => Promise<void>;

export interface Figures {
  /** A turn of this agent begins; to be followed by one `end`. */
  begin(agentId: string): void;
  end(agentId: string): void;
  /** A turn was settled. To be told right after its commit. */
  settled(agentId: string, turn: EndedTurn): void;
  /** Bytes of a call of a model, a channel or a tool in this agent's name. */
  traffic(agentId: string, sent: number, received: number): void;
  /** Adds a cache that holds something of agents, in bytes. */
  holds(cache: Holding): void;
  /** Adds a place that keeps connections or workers for agents. */
  keeps(place: Holding): void;
  /** Who can count the turns of the past. */
  countsTurns(count: CountTurns): void;
  of(agentId: string): Promise<AgentFigures>;
  /** What this process keeps for an agent beside its turns. */
  kept(agentId: string): number;
  /** The agent is gone. */
  forget(agentId: string): void;
}

export interface AgentFigures {
  /** Share of one processor over the last minute, 0 to 1 and beyond. */
  cpu: number;
  /** Bytes. */
  memory: number;
  sent: number;
  received: number;
  pids: number;
  turns: TurnFigures;
}

/** One for each agent that has done something since the start. */
interface Activity {
  readonly busy: Meter;
  sent: number;
  received: number;
}

/** Agents whose activity is known; the one that began longest ago and does nothing goes first. */
const MAX_ACTIVE = 20_000;
/** Agents whose turns are counted as they end, since somebody has asked for their figures. */
const MAX_WATCHED = 1_000;

/** Everything is kept where the agents run: in one process, whatever the roles. */
export function createFigures({ clock }: { clock: Clock }): Figures {
  const active = new Map<string, Activity>();
  const watched = new Map<string, TurnRecord>();
  const counting = new Map<string, Promise<TurnRecord>>();
  const caches: Holding[] = [];
  const places: Holding[] = [];
  const everybody = createMeter(clock);
  let countTurns: CountTurns = async (_, counted) => counted({ total: 0, minutes: [], recent: [] });

  const sum = (holdings: readonly Holding[], agentId: string) => holdings.reduce((all, held) => all + held(agentId), 0);

  function activityOf(agentId: string): Activity {
    let activity = active.get(agentId);
    if (!activity) {
      if (active.size >= MAX_ACTIVE) dropIdle();
      activity = { busy: createMeter(clock), sent: 0, received: 0 };
      active.set(agentId, activity);
    }
    return activity;
  }

  function dropIdle(): void {
    for (const [agentId, { busy }] of active) {
      if (busy.running > 0) continue;
      active.delete(agentId);
      return;
    }
  }

  function recordOf(agentId: string): Promise<TurnRecord> {
    const under = counting.get(agentId);
    if (under) return under;
    const { promise, resolve, reject } = Promise.withResolvers<TurnRecord>();
    counting.set(agentId, promise);
    const counted = (tally: Tally) => {
      const record = createTurnRecord(tally);
      if (watched.size >= MAX_WATCHED) for (const oldest of watched.keys()) if (watched.delete(oldest)) break;
      watched.set(agentId, record);
      resolve(record);
    };
    countTurns(agentId, counted)
      .catch(reject)
      .finally(() => counting.delete(agentId));
    return promise;
  }

  /** Those that are asked for stay. */
  async function turnsOf(agentId: string): Promise<TurnFigures> {
    const record = watched.get(agentId) ?? (await recordOf(agentId));
    if (watched.delete(agentId)) watched.set(agentId, record);
    return record.figures();
  }

  return {
    begin(agentId) {
      begin(activityOf(agentId).busy, clock);
      begin(everybody, clock);
    },
    end(agentId) {
      // It is there: what is running is not dropped.
      const meter = active.get(agentId)?.busy;
      if (meter) end(meter, clock);
      end(everybody, clock);
    },
    settled: (agentId, turn) => watched.get(agentId)?.ended(turn),
    traffic(agentId, sent, received) {
      const activity = activityOf(agentId);
      activity.sent += sent;
      activity.received += received;
    },
    holds: (cache) => void caches.push(cache),
    keeps: (place) => void places.push(place),
    countsTurns(count) {
      countTurns = count;
    },

    async of(agentId) {
      const turns = await turnsOf(agentId);
      const activity = active.get(agentId);
      const { cpuMs, ms } = clock.used();
      const all = busy(everybody, clock);
      const own = activity ? busy(activity.busy, clock) : 0;
      return {
        cpu: all > 0 && ms > 0 ? (own / all) * (cpuMs / ms) : 0,
        memory: sum(caches, agentId),
        sent: activity?.sent ?? 0,
        received: activity?.received ?? 0,
        pids: sum(places, agentId) + (activity?.busy.running ?? 0),
        turns,
      };
    },
    kept: (agentId) => sum(places, agentId),

    forget(agentId) {
      watched.delete(agentId);
      if (active.get(agentId)?.busy.running === 0) active.delete(agentId);
    },
  };
}
