// Collects the statistics of agents. Other plugins report turns and traffic, which costs one addition each; sums are made on request.
import { type BusyMeter, beginBusy, busyMs, createBusyMeter, endBusy } from "./busy-meter.ts";
import type { SampleClock } from "./sample-clock.ts";
import {
  createTurnCounter,
  type EndedTurn,
  type TurnCounter,
  type TurnHistory,
  type TurnStats,
} from "./turn-counter.ts";

/** Returns the present value of something that belongs to an agent, such as bytes or connections. */
export type AgentGauge = (agentId: string) => number;

/**
 * Counts an agent's turns in the database. Must call `onLoaded` before `recordTurn` is called for a turn that the count does
 * not include, so that each turn counts once.
 */
export type LoadTurnHistory = (agentId: string, onLoaded: (history: TurnHistory) => void) => Promise<void>;

export interface AgentStatsService {
  /** Call it when a turn begins, and `turnEnded` once for each. */
  turnStarted(agentId: string): void;
  turnEnded(agentId: string): void;
  /** Counts a settled turn. Call it right after the commit. */
  recordTurn(agentId: string, turn: EndedTurn): void;
  /** Counts the bytes of a model, channel or tool call of this agent. */
  recordTraffic(agentId: string, sent: number, received: number): void;
  /** Registers a cache: `gauge` returns the bytes it holds for an agent. */
  addMemoryGauge(gauge: AgentGauge): void;
  /** Registers a source of connections: `gauge` returns how many an agent has. */
  addConnectionGauge(gauge: AgentGauge): void;
  setTurnHistoryLoader(loader: LoadTurnHistory): void;
  /** Registers what adds the latest calls to the sums of hours; it runs before these are read. */
  beforeFigures(addUp: () => Promise<void>): void;
  /** Resolves when the sums of hours hold all calls. */
  prepareFigures(): Promise<void>;
  statsOf(agentId: string): Promise<AgentStats>;
  /** The connections that this process holds for an agent, without turns. */
  connectionsOf(agentId: string): number;
  /** Call it when the agent is removed. */
  forgetAgent(agentId: string): void;
}

export interface AgentStats {
  /** Share of one processor over the last minute; above 1 if more than one is busy. */
  cpu: number;
  /** Bytes, as `sent` and `received`. */
  memory: number;
  sent: number;
  received: number;
  /** Connections plus running turns. */
  pids: number;
  turns: TurnStats;
}

/** The counters of an agent that was active since the start. */
interface Activity {
  readonly busyMeter: BusyMeter;
  sent: number;
  received: number;
}

/** Agents with counters; beyond, the oldest one without a running turn is dropped. */
const MAX_ACTIVITIES = 20_000;
/** Agents with a turn counter, which the first request for their statistics creates; the least recently requested goes first. */
const MAX_TURN_COUNTERS = 1_000;

/** Keeps all counters in memory: agents run in one process (the backend, if the roles are split). */
export function createAgentStatsService({ clock }: { clock: SampleClock }): AgentStatsService {
  const activities = new Map<string, Activity>();
  const turnCounters = new Map<string, TurnCounter>();
  const loading = new Map<string, Promise<TurnCounter>>();
  const memoryGauges: AgentGauge[] = [];
  const connectionGauges: AgentGauge[] = [];
  const totalMeter = createBusyMeter(clock);
  let addUpCalls = async (): Promise<void> => undefined;
  let loadTurnHistory: LoadTurnHistory = async (_, onLoaded) => onLoaded({ total: 0, minutes: [], recent: [] });

  const sumGauges = (gauges: readonly AgentGauge[], agentId: string) =>
    gauges.reduce((all, gauge) => all + gauge(agentId), 0);

  function activityOf(agentId: string): Activity {
    let activity = activities.get(agentId);
    if (!activity) {
      if (activities.size >= MAX_ACTIVITIES) evictIdle();
      activity = { busyMeter: createBusyMeter(clock), sent: 0, received: 0 };
      activities.set(agentId, activity);
    }
    return activity;
  }

  function evictIdle(): void {
    for (const [agentId, { busyMeter }] of activities) {
      if (busyMeter.running > 0) continue;
      activities.delete(agentId);
      return;
    }
  }

  function loadTurnCounter(agentId: string): Promise<TurnCounter> {
    const pending = loading.get(agentId);
    if (pending) return pending;
    const { promise, resolve, reject } = Promise.withResolvers<TurnCounter>();
    loading.set(agentId, promise);
    const onLoaded = (history: TurnHistory) => {
      const counter = createTurnCounter(history);
      if (turnCounters.size >= MAX_TURN_COUNTERS)
        for (const oldest of turnCounters.keys()) if (turnCounters.delete(oldest)) break;
      turnCounters.set(agentId, counter);
      resolve(counter);
    };
    loadTurnHistory(agentId, onLoaded)
      .catch(reject)
      .finally(() => loading.delete(agentId));
    return promise;
  }

  /** Moves the counter to the end of the map, so that the least recently requested is dropped first. */
  async function turnStatsOf(agentId: string): Promise<TurnStats> {
    const counter = turnCounters.get(agentId) ?? (await loadTurnCounter(agentId));
    if (turnCounters.delete(agentId)) turnCounters.set(agentId, counter);
    return counter.snapshot();
  }

  return {
    turnStarted(agentId) {
      beginBusy(activityOf(agentId).busyMeter, clock);
      beginBusy(totalMeter, clock);
    },
    turnEnded(agentId) {
      // Present, since agents with running turns are neither evicted nor forgotten.
      const meter = activities.get(agentId)?.busyMeter;
      if (meter) endBusy(meter, clock);
      endBusy(totalMeter, clock);
    },
    recordTurn: (agentId, turn) => turnCounters.get(agentId)?.add(turn),
    recordTraffic(agentId, sent, received) {
      const activity = activityOf(agentId);
      activity.sent += sent;
      activity.received += received;
    },
    addMemoryGauge: (gauge) => void memoryGauges.push(gauge),
    addConnectionGauge: (gauge) => void connectionGauges.push(gauge),
    setTurnHistoryLoader(loader) {
      loadTurnHistory = loader;
    },
    beforeFigures(addUp) {
      addUpCalls = addUp;
    },
    prepareFigures: () => addUpCalls(),

    async statsOf(agentId) {
      const turns = await turnStatsOf(agentId);
      const activity = activities.get(agentId);
      const { cpuMs, ms } = clock.cpuUsage();
      const totalMs = busyMs(totalMeter, clock);
      const ownMs = activity ? busyMs(activity.busyMeter, clock) : 0;
      return {
        cpu: totalMs > 0 && ms > 0 ? (ownMs / totalMs) * (cpuMs / ms) : 0,
        memory: sumGauges(memoryGauges, agentId),
        sent: activity?.sent ?? 0,
        received: activity?.received ?? 0,
        pids: sumGauges(connectionGauges, agentId) + (activity?.busyMeter.running ?? 0),
        turns,
      };
    },
    connectionsOf: (agentId) => sumGauges(connectionGauges, agentId),

    forgetAgent(agentId) {
      turnCounters.delete(agentId);
      if (activities.get(agentId)?.busyMeter.running === 0) activities.delete(agentId);
    },
  };
}
