// Schedules entries in lanes: one conversation runs in order, an agent's conversations run in parallel, agents take turns.

import { type AgentLanes, appendEntry, createAgentLanes, dropWaiting, slotsInUse } from "./agent-lanes.ts";

/** The fields that every entry has. */
export interface LaneEntry {
  id: string;
  agentId: string;
}

export interface LaneLimits {
  /** Lanes of one agent that run in parallel. */
  perAgent: number;
  /** Entries in flight over all agents. */
  inFlight: number;
  /** Entries of one agent held in memory; the others wait in the database. */
  inMemory: number;
  /** Milliseconds until the next try after entries could not be read, or a run rejected. */
  reloadAfter: number;
  /**
   * Milliseconds that a slot stays empty after each entry of a long queue. Negligible beside a turn of seconds; it slows
   * down turns that fail at once, which would otherwise keep the event loop busy.
   */
  cooldownMs: number;
}

/** Entries of one agent in memory from which on its slots cool down. */
const LONG_QUEUE = 64;

export const LANE_LIMITS: LaneLimits = { perAgent: 4, inFlight: 512, inMemory: 256, reloadAfter: 1_000, cooldownMs: 4 };

/**
 * The result of one run. `undefined`: the entry is finished. `{ retryInMs }`: run it again, at the head of its lane, after
 * this time. `"pause"`: the agent can't work now; keep its entries in the database until `resume`.
 */
export type RunResult = undefined | { retryInMs: number } | "pause";

export interface Lanes<Entry extends LaneEntry> {
  /** Appends an entry, which is in the database already, to its lane. Returns at once. */
  push(entry: Entry): void;
  /** Loads and runs the entries of this agent that wait in the database. */
  resume(agentId: string): void;
  /** Resumes the agent if one of its runs returned `pause`. */
  wake(agentId: string): void;
  /** Waiting and running entries in memory. */
  size(): number;
  /** The waiting and running entries of this agent in memory. */
  entriesOf(agentId: string): readonly Entry[];
  /** Removes the agent's waiting entries from memory; running ones go on. */
  drop(agentId: string): void;
  /** Starts nothing of this agent until every caller has released it; `idle` resolves when nothing of it runs. */
  quiesce(agentId: string): { idle: Promise<void>; release(): void };
  /** Starts nothing more; resolves when the running entries have ended. */
  drain(): Promise<void>;
}

interface Deps<Entry extends LaneEntry> {
  /** Runs one entry. When it resolves with undefined, the entry no longer waits in the database. */
  run(entry: Entry): Promise<RunResult>;
  /** The first entries of an agent that wait in the database, oldest first. Running ones are among them. */
  load(agentId: string, limit: number): Promise<readonly Entry[]>;
  /** The name of an entry's lane, unique within its agent. */
  laneOf(entry: Entry): string;
  /** Called when a page could not be read or a run rejected; both are tried again. */
  onError(error: unknown): void;
  limits?: LaneLimits;
}

/**
 * Agents with a ready lane take turns, one entry each, so that ten thousand messages for one agent delay another's by one
 * turn at most. The lanes are only a cache: the database holds all entries, and they are loaded as memory becomes free.
 */
