// What each agent uses and does: told by those who do it, at the price of an addition, and added up when somebody asks.

import { type BusyMeter, beginBusy, busyMs, createBusyMeter, endBusy } from "./busy-meter.ts";
import type { SampleClock } from "./sample-clock.ts";
import {
  createTurnCounter,
  type EndedTurn,
  type TurnCounter,
  type TurnHistory,
  type TurnStats,
} from "./turn-counter.ts";

/** How much of something an agent has here and now. */
export type AgentGauge = (agentId: string) => number;

/** Counts an agent's turns in the database, and hands them over before any turn that is not among them is told of. */
export type LoadTurnHistory = (agentId: string, onLoaded: (history: TurnHistory) => void) => Promise<void>;

export interface AgentStatsService {
  /** A turn of this agent begins; to be followed by one `end`. */
  turnStarted(agentId: string): void;
  turnEnded(agentId: string): void;
  /** A turn was settled. To be told right after its commit. */
  recordTurn(agentId: string, turn: EndedTurn): void;
  /** Bytes of a call of a model, a channel or a tool in this agent's name. */
  recordTraffic(agentId: string, sent: number, received: number): void;
  /** Adds a cache that holds something of agents, in bytes. */
  addMemoryGauge(cache: AgentGauge): void;
  /** Adds a place that keeps connections or workers for agents. */
  addConnectionGauge(place: AgentGauge): void;
  /** Who can count the turns of the past. */
  setTurnHistoryLoader(loader: LoadTurnHistory): void;
  statsOf(agentId: string): Promise<AgentStats>;
  /** What this process keeps for an agent beside its turns. */
  connectionsOf(agentId: string): number;
  /** The agent is gone. */
  forgetAgent(agentId: string): void;
}

export interface AgentStats {
  /** Share of one processor over the last minute, 0 to 1 and beyond. */
  cpu: number;
  /** Bytes. */
  memory: number;
  sent: number;
  received: number;
  pids: number;
  turns: TurnStats;
}

/** One for each agent that has done something since the start. */
interface Activity {
  readonly busyMeter: BusyMeter;
  sent: number;
  received: number;
}

/** Agents whose activity is known; the one that began longest ago and does nothing goes first. */
const MAX_ACTIVITIES = 20_000;
/** Agents whose turns are counted as they end, since somebody has asked for their figures. */
const MAX_TURN_COUNTERS = 1_000;

/** Everything is kept where the agents run: in one process, whatever the roles. */
export function createAgentStatsService({ clock }: { clock: SampleClock }): AgentStatsService {
  const activities = new Map<string, Activity>();
  const turnCounters = new Map<string, TurnCounter>();
  const loading = new Map<string, Promise<TurnCounter>>();
  const memoryGauges: AgentGauge[] = [];
  const connectionGauges: AgentGauge[] = [];
  const totalMeter = createBusyMeter(clock);
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
      const record = createTurnCounter(history);
      if (turnCounters.size >= MAX_TURN_COUNTERS)
        for (const oldest of turnCounters.keys()) if (turnCounters.delete(oldest)) break;
      turnCounters.set(agentId, record);
      resolve(record);
    };
    loadTurnHistory(agentId, onLoaded)
      .catch(reject)
      .finally(() => loading.delete(agentId));
    return promise;
  }

  /** Those that are asked for stay. */
  async function turnStatsOf(agentId: string): Promise<TurnStats> {
    const record = turnCounters.get(agentId) ?? (await loadTurnCounter(agentId));
    if (turnCounters.delete(agentId)) turnCounters.set(agentId, record);
    return record.snapshot();
  }

  return {
    turnStarted(agentId) {
      beginBusy(activityOf(agentId).busyMeter, clock);
      beginBusy(totalMeter, clock);
    },
    turnEnded(agentId) {
      // It is there: what is running is not dropped.
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
    addMemoryGauge: (cache) => void memoryGauges.push(cache),
    addConnectionGauge: (place) => void connectionGauges.push(place),
    setTurnHistoryLoader(loader) {
      loadTurnHistory = loader;
    },

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
