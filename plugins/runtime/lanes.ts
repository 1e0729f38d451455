// Lanes: what belongs to one conversation runs one after the other, conversations of one agent side by side, all agents in turn.

/** What a lane carries. */
export interface Queued {
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
  rest: number;
}

/** Entries of one agent in memory beyond which it leaves gaps. */
const LONG_QUEUE = 64;

export const LANE_LIMITS: LaneLimits = { perAgent: 4, inFlight: 512, inMemory: 256, reloadAfter: 1_000, rest: 4 };

/**
 * What became of one run: ended; to be run again, at the head of its lane, after so many ms; or its agent can't work now,
 * and what waits for it stays in the database until `resume`.
 */
export type Ran = undefined | { again: number } | "pause";

export interface Lanes<Entry extends Queued> {
  /** Lines up an entry that is in the database. Returns at once. */
  push(entry: Entry): void;
  /** Takes up whatever waits for this agent in the database. */
  resume(agentId: string): void;
  /** The same, if the agent was paused: for whoever doesn't know whether it can work now. */
  wake(agentId: string): void;
  /** Entries that wait or run, held in memory. */
  size(): number;
  /** Those of this agent. */
  held(agentId: string): readonly Entry[];
  /** Forgets what waits for this agent; what runs goes on. */
  drop(agentId: string): void;
  /** Starts nothing of this agent until it is released as often; `idle` resolves when nothing of it runs. */
  quiet(agentId: string): { idle: Promise<void>; release(): void };
  /** Takes nothing new from now on and resolves when what runs has ended. */
  drain(): Promise<void>;
}

interface Deps<Entry extends Queued> {
  /** Runs one entry to its end: when it resolves without `again` or `pause`, the entry no longer waits in the database. */
  run(entry: Entry): Promise<Ran>;
  /** The first entries of an agent that wait in the database, running ones too, oldest first. */
  load(agentId: string, limit: number): Promise<readonly Entry[]>;
  /** Names the lane within the agent. */
  laneOf(entry: Entry): string;
  /** A page could not be read, or a run rejected; either is tried again. */
  failed(error: unknown): void;
  limits?: LaneLimits;
}

interface AgentLanes<Entry> {
  /** Each with its head first; a head stays in place while it runs or waits for its next try. */
  lanes: Map<string, Entry[]>;
  /** Lanes that could run now, in order. */
  ready: string[];
  running: Set<string>;
  /** Places not given to the next entry yet: see `rest`. */
  resting: number;
  /** Ids of what is in the lanes. */
  held: Set<string>;
  /** The database has entries that are not held. */
  more: boolean;
  loading: boolean;
  /** The agent can't work: nothing is fetched until it is resumed. */
  paused: boolean;
  /** Times it was resumed. */
  resumed: number;
  /** Something came to the database since the page on its way was asked for. */
  missed: boolean;
  /** What waited was forgotten since then: the page may name what has run meanwhile. */
  overtaken: boolean;
  /** How many ask for quiet. */
  quiet: number;
  /** Told when nothing runs. */
  idle: (() => void)[];
}

/**
 * Fairness: agents with something ready take turns, one entry each, so that ten thousand messages for one agent delay
 * another's by one turn at most. Nothing here is durable, and nothing here is the truth: that is in the database, from
 * where entries are read again, the held ones left out, as places become free.
 */
