// The life cycle of an agent as one table: what each operation makes of each status, and how it comes up.
import type { AgentStatus } from "../agents/index.ts";

export const OPERATIONS = ["start", "stop", "restart", "update", "rollback", "repair", "reset-memory"] as const;
export type Operation = (typeof OPERATIONS)[number];

/** What an operation does with the connections of an agent that is up after it: leave them, or begin them anew. */
type Connections = "keep" | "renew";

export interface Transition {
  /** The status after a success, by the one before. Every operation is accepted from every status. Contract §5. */
  readonly to: Readonly<Record<AgentStatus, AgentStatus>>;
  readonly connections: Connections;
  /** Asks the agent's runtime whether it is well before it says so. */
  readonly check: boolean;
}

const always = (status: AgentStatus) => ({ running: status, active: status, stopped: status, error: status });

/** As it was: what runs goes on, what is stopped stays so; what had failed has come up again. */
const UP_UNLESS_STOPPED = { ...always("active"), stopped: "stopped" } as const;
const UNCHANGED = { running: "running", active: "active", stopped: "stopped", error: "error" } as const;

export const TRANSITIONS: Readonly<Record<Operation, Transition>> = {
  start: { to: always("active"), connections: "keep", check: true },
  stop: { to: always("stopped"), connections: "keep", check: false },
  restart: { to: always("active"), connections: "renew", check: true },
  update: { to: always("active"), connections: "keep", check: true },
  rollback: { to: UP_UNLESS_STOPPED, connections: "keep", check: false },
  repair: { to: UP_UNLESS_STOPPED, connections: "renew", check: true },
  "reset-memory": { to: UNCHANGED, connections: "keep", check: false },
};

/** Why an agent is stopped whose owner may not have it run, as its log says it. */
export const OWNER_DISABLED_REASON = "its owner's account was disabled";
