// What is done to an agent over its life, one thing after the other, and what brings it up again by itself.
import { AppError } from "../../src/kernel/errors.ts";
import type { Kernel, ServiceOf } from "../../src/kernel/plugin.ts";
import type { KeyedQueue } from "../../src/kernel/util/keyed-queue.ts";
import { type Agent, agentNotFound, type agents as agentsPlugin, RUNTIME_VERSION } from "../agents/index.ts";
import type { auth } from "../auth/index.ts";
import type { channels as channelsPlugin } from "../channels/index.ts";
import type { runtime as runtimePlugin } from "../runtime/index.ts";
import type { AgentBackups } from "./backups/agent-backups.ts";
import type { RepairModel } from "./model-repair.ts";
import { imageOf, type RuntimeRegistry } from "./runtime-registry.ts";
import { type Operation, OWNER_DISABLED_REASON, TRANSITIONS } from "./transitions.ts";
import type { UpdateJournal, UpdateRecord } from "./updates/update-journal.ts";
import { createUpdater, type UpdateResult } from "./updates/updater.ts";

export interface UpdateRequest {
  image?: string | undefined;
  version?: string | undefined;
}

/**
 * Each answers what the interface says of its success, and throws what it says of its failures. Nothing brings up an agent
 * whose owner's account is disabled: 409 `ACCOUNT_DISABLED`.
 */
export interface Operations {
  start(agentId: string): Promise<Agent>;
  /** `why` is for the agent's log, where it is not by somebody's wish. */
  stop(agentId: string, reason?: string): Promise<Agent>;
  restart(agentId: string): Promise<{ agent: Agent; modelRepair: string | undefined }>;
  update(agentId: string, request: UpdateRequest): Promise<UpdateResult>;
  rollback(agentId: string, backupPath: string): Promise<Agent>;
  repair(agentId: string): Promise<{ agent: Agent; repaired: string[] }>;
  resetMemory(agentId: string): Promise<{ backupPath: string }>;
  /** Whether an update of it is under way, or was cut off by a kill and has not been ended yet. */
  isUpdating(agentId: string): boolean;
  /** Lets no turn begin of agents whose update a killed process left open, until `reconcile` is done with them. */
  holdUnfinishedUpdates(): Promise<void>;
  /** Ends what a killed process left half done, and tries again what should be up and is not. */
  reconcile(): Promise<void>;
  close(): void;
}

const FIRST_RETRY_MS = 1_000;
const MAX_RETRY_MS = 5 * 60_000;
/** Agents that are looked after at once at a start. */
const RECONCILE_CONCURRENCY = 8;

interface Deps extends Pick<Kernel, "log"> {
  agents: Pick<
    ServiceOf<typeof agentsPlugin>,
    "find" | "setStatus" | "listToReconcile" | "log" | "onChange" | "onDelete"
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
  const { agents, channels, runtime, users, runtimes, backups, updateJournal, repairModel, runQueued, log } = deps;
  const activeUpdates = new Set<string>();
  const retries = new Map<string, { timer: Timer; failures: number }>();
  /** Ends the hold of each. */
  const holdReleases = new Map<string, () => void>();
  let closed = false;

  const logToAgent = (agentId: string, level: "info" | "error", message: string) =>
    agents.log(agentId, level, message, "lifecycle");

  const updater = createUpdater({ ...deps, logToAgent });

  async function requireAgent(agentId: string): Promise<Agent> {
    const agent = await agents.find(agentId);
    if (!agent) throw agentNotFound();
    return agent;
  }

  /** Its agents are stopped, after what is under way. See `owners.ts`. */
  async function isDisabled({ userId }: Agent): Promise<boolean> {
    const owner = await users.byId(userId);
    return owner !== undefined && owner.disabledAt !== null;
  }

  async function requireEnabledOwner(agent: Agent): Promise<void> {
    if (!(await isDisabled(agent))) return;
    throw new AppError(409, "ACCOUNT_DISABLED", "The account of this agent's owner is disabled. Enable it first.");
  }