export function createLanes<Entry extends LaneEntry>({
  run,
  load,
  laneOf,
  onError,
  limits = LANE_LIMITS,
}: Deps<Entry>): Lanes<Entry> {
  const agents = new Map<string, AgentLanes<Entry>>();
  /** Agents with a ready lane and a free slot, in turn. A Set keeps the order and holds each agent once. */
  const roundRobin = new Set<string>();
  let inFlight = 0;
  let draining = false;
  const drained = Promise.withResolvers<void>();

  function lanesOf(agentId: string): AgentLanes<Entry> {
    let agent = agents.get(agentId);
    if (!agent) {
      agent = createAgentLanes();
      agents.set(agentId, agent);
    }
    return agent;
  }

  const enqueue = (agent: AgentLanes<Entry>, entry: Entry) => appendEntry(agent, laneOf(entry), entry);

  function dispatch(): void {
    for (const agentId of roundRobin) {
      if (inFlight >= limits.inFlight || draining) return;
      roundRobin.delete(agentId);
      const agent = agents.get(agentId);
      if (!agent || agent.quiesceRequests > 0 || slotsInUse(agent) >= limits.perAgent) continue;
      const name = agent.ready.shift();
      const entry = name === undefined ? undefined : agent.lanes.get(name)?.[0];
      if (name === undefined || !entry) continue;
      agent.running.add(name);
      inFlight++;
      if (agent.ready.length > 0 && slotsInUse(agent) < limits.perAgent) roundRobin.add(agentId);
      const { resumeCount } = agent;
      // The agent was resumed during the run, so it may be able to work by now: the entry runs again instead of pausing.
      const unlessResumed = (result: RunResult) =>
        result === "pause" && agent.resumeCount !== resumeCount ? { retryInMs: 0 } : result;
      void runOne(entry).then((result) => finish(agent, name, entry, unlessResumed(result)));
    }
  }

  async function runOne(entry: Entry): Promise<RunResult> {
    try {
      return await run(entry);
    } catch (error) {
      onError(error);
      return { retryInMs: limits.reloadAfter };
    }
  }

  /** Keeps a slot empty for a moment, so that a long queue leaves the event loop to others. */
  function startCooldown(agentId: string, agent: AgentLanes<Entry>): void {
    agent.coolingDown++;
    setTimeout(() => {
      agent.coolingDown--;
      if (agents.get(agentId) === agent) advance(agentId, agent);
    }, limits.cooldownMs).unref();
  }

  function finish(agent: AgentLanes<Entry>, name: string, entry: Entry, result: RunResult): void {
    agent.running.delete(name);
    inFlight--;
    if (agent.running.size === 0) for (const notify of agent.idleWaiters.splice(0)) notify();
    const lane = agent.lanes.get(name) ?? [];
    if (typeof result === "object") {
      setTimeout(() => {
        if (agent.lanes.get(name) !== lane) return;
        agent.ready.push(name);
        advance(entry.agentId, agent);
      }, result.retryInMs).unref();
    } else {
      lane.shift();
      agent.heldIds.delete(entry.id);
      if (lane.length > 0) agent.ready.push(name);
      else agent.lanes.delete(name);
    }
    if (limits.cooldownMs > 0 && agent.heldIds.size > LONG_QUEUE && !draining) startCooldown(entry.agentId, agent);
    if (result === "pause") {
      dropWaiting(agent);
      agent.moreInDatabase = true;
      agent.paused = true;
    }
    advance(entry.agentId, agent);
    if (draining && inFlight === 0) drained.resolve();
  }

  /** Reschedules an agent after any change: loads a page of entries, marks it ready, or drops it if it has none. */
  function advance(agentId: string, agent: AgentLanes<Entry>): void {
    const shouldLoad = agent.moreInDatabase && !agent.loading && !agent.paused && !draining;
    if (shouldLoad && agent.heldIds.size < limits.inMemory / 4) void loadMore(agentId, agent);
    const free = agent.quiesceRequests === 0;
    if (free && agent.ready.length > 0 && slotsInUse(agent) < limits.perAgent) roundRobin.add(agentId);
    else if (free && agent.heldIds.size === 0 && !agent.moreInDatabase && !agent.loading) agents.delete(agentId);
    dispatch();
  }

  async function loadMore(agentId: string, agent: AgentLanes<Entry>): Promise<void> {
    agent.loading = true;
    agent.arrivedDuringLoad = false;
    agent.loadOutdated = false;
    // Entries that end while the page is read may still be in it.
    const known = new Set(agent.heldIds);
    let page: readonly Entry[] | undefined;
    try {
      page = await load(agentId, limits.inMemory);
    } catch (error) {
      onError(error);
      await new Promise<void>((resolve) => void setTimeout(resolve, limits.reloadAfter).unref());
    }
    agent.loading = false;
    if (page && !agent.loadOutdated) {
      for (const entry of page) if (!known.has(entry.id)) enqueue(agent, entry);
      agent.moreInDatabase = page.length === limits.inMemory || agent.arrivedDuringLoad;
    }
    advance(agentId, agent);
  }

  function resume(agentId: string): void {
    const agent = lanesOf(agentId);
    agent.moreInDatabase = true;
    agent.arrivedDuringLoad = true;
    agent.paused = false;
    agent.resumeCount++;
    advance(agentId, agent);
  }

  return {
    push(entry) {
      const agent = lanesOf(entry.agentId);
      if (agent.heldIds.has(entry.id)) return;
      // A new entry suggests that the agent can work again. The older ones in the database run first.
      if (agent.paused) return resume(entry.agentId);
      if (agent.moreInDatabase || agent.heldIds.size >= limits.inMemory) {
        agent.moreInDatabase = true;
        agent.arrivedDuringLoad = true;
      } else enqueue(agent, entry);
      advance(entry.agentId, agent);
    },
    resume,
    wake(agentId) {
      if (agents.get(agentId)?.paused) resume(agentId);
    },
    entriesOf: (agentId) => [...(agents.get(agentId)?.lanes.values() ?? [])].flat(),
    size: () => agents.values().reduce((sum, { heldIds }) => sum + heldIds.size, 0),
    drop(agentId) {
      const agent = agents.get(agentId);
      if (!agent) return;
      dropWaiting(agent);
      agent.paused = false;
      advance(agentId, agent);
    },
    quiesce(agentId) {
      const agent = lanesOf(agentId);
      const { promise: idle, resolve } = Promise.withResolvers<void>();
      agent.quiesceRequests++;
      if (agent.running.size === 0) resolve();
      else agent.idleWaiters.push(resolve);
      return {
        idle,
        release() {
          agent.quiesceRequests--;
          advance(agentId, agent);
        },
      };
    },
    drain() {
      draining = true;
      if (inFlight === 0) drained.resolve();
      return drained.promise;
    },
  };
}