export function createLanes<Entry extends Queued>({
  run,
  load,
  laneOf,
  failed,
  limits = LANE_LIMITS,
}: Deps<Entry>): Lanes<Entry> {
  const agents = new Map<string, AgentLanes<Entry>>();
  /** Agents with a ready lane and a free place, in turn. A Set keeps the order and each agent once. */
  const turns = new Set<string>();
  let inFlight = 0;
  let draining = false;
  const drained = Promise.withResolvers<void>();

  function lanesOf(agentId: string): AgentLanes<Entry> {
    let agent = agents.get(agentId);
    if (!agent) {
      const none = { more: false, loading: false, paused: false, resumed: 0, missed: false, overtaken: false };
      const empty = { lanes: new Map(), ready: [], running: new Set<string>(), held: new Set<string>(), idle: [] };
      agent = { ...empty, ...none, resting: 0, quiet: 0 };
      agents.set(agentId, agent);
    }
    return agent;
  }

  function hold(agent: AgentLanes<Entry>, entry: Entry): void {
    const name = laneOf(entry);
    const lane = agent.lanes.get(name);
    agent.held.add(entry.id);
    if (lane) lane.push(entry);
    else {
      agent.lanes.set(name, [entry]);
      agent.ready.push(name);
    }
  }

  function pump(): void {
    for (const agentId of turns) {
      if (inFlight >= limits.inFlight || draining) return;
      turns.delete(agentId);
      const agent = agents.get(agentId);
      if (!agent || agent.quiet > 0 || taken(agent) >= limits.perAgent) continue;
      const name = agent.ready.shift();
      const entry = name === undefined ? undefined : agent.lanes.get(name)?.[0];
      if (name === undefined || !entry) continue;
      agent.running.add(name);
      inFlight++;
      if (agent.ready.length > 0 && taken(agent) < limits.perAgent) turns.add(agentId);
      const { resumed } = agent;
      // Told to wait and called back meanwhile: it may be able to work by now.
      const late = (ran: Ran) => (ran === "pause" && agent.resumed !== resumed ? { again: 0 } : ran);
      void runOne(entry).then((ran) => finished(agent, name, entry, late(ran)));
    }
  }

  async function runOne(entry: Entry): Promise<Ran> {
    try {
      return await run(entry);
    } catch (error) {
      failed(error);
      return { again: limits.reloadAfter };
    }
  }

  /** Places that are taken: by what runs, and by the rest after it. */
  const taken = (agent: AgentLanes<Entry>) => agent.running.size + agent.resting;

  /** A long queue must not fill the thread that others need. */
  function rest(agentId: string, agent: AgentLanes<Entry>): void {
    agent.resting++;
    setTimeout(() => {
      agent.resting--;
      if (agents.get(agentId) === agent) next(agentId, agent);
    }, limits.rest).unref();
  }

  function finished(agent: AgentLanes<Entry>, name: string, entry: Entry, ran: Ran): void {
    agent.running.delete(name);
    inFlight--;
    if (agent.running.size === 0) for (const tell of agent.idle.splice(0)) tell();
    const lane = agent.lanes.get(name) ?? [];
    if (typeof ran === "object") {
      setTimeout(() => {
        if (agent.lanes.get(name) !== lane) return;
        agent.ready.push(name);
        next(entry.agentId, agent);
      }, ran.again).unref();
    } else {
      lane.shift();
      agent.held.delete(entry.id);
      if (lane.length > 0) agent.ready.push(name);
      else agent.lanes.delete(name);
    }
    if (limits.rest > 0 && agent.held.size > LONG_QUEUE && !draining) rest(entry.agentId, agent);
    if (ran === "pause") {
      forget(agent);
      agent.more = true;
      agent.paused = true;
    }
    next(entry.agentId, agent);
    if (draining && inFlight === 0) drained.resolve();
  }

  /** Whatever may follow a change: a page, a turn, or nothing, and then nothing is kept. */
  function next(agentId: string, agent: AgentLanes<Entry>): void {
    const idle = agent.more && !agent.loading && !agent.paused && !draining;
    if (idle && agent.held.size < limits.inMemory / 4) void refill(agentId, agent);
    const free = agent.quiet === 0;
    if (free && agent.ready.length > 0 && taken(agent) < limits.perAgent) turns.add(agentId);
    else if (free && agent.held.size === 0 && !agent.more && !agent.loading) agents.delete(agentId);
    pump();
  }

  async function refill(agentId: string, agent: AgentLanes<Entry>): Promise<void> {
    agent.loading = true;
    agent.missed = false;
    agent.overtaken = false;
    // What ends while the page is on its way may still be in it.
    const known = new Set(agent.held);
    let page: readonly Entry[] | undefined;
    try {
      page = await load(agentId, limits.inMemory);
    } catch (error) {
      failed(error);
      await new Promise<void>((resolve) => void setTimeout(resolve, limits.reloadAfter).unref());
    }
    agent.loading = false;
    if (page && !agent.overtaken) {
      for (const entry of page) if (!known.has(entry.id)) hold(agent, entry);
      agent.more = page.length === limits.inMemory || agent.missed;
    }
    next(agentId, agent);
  }

  function forget(agent: AgentLanes<Entry>): void {
    for (const [name, lane] of agent.lanes) {
      for (const { id } of lane.splice(agent.running.has(name) ? 1 : 0)) agent.held.delete(id);
      if (lane.length === 0) agent.lanes.delete(name);
    }
    agent.ready = [];
    agent.more = false;
    agent.overtaken = true;
  }

  function resume(agentId: string): void {
    const agent = lanesOf(agentId);
    agent.more = true;
    agent.missed = true;
    agent.paused = false;
    agent.resumed++;
    next(agentId, agent);
  }

  return {
    push(entry) {
      const agent = lanesOf(entry.agentId);
      if (agent.held.has(entry.id)) return;
      // Somebody thinks that it can work: what waited longer is asked first.
      if (agent.paused) return resume(entry.agentId);
      if (agent.more || agent.held.size >= limits.inMemory) {
        agent.more = true;
        agent.missed = true;
      } else hold(agent, entry);
      next(entry.agentId, agent);
    },
    resume,
    wake(agentId) {
      if (agents.get(agentId)?.paused) resume(agentId);
    },
    held: (agentId) => [...(agents.get(agentId)?.lanes.values() ?? [])].flat(),
    size: () => agents.values().reduce((sum, { held }) => sum + held.size, 0),
    drop(agentId) {
      const agent = agents.get(agentId);
      if (!agent) return;
      forget(agent);
      agent.paused = false;
      next(agentId, agent);
    },
    quiet(agentId) {
      const agent = lanesOf(agentId);
      const { promise: idle, resolve } = Promise.withResolvers<void>();
      agent.quiet++;
      if (agent.running.size === 0) resolve();
      else agent.idle.push(resolve);
      return {
        idle,
        release() {
          agent.quiet--;
          next(agentId, agent);
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