  /** Brings an agent to where this operation leads, or puts it in `error`, from where it is tried again. */
  async function applyTransition(agent: Agent, operation: Operation, reason?: string): Promise<Agent> {
    const { to, connections, check } = TRANSITIONS[operation];
    const status = to[agent.status];
    const isUp = status === "running" || status === "active";
    if (isUp) await requireEnabledOwner(agent);
    if (isUp && check) {
      try {
        await runtimes.check(agent);
      } catch (error) {
        await recordFailure(agent, error);
        throw error;
      }
    }
    clearRetry(agent.id);
    await agents.setStatus(agent.id, status, { hasRestarted: isUp && operation !== "start" });
    const changedAgent = await requireAgent(agent.id);
    if (isUp && connections === "renew") await channels.reconnect(agent.id);
    logToAgent(
      agent.id,
      "info",
      `${operation}: the agent is ${status}${reason === undefined ? "" : `, because ${reason}`}`,
    );
    return changedAgent;
  }

  async function recordFailure(agent: Agent, error: unknown): Promise<void> {
    const reason = error instanceof AppError ? error.message : "The agent could not come up.";
    log.warn("an agent could not come up", { agentId: agent.id, error });
    logToAgent(agent.id, "error", reason);
    // What it should be stays as it was, but for a stopped one: somebody wants it up now.
    const wantUpStatements = agent.status === "stopped" ? [{ sql: SET_WANTED_UP, args: [agent.id] }] : [];
    await agents.setStatus(agent.id, "error", { reason, statementsAfter: wantUpStatements });
    retryLater(agent.id);
  }

  function retryLater(agentId: string): void {
    if (closed) return;
    const failures = (retries.get(agentId)?.failures ?? 0) + 1;
    clearTimeout(retries.get(agentId)?.timer);
    const delay = Math.min(MAX_RETRY_MS, FIRST_RETRY_MS * 2 ** (failures - 1)) * (0.75 + Math.random() / 2);
    const timer = setTimeout(() => {
      retry(agentId).catch((error: unknown) => log.error("an agent could not be tried again", { agentId, error }));
    }, delay).unref();
    retries.set(agentId, { timer, failures });
  }

  function clearRetry(agentId: string): void {
    clearTimeout(retries.get(agentId)?.timer);
    retries.delete(agentId);
  }

  /** In its turn, unless somebody has stopped it or brought it up meanwhile. */
  const retry = (agentId: string) =>
    runQueued(agentId, async () => {
      const agent = await agents.find(agentId);
      if (agent?.wanted !== "up" || closed) return clearRetry(agentId);
      try {
        if (await isDisabled(agent)) await applyTransition(agent, "stop", OWNER_DISABLED_REASON);
        else await applyTransition(agent, "start");
      } catch (error) {
        // Recorded, with the next try.
        if (!(error instanceof AppError)) throw error;
      }
    });

  /** One agent's trouble keeps no other from coming up. */
  const logReconcileError = (agentId: string) => (error: unknown) =>
    log.error("an agent could not be reconciled", { agentId, error });

  async function finishUpdate(unfinished: UpdateRecord): Promise<void> {
    const { agentId } = unfinished;
    try {
      await runQueued(agentId, async () => {
        await updater.finish(unfinished).catch(logReconcileError(agentId));
        const agent = await agents.find(agentId);
        if (agent && (await isDisabled(agent))) await applyTransition(agent, "stop", OWNER_DISABLED_REASON);
      });
      if ((await agents.find(agentId))?.status === "error") await retry(agentId);
    } catch (error) {
      logReconcileError(agentId)(error);
    } finally {
      holdReleases.get(agentId)?.();
      holdReleases.delete(agentId);
    }
  }

  agents.onDelete(clearRetry);

