// Performs the life-cycle operations of agents, one at a time for each agent.
import { AppError } from "../../src/kernel/errors.ts";
import type { Kernel, ServiceOf } from "../../src/kernel/plugin.ts";
import type { KeyedQueue } from "../../src/kernel/util/keyed-queue.ts";
import {
  type Agent,
  agentFrozenError,
  agentNotFound,
  type agents as agentsPlugin,
  isFrozen,
  isUp,
  operationInProgress,
  RUNTIME_VERSION,
  unfrozenStatus,
} from "../agents/index.ts";
import type { auth } from "../auth/index.ts";
import type { channels as channelsPlugin } from "../channels/index.ts";
import type { runtime as runtimePlugin } from "../runtime/index.ts";
import type { AgentBackups, ListedBackup } from "./backups/agent-backups.ts";
import { formatModelRepair, type ModelRepair, type RepairModel } from "./model-repair.ts";
import { createReconciler, type Reconciler } from "./reconciler.ts";
import { createRetryTimers } from "./retry-timers.ts";
import { imageOf, type RuntimeRegistry } from "./runtime-registry.ts";
import { type Operation, OWNER_DISABLED_REASON, TRANSITIONS } from "./transitions.ts";
import type { UpdateJournal } from "./updates/update-journal.ts";
import { createUpdater, type UpdateResult } from "./updates/updater.ts";

export interface UpdateRequest {
  image?: string | undefined;
  version?: string | undefined;
}

/**
 * The operations; `OPERATION_DOCS` in model.ts lists the errors of each. No operation brings up an agent that is frozen (409
 * `AGENT_FROZEN`), or whose owner's account is disabled (409 `ACCOUNT_DISABLED`).
 */
export interface Operations extends Pick<Reconciler, "holdUnfinishedUpdates" | "reconcile"> {
  start(agentId: string): Promise<Agent>;
  /** `reason` completes the line in the agent's log, for a stop that its owner did not request. */
  stop(agentId: string, reason?: string): Promise<Agent>;
  restart(agentId: string): Promise<{ agent: Agent; modelRepair: ModelRepair | undefined }>;
  update(agentId: string, request: UpdateRequest): Promise<UpdateResult>;
  rollback(agentId: string, backupPath: string): Promise<Agent>;
  repair(agentId: string): Promise<{ agent: Agent; repaired: string[] }>;
  resetMemory(agentId: string): Promise<{ backupPath: string }>;
  /** Writes a backup after the operations that are queued for the agent. */
  backUp(agentId: string): Promise<ListedBackup>;
  listBackups(agentId: string): Promise<ListedBackup[]>;
  /** Whether an update of the agent is under way, or was cut off by a kill and not ended yet. */
  isUpdating(agentId: string): boolean;
  close(): void;
}

interface Deps extends Pick<Kernel, "log"> {
  agents: Pick<
    ServiceOf<typeof agentsPlugin>,
    "find" | "require" | "setStatus" | "listToReconcile" | "log" | "onDelete" | "onFreezeChanged"
  >;
  channels: Pick<ServiceOf<typeof channelsPlugin>, "reconnect">;
  runtime: Pick<ServiceOf<typeof runtimePlugin>, "whileQuiesced" | "holdTurns">;
  users: Pick<ServiceOf<typeof auth>["users"], "byId">;
  runtimes: RuntimeRegistry;
  backups: AgentBackups;
  updateJournal: UpdateJournal;
  repairModel: RepairModel;
  runQueued: KeyedQueue;
}

