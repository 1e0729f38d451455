// The state machine of agents as a table: the status after each operation, by the status before it.
import type { AgentStatus } from "../agents/index.ts";

export const OPERATIONS = ["start", "stop", "restart", "update", "rollback", "repair", "reset-memory"] as const;
export type Operation = (typeof OPERATIONS)[number];

/** Whether an operation reconnects the bots of an agent that is up after it. */
type Connections = "keep" | "renew";

export interface Transition {
  /** The status after a success, by the status before. Every operation is accepted in every status. */
  readonly to: Readonly<Record<AgentStatus, AgentStatus>>;
  readonly connections: Connections;
  /** Whether the runtime's health check must pass first. */
  readonly check: boolean;
}

const always = (status: AgentStatus) => ({ running: status, active: status, stopped: status, error: status });

/** A stopped agent stays stopped; any other is up, also one that was in error. */
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

/** The reason in the log of an agent that is stopped with its owner's account. */
export const OWNER_DISABLED_REASON = "its owner's account was disabled";