  return {
    start: (agentId) => runQueued(agentId, async () => applyTransition(await requireAgent(agentId), "start")),

    stop: (agentId, reason) =>
      runQueued(agentId, async () => {
        const agent = await requireAgent(agentId);
        // What is not by somebody's wish is told once, however often it is tried.
        return reason !== undefined && agent.status === "stopped" ? agent : applyTransition(agent, "stop", reason);
      }),

    restart: (agentId) =>
      runQueued(agentId, async () => {
        const agent = await requireAgent(agentId);
        const modelRepair = await repairModel(agent);
        if (modelRepair) logToAgent(agentId, "info", modelRepair);
        return { agent: await applyTransition(agent, "restart"), modelRepair };
      }),

    async update(agentId, request) {
      const version = runtimes.resolveVersion(request);
      if (activeUpdates.has(agentId)) {
        const text = "This agent is being updated already. Wait until that has ended.";
        throw new AppError(409, "OPERATION_IN_PROGRESS", text);
      }
      activeUpdates.add(agentId);
      try {
        return await runQueued(agentId, async () => {
          const agent = await requireAgent(agentId);
          await requireEnabledOwner(agent);
          try {
            const updated = await updater.update(agent, version);
            clearRetry(agentId);
            return updated;
          } catch (error) {
            if (error instanceof AppError && error.code === "ROLLBACK_FAILED") retryLater(agentId);
            throw error;
          }
        });
      } finally {
        activeUpdates.delete(agentId);
      }
    },

    rollback: (agentId, backupPath) =>
      runQueued(agentId, async () => {
        const agent = await requireAgent(agentId);
        await backups.withBackup(agentId, backupPath, async ({ runtimeVersion: backupVersion }) => {
          const isAvailable = runtimes.versions().includes(backupVersion);
          await runtime.whileQuiesced(agentId, async () => {
            await backups.write(agentId);
            await backups.restore(
              agentId,
              backupPath,
              isAvailable ? [] : [{ sql: SET_RUNTIME_VERSION, args: [RUNTIME_VERSION, agentId] }],
            );
          });
          const text = `rollback: ${imageOf(backupVersion)} is not carried here, so the agent has ${imageOf(RUNTIME_VERSION)}`;
          if (!isAvailable) logToAgent(agentId, "info", text);
        });
        return applyTransition(agent, "rollback");
      }),

    repair: (agentId) =>
      runQueued(agentId, async () => {
        const agent = await requireAgent(agentId);
        const repairs = await runtime.whileQuiesced(agentId, () => backups.repair(agentId));
        const modelRepair = await repairModel(agent);
        const repaired = modelRepair ? [...repairs, modelRepair] : repairs;
        for (const what of repaired) logToAgent(agentId, "info", `repair: ${what}`);
        return { agent: await applyTransition(agent, "repair"), repaired };
      }),

    resetMemory: (agentId) =>
      runQueued(agentId, async () => {
        await requireAgent(agentId);
        // What turns in flight still say is in the backup too.
        const path = await runtime.whileQuiesced(agentId, async () => {
          const { path } = await backups.write(agentId);
          await backups.eraseMemory(agentId);
          return path;
        });
        logToAgent(agentId, "info", `reset-memory: sessions and memory are gone; a backup is at ${path}`);
        return { backupPath: path };
      }),

    isUpdating: (agentId) => activeUpdates.has(agentId) || holdReleases.has(agentId),

    async holdUnfinishedUpdates() {
      for (const { agentId } of await updateJournal.listUnfinished())
        holdReleases.set(agentId, runtime.holdTurns(agentId));
    },

    async reconcile() {
      const unfinishedUpdates = await updateJournal.listUnfinished();
      const unfinishedIds = new Set(unfinishedUpdates.map(({ agentId }) => agentId));
      const others = (await agents.listToReconcile(runtimes.versions())).filter(({ id }) => !unfinishedIds.has(id));
      const tasks = [
        ...unfinishedUpdates.map((unfinished) => () => finishUpdate(unfinished)),
        ...others.map(
          ({ id }) =>
            () =>
              retry(id).catch(logReconcileError(id)),
        ),
      ];
      // One that hangs keeps few others waiting.
      const remaining = tasks.values();
      const runTasks = async () => {
        for (const task of remaining) await task();
      };
      await Promise.all(Array.from({ length: RECONCILE_CONCURRENCY }, runTasks));
    },

    close() {
      closed = true;
      for (const agentId of [...retries.keys()]) clearRetry(agentId);
    },
  };
}

const SET_RUNTIME_VERSION = "UPDATE agents SET runtime_version = ? WHERE id = ?";
const SET_WANTED_UP = "UPDATE agents SET wanted = 'up' WHERE id = ?";