export function createOperations(deps: Deps): Operations {
  const { agents, channels, runtime, users, runtimes, backups, repairModel, runQueued, log } = deps;
  const activeUpdates = new Set<string>();
  const retryTimers = createRetryTimers(log, (agentId) => retry(agentId));

  const logToAgent = (agentId: string, level: "info" | "error", message: string) =>
    agents.log(agentId, level, message, "lifecycle");

  const updater = createUpdater({ ...deps, logToAgent });

  async function isDisabled({ userId }: Agent): Promise<boolean> {
    const owner = await users.byId(userId);
    return owner !== undefined && owner.disabledAt !== null;
  }

  /** Throws 409 `AGENT_FROZEN`, or `ACCOUNT_DISABLED` for an agent that may not come up. */
  async function requireEnabledOwner(agent: Agent): Promise<void> {
    if (isFrozen(agent)) throw agentFrozenError();
    if (!(await isDisabled(agent))) return;
    throw new AppError(409, "ACCOUNT_DISABLED", "The account of this agent's owner is disabled. Enable it first.");
  }

  async function requireUnfrozen(agentId: string): Promise<Agent> {
    const agent = await agents.require(agentId);
    if (isFrozen(agent)) throw agentFrozenError();
    return agent;
  }

  /** Moves an agent to the operation's status; if its health check fails, to `error`, and schedules a retry. */
  async function applyTransition(agent: Agent, operation: Operation, reason?: string): Promise<Agent> {
    const { to, connections, check } = TRANSITIONS[operation];
    const status = to[unfrozenStatus(agent)];
    const willBeUp = isUp(status);
    if (willBeUp) await requireEnabledOwner(agent);
    if (willBeUp && check) {
      try {
        await runtimes.check(agent);
      } catch (error) {
        await recordFailure(agent, error);
        throw error;
      }
    }
    retryTimers.clear(agent.id);
    await agents.setStatus(agent.id, status, { hasRestarted: willBeUp && operation !== "start" });
    const changedAgent = await agents.require(agent.id);
    if (willBeUp && connections === "renew") await channels.reconnect(agent.id);
    if (reason === undefined) logToAgent(agent.id, "info", `${operation}: the agent is ${status}`);
    else logToAgent(agent.id, "info", `${operation}: the agent is ${status}, because ${reason}`);
    return changedAgent;
  }

  async function recordFailure(agent: Agent, error: unknown): Promise<void> {
    const reason = error instanceof AppError ? error.message : "The agent could not come up.";
    log.warn("an agent could not come up", { agentId: agent.id, error });
    logToAgent(agent.id, "error", reason);
    // A stopped agent was wanted down; the operation that failed now wants it up.
    await agents.setStatus(agent.id, "error", { reason, ...(agent.status === "stopped" && { wanted: "up" }) });
    retryTimers.schedule(agent.id);
  }

  async function stopIfOwnerDisabled(agent: Agent): Promise<boolean> {
    if (!(await isDisabled(agent))) return false;
    await applyTransition(agent, "stop", OWNER_DISABLED_REASON);
    return true;
  }

  /** Starts an agent that is still wanted up, after the operations that are queued for it. */
  const retry = (agentId: string) =>
    runQueued(agentId, async () => {
      const agent = await agents.find(agentId);
      if (agent?.wanted !== "up" || retryTimers.isClosed()) return retryTimers.clear(agentId);
      try {
        if (!(await stopIfOwnerDisabled(agent))) await applyTransition(agent, "start");
      } catch (error) {
        // `applyTransition` has recorded it and scheduled the next retry.
        if (!(error instanceof AppError)) throw error;
      }
    });

  const reconciler = createReconciler({ ...deps, updater, stopIfOwnerDisabled, retry });
  agents.onDelete(retryTimers.clear);
  // An agent that was in an error when it was frozen is tried again.
  agents.onFreezeChanged(async ({ id, status }) => {
    if (status === "error") await retry(id);
  });

  return {
    start: (agentId) => runQueued(agentId, async () => applyTransition(await agents.require(agentId), "start")),

    stop: (agentId, reason) =>
      runQueued(agentId, async () => {
        const agent = await agents.require(agentId);
        // A stop that the owner did not request may be repeated; it is logged once.
        return reason !== undefined && unfrozenStatus(agent) === "stopped"
          ? agent
          : applyTransition(agent, "stop", reason);
      }),

    restart: (agentId) =>
      runQueued(agentId, async () => {
        const agent = await requireUnfrozen(agentId);
        const modelRepair = await repairModel(agent);
        if (modelRepair) logToAgent(agentId, "info", formatModelRepair(modelRepair));
        return { agent: await applyTransition(agent, "restart"), modelRepair };
      }),

    async update(agentId, request) {
      const version = runtimes.resolveVersion(request);
      if (activeUpdates.has(agentId)) throw operationInProgress();
      activeUpdates.add(agentId);
      try {
        return await runQueued(agentId, async () => {
          const agent = await agents.require(agentId);
          await requireEnabledOwner(agent);
          try {
            const updated = await updater.update(agent, version);
            retryTimers.clear(agentId);
            return updated;
          } catch (error) {
            if (error instanceof AppError && error.code === "ROLLBACK_FAILED") retryTimers.schedule(agentId);
            throw error;
          }
        });
      } finally {
        activeUpdates.delete(agentId);
      }
    },

    rollback: (agentId, backupPath) =>
      runQueued(agentId, async () => {
        const agent = await requireUnfrozen(agentId);
        await backups.withBackup(agentId, backupPath, async ({ runtimeVersion: backupVersion }) => {
          const isAvailable = runtimes.versions().includes(backupVersion);
          await runtime.whileQuiesced(agentId, async () => {
            await backups.write(agentId, "rollback");
            await backups.restore(
              agentId,
              backupPath,
              isAvailable ? [] : [{ sql: SET_RUNTIME_VERSION, args: [RUNTIME_VERSION, agentId] }],
            );
          });
          const text = `rollback: ${imageOf(backupVersion)} is not in this binary, so the agent uses ${imageOf(RUNTIME_VERSION)}`;
          if (!isAvailable) logToAgent(agentId, "info", text);
        });
        return applyTransition(agent, "rollback");
      }),

    repair: (agentId) =>
      runQueued(agentId, async () => {
        const agent = await requireUnfrozen(agentId);
        const repairs = await runtime.whileQuiesced(agentId, () => backups.repair(agentId));
        const modelRepair = await repairModel(agent);
        const repaired = modelRepair ? [...repairs, formatModelRepair(modelRepair)] : repairs;
        for (const line of repaired) logToAgent(agentId, "info", `repair: ${line}`);
        return { agent: await applyTransition(agent, "repair"), repaired };
      }),

    resetMemory: (agentId) =>
      runQueued(agentId, async () => {
        await agents.require(agentId);
        // The backup is written after the turns in flight have ended, so that it has their replies.
        const path = await runtime.whileQuiesced(agentId, async () => {
          const { path } = await backups.write(agentId, "reset-memory");
          await backups.eraseMemory(agentId);
          return path;
        });
        logToAgent(agentId, "info", `reset-memory: sessions and memory were deleted; a backup is at ${path}`);
        return { backupPath: path };
      }),

    backUp: (agentId) =>
      runQueued(agentId, async () => {
        const { path } = await backups.write(agentId, "manual");
        const written = (await backups.list(agentId)).find((backup) => backup.path === path);
        if (!written) throw agentNotFound();
        return written;
      }),

    listBackups: backups.list,

    isUpdating: (agentId) => activeUpdates.has(agentId) || reconciler.isHeld(agentId),

    holdUnfinishedUpdates: reconciler.holdUnfinishedUpdates,
    reconcile: reconciler.reconcile,
    close: retryTimers.close,
  };
}

const SET_RUNTIME_VERSION = "UPDATE agents SET runtime_version = ? WHERE id = ?";
