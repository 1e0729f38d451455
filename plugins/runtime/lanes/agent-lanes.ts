// Holds the lanes of one agent: their entries in memory, and the state of scheduling and loading them.

export interface AgentLanes<Entry> {
  /** By name. The head of a lane stays in place while it runs or waits for its next try. */
  lanes: Map<string, Entry[]>;
  /** Names of lanes that can run now, in order. */
  ready: string[];
  running: Set<string>;
  /** Slots that stay empty for now, after an entry of a long queue. */
  coolingDown: number;
  /** Ids of the entries in the lanes. */
  heldIds: Set<string>;
  /** The database may have entries that are not in memory. */
  moreInDatabase: boolean;
  loading: boolean;
  /** The agent can't work: nothing is loaded until it is resumed. */
  paused: boolean;
  /** Times it was resumed. */
  resumeCount: number;
  /** An entry was stored since the current load began. */
  arrivedDuringLoad: boolean;
  /** Waiting entries were dropped since the current load began: its page may name entries that have run meanwhile. */
  loadOutdated: boolean;
  /** Callers of `quiesce` that have not released the agent. */
  quiesceRequests: number;
  /** Called when nothing runs. */
  idleWaiters: (() => void)[];
}

export const createAgentLanes = <Entry>(): AgentLanes<Entry> => ({
  lanes: new Map(),
  ready: [],
  running: new Set(),
  coolingDown: 0,
  heldIds: new Set(),
  moreInDatabase: false,
  loading: false,
  paused: false,
  resumeCount: 0,
  arrivedDuringLoad: false,
  loadOutdated: false,
  quiesceRequests: 0,
  idleWaiters: [],
});

/** Slots in use: by running entries, and by the cooldown after them. */
export const slotsInUse = (agent: AgentLanes<unknown>) => agent.running.size + agent.coolingDown;

/** Appends an entry to the lane with this name. */
export function appendEntry<Entry extends { id: string }>(agent: AgentLanes<Entry>, name: string, entry: Entry): void {
  const lane = agent.lanes.get(name);
  agent.heldIds.add(entry.id);
  if (lane) lane.push(entry);
  else {
    agent.lanes.set(name, [entry]);
    agent.ready.push(name);
  }
}

/** Removes the waiting entries from memory; running ones stay. */
export function dropWaiting<Entry extends { id: string }>(agent: AgentLanes<Entry>): void {
  for (const [name, lane] of agent.lanes) {
    for (const { id } of lane.splice(agent.running.has(name) ? 1 : 0)) agent.heldIds.delete(id);
    if (lane.length === 0) agent.lanes.delete(name);
  }
  agent.ready = [];
  agent.moreInDatabase = false;
  agent.loadOutdated = true;
}
