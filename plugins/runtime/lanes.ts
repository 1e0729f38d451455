// Lanes: the messages of one session run one after the other, sessions of one agent side by side, all agents in turn.

/** What a lane carries. */
export interface Queued {
  /** Grows with the order of arrival. */
  id: string;
  agentId: string;
  sessionId: string;
}

export interface LaneLimits {
  /** Sessions of one agent that run at once. */
  perAgent: number;
  /** Turns in flight over all agents. */
  inFlight: number;
  /** Entries of one agent held in memory; what is beyond waits in the database. */
  inMemory: number;
}

export const LANE_LIMITS: LaneLimits = { perAgent: 4, inFlight: 512, inMemory: 256 };

export interface Lanes<Entry extends Queued> {
  /** Lines an entry up. Returns at once. */
  push(entry: Entry): void;
  /** Entries that wait or run, held in memory. */
  size(): number;
  /** Forgets what waits for this agent; what runs goes on. */
  drop(agentId: string): void;
  /** Takes nothing new from now on and resolves when what runs has ended. */
  drain(): Promise<void>;
}

interface Deps<Entry extends Queued> {
  /** Runs one entry to its end; must not reject. `again` puts it back at the head of its session after so many ms. */
  run(entry: Entry): Promise<{ again: number } | undefined>;
  /** The next entries of an agent that come after this one, oldest first, from the database. */
  load(agentId: string, after: string, limit: number): Promise<Entry[]>;
  /** A page could not be read; it is tried again. */
  failed(error: unknown): void;
  limits?: LaneLimits;
}

interface AgentLanes<Entry> {
  sessions: Map<string, Entry[]>;
  /** Sessions that could start now, in order. */
  ready: string[];
  running: number;
  held: number;
  /** The newest entry that was ever held: what is behind it in the database was not seen yet. */
  last: string;
  /** Some entries are only in the database. */
  overflow: boolean;
  loading: boolean;
  /** Something was pushed while a page was on its way, and may not be in it. */
  missed: boolean;
}

/** After a page could not be read, in ms. */
const RELOAD_AFTER = 1_000;

/**
 * Fairness: agents with something ready take turns, one entry each, so that ten thousand messages for one agent delay
 * another's by one turn at most. Nothing here is durable: the inbox is.
 */
export function createLanes<Entry extends Queued>({
  run,
  load,
  failed,
  limits = LANE_LIMITS,
}: Deps<Entry>): Lanes<Entry> {
  const agents = new Map<string, AgentLanes<Entry>>();
  /** Agents with a ready session and a free place, in turn. A Set keeps the order and each agent once. */
  const turns = new Set<string>();
  let inFlight = 0;
  let draining = false;
  let drained: (() => void) | undefined;

  function lanesOf(agentId: string): AgentLanes<Entry> {
    let lanes = agents.get(agentId);
    if (!lanes) {
      lanes = {
        sessions: new Map(),
        ready: [],
        running: 0,
        held: 0,
        last: "",
        overflow: false,
        loading: false,
        missed: false,
      };
      agents.set(agentId, lanes);
    }
    return lanes;
  }

  function hold(lanes: AgentLanes<Entry>, entry: Entry): void {
    const session = lanes.sessions.get(entry.sessionId);
    lanes.held++;
    lanes.last = entry.id;
    if (session) session.push(entry);
    else {
      lanes.sessions.set(entry.sessionId, [entry]);
      lanes.ready.push(entry.sessionId);
    }
  }

  function pump(): void {
    for (const agentId of turns) {
      if (inFlight >= limits.inFlight || draining) return;
      turns.delete(agentId);
      const lanes = agents.get(agentId);
      const sessionId = lanes?.ready.shift();
      if (!lanes || sessionId === undefined) continue;
      const entry = lanes.sessions.get(sessionId)?.[0];
      if (!entry) continue;
      lanes.running++;
      inFlight++;
      if (lanes.ready.length > 0 && lanes.running < limits.perAgent) turns.add(agentId);
      void run(entry).then((outcome) => finished(lanes, entry, outcome?.again));
    }
  }

  function finished(lanes: AgentLanes<Entry>, entry: Entry, again: number | undefined): void {
    lanes.running--;
    inFlight--;
    const session = lanes.sessions.get(entry.sessionId);
    if (again !== undefined && session?.[0] === entry) {
      // The session waits with its head in place; other sessions of the agent go on.
      setTimeout(() => {
        if (lanes.sessions.get(entry.sessionId) === session) ready(lanes, entry);
      }, again).unref();
    } else if (session?.[0] === entry) {
      session.shift();
      lanes.held--;
      if (session.length > 0) lanes.ready.push(entry.sessionId);
      else lanes.sessions.delete(entry.sessionId);
    }
    if (lanes.overflow && lanes.held < limits.inMemory / 4) void refill(entry.agentId, lanes);
    if (lanes.ready.length > 0) turns.add(entry.agentId);
    else if (lanes.held === 0 && lanes.running === 0 && !lanes.overflow) agents.delete(entry.agentId);
    pump();
    if (draining && inFlight === 0) drained?.();
  }

  function ready(lanes: AgentLanes<Entry>, entry: Entry): void {
    lanes.ready.push(entry.sessionId);
    if (lanes.running < limits.perAgent) turns.add(entry.agentId);
    pump();
  }

  async function refill(agentId: string, lanes: AgentLanes<Entry>): Promise<void> {
    if (lanes.loading) return;
    lanes.loading = true;
    lanes.missed = false;
    let page: Entry[];
    try {
      page = await load(agentId, lanes.last, limits.inMemory);
    } catch (error) {
      failed(error);
      setTimeout(() => void refill(agentId, lanes), RELOAD_AFTER).unref();
      return;
    } finally {
      lanes.loading = false;
    }
    if (agents.get(agentId) !== lanes) return;
    lanes.overflow = lanes.missed || page.length === limits.inMemory;
    if (page.length === 0 && lanes.missed) setTimeout(() => void refill(agentId, lanes), 0);
    for (const entry of page) hold(lanes, entry);
    if (lanes.ready.length > 0 && lanes.running < limits.perAgent) turns.add(agentId);
    if (lanes.held === 0 && lanes.running === 0 && !lanes.overflow) agents.delete(agentId);
    pump();
  }

  return {
    push(entry) {
      const lanes = lanesOf(entry.agentId);
      if (lanes.overflow || lanes.loading || lanes.held >= limits.inMemory) {
        lanes.overflow = true;
        lanes.missed = lanes.loading;
        return;
      }
      hold(lanes, entry);
      if (lanes.ready.length > 0 && lanes.running < limits.perAgent) turns.add(entry.agentId);
      pump();
    },
    size: () => [...agents.values()].reduce((sum, { held }) => sum + held, 0),
    drop(agentId) {
      agents.delete(agentId);
      turns.delete(agentId);
    },
    drain() {
      draining = true;
      if (inFlight === 0) return Promise.resolve();
      return new Promise((resolve) => {
        drained = resolve;
      });
    },
  };
}
