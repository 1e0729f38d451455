// Lanes: what belongs to one conversation runs one after the other, conversations of one agent side by side, all agents in turn.

/** What a lane carries. */
export interface LaneEntry {
  id: string;
  agentId: string;
}

export interface LaneLimits {
  /** Lanes of one agent that run at once. */
  perAgent: number;
  /** Entries in flight over all agents. */
  inFlight: number;
  /** Entries of one agent held in memory; what is beyond waits in the database. */
  inMemory: number;
  /** Milliseconds until the next try after entries could not be read. */
  reloadAfter: number;
  /** Milliseconds that a place rests after each entry of a long queue: nothing beside a model's seconds, and most of the time of one that answers at once. */
  cooldownMs: number;
}

/** Entries of one agent in memory beyond which it leaves gaps. */
const LONG_QUEUE = 64;

export const LANE_LIMITS: LaneLimits = { perAgent: 4, inFlight: 512, inMemory: 256, reloadAfter: 1_000, cooldownMs: 4 };

/**
 * What became of one run: ended; to be run again, at the head of its lane, after so many ms; or its agent can't work now,
 * and what waits for it stays in the database until `resume`.
 */
export type RunResult = undefined | { retryInMs: number } | "pause";

export interface Lanes<Entry extends LaneEntry> {
  /** Lines up an entry that is in the database. Returns at once. */
  push(entry: Entry): void;
  /** Takes up whatever waits for this agent in the database. */
  resume(agentId: string): void;
  /** The same, if the agent was paused: for whoever doesn't know whether it can work now. */
  wake(agentId: string): void;
  /** Entries that wait or run, held in memory. */
  size(): number;
  /** Those of this agent. */
  entriesOf(agentId: string): readonly Entry[];
  /** Forgets what waits for this agent; what runs goes on. */
  drop(agentId: string): void;
  /** Starts nothing of this agent until it is released as often; `idle` resolves when nothing of it runs. */
  quiesce(agentId: string): { idle: Promise<void>; release(): void };
  /** Takes nothing new from now on and resolves when what runs has ended. */
  drain(): Promise<void>;
}

interface Deps<Entry extends LaneEntry> {
  /** Runs one entry to its end: when it resolves without `again` or `pause`, the entry no longer waits in the database. */
  run(entry: Entry): Promise<RunResult>;
  /** The first entries of an agent that wait in the database, running ones too, oldest first. */
  load(agentId: string, limit: number): Promise<readonly Entry[]>;
  /** Names the lane within the agent. */
  laneOf(entry: Entry): string;
  /** A page could not be read, or a run rejected; either is tried again. */
  onError(error: unknown): void;
  limits?: LaneLimits;
}

interface AgentLanes<Entry> {
  /** Each with its head first; a head stays in place while it runs or waits for its next try. */
  lanes: Map<string, Entry[]>;
  /** Lanes that could run now, in order. */
  ready: string[];
  running: Set<string>;
  /** Places not given to the next entry yet: see `rest`. */
  coolingDown: number;
  /** Ids of what is in the lanes. */
  heldIds: Set<string>;
  /** The database has entries that are not held. */
  moreInDatabase: boolean;
  loading: boolean;
  /** The agent can't work: nothing is fetched until it is resumed. */
  paused: boolean;
  /** Times it was resumed. */
  resumeCount: number;
  /** Something came to the database since the page on its way was asked for. */
  arrivedDuringLoad: boolean;
  /** What waited was forgotten since then: the page may name what has run meanwhile. */
  loadOutdated: boolean;
  /** How many ask for quiet. */
  quiesceRequests: number;
  /** Told when nothing runs. */
  idleWaiters: (() => void)[];
}

/**
 * Fairness: agents with something ready take turns, one entry each, so that ten thousand messages for one agent delay
 * another's by one turn at most. Nothing here is durable, and nothing here is the truth: that is in the database, from
 * where entries are read again, the held ones left out, as places become free.
 */
export function createLanes<Entry extends LaneEntry>({
  run,
  load,
  laneOf,
  onError,
  limits = LANE_LIMITS,
}: Deps<Entry>): Lanes<Entry> {
  const agents = new Map<string, AgentLanes<Entry>>();
  /** Agents with a ready lane and a free place, in turn. A Set keeps the order and each agent once. */
  const roundRobin = new Set<string>();
  let inFlight = 0;
  let draining = false;
  const drained = Promise.withResolvers<void>();

  function lanesOf(agentId: string): AgentLanes<Entry> {
    let agent = agents.get(agentId);
    if (!agent) {
      const none = {
        moreInDatabase: false,
        loading: false,
        paused: false,
        resumeCount: 0,
        arrivedDuringLoad: false,
        loadOutdated: false,
      };
      const empty = {
        lanes: new Map(),
        ready: [],
        running: new Set<string>(),
        heldIds: new Set<string>(),
        idleWaiters: [],
      };
      agent = { ...empty, ...none, coolingDown: 0, quiesceRequests: 0 };
      agents.set(agentId, agent);
    }
    return agent;
  }

  function enqueue(agent: AgentLanes<Entry>, entry: Entry): void {
    const name = laneOf(entry);
    const lane = agent.lanes.get(name);
    agent.heldIds.add(entry.id);
    if (lane) lane.push(entry);
    else {
      agent.lanes.set(name, [entry]);
      agent.ready.push(name);
    }
  }

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
      // Told to wait and called back meanwhile: it may be able to work by now.
      const late = (result: RunResult) =>
        result === "pause" && agent.resumeCount !== resumeCount ? { retryInMs: 0 } : result;
      void runOne(entry).then((result) => finish(agent, name, entry, late(result)));
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

  /** Places that are taken: by what runs, and by the rest after it. */
  const slotsInUse = (agent: AgentLanes<Entry>) => agent.running.size + agent.coolingDown;

  /** A long queue must not fill the thread that others need. */
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
    if (agent.running.size === 0) for (const tell of agent.idleWaiters.splice(0)) tell();
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
      forget(agent);
      agent.moreInDatabase = true;
      agent.paused = true;
    }
    advance(entry.agentId, agent);
    if (draining && inFlight === 0) drained.resolve();
  }

  /** Whatever may follow a change: a page, a turn, or nothing, and then nothing is kept. */
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
    // What ends while the page is on its way may still be in it.
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

  function forget(agent: AgentLanes<Entry>): void {
    for (const [name, lane] of agent.lanes) {
      for (const { id } of lane.splice(agent.running.has(name) ? 1 : 0)) agent.heldIds.delete(id);
      if (lane.length === 0) agent.lanes.delete(name);
    }
    agent.ready = [];
    agent.moreInDatabase = false;
    agent.loadOutdated = true;
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
      // Somebody thinks that it can work: what waited longer is asked first.
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
      forget(agent);
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
