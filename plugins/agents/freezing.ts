// Freezes agents for admins: a frozen agent is stopped until the freeze ends, whatever its owner or an operation does, and has
// the status of before again afterwards. Agents freeze by themselves, or with their owner's account.
import { GuardFailed, guard, type Statement } from "../../src/kernel/database/database.ts";
import { AppError } from "../../src/kernel/errors.ts";
import type { Kernel } from "../../src/kernel/plugin.ts";
import type { AgentHooks } from "./agent-hooks.ts";
import type { Agent, AgentStatus, AgentStore } from "./agent-store.ts";
import type { LogStore } from "./logs/log-store.ts";

/** Handled where the backend runs, which has the turns and connections in memory. */
const FREEZE_JOB = "agents.freeze-changed";

interface FreezeJob {
  agentId?: string;
  userId?: string;
}

export interface Freezing {
  /** Freezes one agent; one that is frozen gets the new reason, if it is another. Throws 404 `AGENT_NOT_FOUND`. */
  freeze(agentId: string, reason: string, more: Statement[]): Promise<Agent>;
  /** Ends the freeze of one agent; it stays paused while its owner's account is frozen. Throws 404 `AGENT_NOT_FOUND`. */
  unfreeze(agentId: string, more: Statement[]): Promise<Agent>;
  /** The listener runs as a job after an agent was frozen, or may go on, where the backend runs, at least once. */
  onFreezeChanged(listener: (agent: Agent) => Promise<void>): void;
  /** Enqueues the job of those listeners. */
  changedStatement(scope: FreezeJob): Statement;
  /** Freezes all agents of an account (`reason`), or ends that (null), in the write that changes the account. */
  ownerStatements(userId: string, reason: string | null): Promise<Statement[]>;
}

/** Whether an admin has frozen this agent, or the account of its owner. */
export const isFrozen = ({ thawedStatus }: Pick<Agent, "thawedStatus">) => thawedStatus !== null;

/** The status that an agent has, or has again once it is frozen no longer. */
export const unfrozenStatus = ({ thawedStatus, status }: Pick<Agent, "thawedStatus" | "status">): AgentStatus =>
  thawedStatus ?? status;

/** Whether messages to this agent are stored: also of a frozen one, which answers them later. */
export const takesMessages = (agent: Pick<Agent, "thawedStatus" | "status">) => unfrozenStatus(agent) !== "stopped";

export const agentFrozenError = () =>
  new AppError(
    409,
    "AGENT_FROZEN",
    "The operator of this service has paused this agent. Messages that wait are answered when it goes on; ask the operator when.",
  );

const PAUSED = `thawed_status = coalesce(thawed_status, status), status = 'stopped', wanted = 'down'`;
/** `holds`: whether the agent stays frozen for another cause, whose reason is `reason`. */
const resumed = (holds: string, reason: string) => `status = iif(${holds}, status, thawed_status),
  wanted = iif(${holds} OR thawed_status = 'stopped', 'down', 'up'),
  started_at = iif(${holds} OR thawed_status NOT IN ('running', 'active'), started_at, ?2),
  status_reason = iif(${holds}, ${reason}, NULL),
  thawed_status = iif(${holds}, thawed_status, NULL)`;

const FREEZE = `UPDATE agents SET frozen_at = coalesce(frozen_at, ?2), frozen_reason = ?3, status_reason = ?3, updated_at = ?2, ${PAUSED}
  WHERE id = ?1 AND frozen_reason IS NOT ?3`;
const UNFREEZE = `UPDATE agents SET frozen_at = NULL, frozen_reason = NULL, updated_at = ?2,
  ${resumed("owner_frozen", "(SELECT frozen_reason FROM users WHERE id = user_id)")} WHERE id = ?1 AND frozen_at IS NOT NULL`;
const FREEZE_OWNED = `UPDATE agents SET owner_frozen = 1, status_reason = coalesce(frozen_reason, ?3), updated_at = ?2, ${PAUSED}
  WHERE user_id = ?1 AND (NOT owner_frozen OR status_reason IS NOT coalesce(frozen_reason, ?3))`;
const UNFREEZE_OWNED = `UPDATE agents SET owner_frozen = 0, updated_at = ?2, ${resumed("frozen_at IS NOT NULL", "frozen_reason")}
  WHERE user_id = ?1 AND owner_frozen`;

type Deps = Pick<Kernel, "database" | "events" | "jobs"> & {
  hooks: Pick<AgentHooks, "notifyChanged">;
  agents: Pick<AgentStore, "find" | "require" | "list">;
  logs: Pick<LogStore, "add">;
};

export function createFreezing({ database, events, jobs, hooks, agents, logs }: Deps): Freezing {
  const listeners: ((agent: Agent) => Promise<void>)[] = [];

  /** The event of an agent that is paused, or goes on; none where another freeze holds it. */
  function statusEvents({ id, userId, name, ...agent }: Agent, reason: string | null, holds: boolean): Statement[] {
    if (holds) return [];
    const status = reason === null ? unfrozenStatus(agent) : "stopped";
    return [events.recordStatement("agent.status", { userId, agentId: id, data: { id, name, status, reason } })];
  }

  const changedStatement = (scope: FreezeJob) => jobs.enqueueStatement(FREEZE_JOB, scope);

  function afterChange(agentId: string, reason: string | null): void {
    hooks.notifyChanged(agentId);
    if (reason === null) logs.add(agentId, "info", "unfreeze: the operator has ended a freeze", "lifecycle");
    else logs.add(agentId, "warning", `freeze: the operator has paused the agent: ${reason}`, "lifecycle");
  }

  async function change(agentId: string, reason: string | null, more: Statement[]): Promise<Agent> {
    const agent = await agents.require(agentId);
    const change: Statement = {
      ...(reason === null
        ? { sql: UNFREEZE, args: [agentId, Date.now()] }
        : { sql: FREEZE, args: [agentId, Date.now(), reason] }),
      after: () => afterChange(agentId, reason),
    };
    try {
      const told = [...statusEvents(agent, reason, agent.ownerFrozen), changedStatement({ agentId })];
      await database.write([change, guard("freeze"), ...told, ...more]);
    } catch (error) {
      if (!(error instanceof GuardFailed && error.guard === "freeze")) throw error;
    }
    return agents.require(agentId);
  }

  async function agentsOf({ agentId, userId }: FreezeJob): Promise<Agent[]> {
    if (userId !== undefined) return agents.list(userId);
    const agent = agentId === undefined ? undefined : await agents.find(agentId);
    return agent ? [agent] : [];
  }

  // The process that made the change has notified its own listeners by then; with split roles it is another one.
  jobs.handle(FREEZE_JOB, async (payload) => {
    const changed = await agentsOf(payload as FreezeJob);
    for (const { id } of changed) hooks.notifyChanged(id);
    for (const agent of changed) for (const listener of listeners) await listener(agent);
  });

  return {
    changedStatement,
    onFreezeChanged: (listener) => void listeners.push(listener),
    freeze: change,
    unfreeze: (agentId, more) => change(agentId, null, more),

    async ownerStatements(userId, reason) {
      const owned = await agents.list(userId);
      const after = () => {
        for (const { id } of owned) afterChange(id, reason);
      };
      return [
        {
          sql: reason === null ? UNFREEZE_OWNED : FREEZE_OWNED,
          args: [userId, Date.now(), ...(reason === null ? [] : [reason])],
          after,
        },
        ...owned.flatMap((agent) => statusEvents(agent, reason, agent.frozenAt !== null)),
        changedStatement({ userId }),
      ];
    },
  };
}
