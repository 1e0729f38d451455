// Brings agents to the state they should be in when Berth starts: finishes updates that a kill cut off, retries agents.
import type { Kernel, ServiceOf } from "../../src/kernel/plugin.ts";
import type { KeyedQueue } from "../../src/kernel/util/keyed-queue.ts";
import type { Agent, agents as agentsPlugin } from "../agents/index.ts";
import type { runtime as runtimePlugin } from "../runtime/index.ts";
import type { RuntimeRegistry } from "./runtime-registry.ts";
import type { UpdateJournal, UpdateRecord } from "./updates/update-journal.ts";
import type { Updater } from "./updates/updater.ts";

export interface Reconciler {
  /** Whether a killed process left an update of this agent open that `reconcile` has not ended yet. */
  isHeld(agentId: string): boolean;
  /** Lets no turn begin of agents with an unfinished update until `reconcile` is done with them. */
  holdUnfinishedUpdates(): Promise<void>;
  /** Ends unfinished updates, and retries the agents that should be up and are not. */
  reconcile(): Promise<void>;
}

/** Agents that are reconciled at once. */
const CONCURRENCY = 8;

interface Deps extends Pick<Kernel, "log"> {
  agents: Pick<ServiceOf<typeof agentsPlugin>, "find" | "listToReconcile">;
  runtime: Pick<ServiceOf<typeof runtimePlugin>, "holdTurns">;
  runtimes: Pick<RuntimeRegistry, "versions">;
  updateJournal: Pick<UpdateJournal, "listUnfinished">;
  updater: Pick<Updater, "finish">;
  runQueued: KeyedQueue;
  /** Stops an agent whose owner's account is disabled; false for any other. */
  stopIfOwnerDisabled(agent: Agent): Promise<boolean>;
  retry(agentId: string): Promise<void>;
}

export function createReconciler(deps: Deps): Reconciler {
  const { agents, runtime, runtimes, updateJournal, updater, runQueued, stopIfOwnerDisabled, retry, log } = deps;
  /** Functions that let turns of these agents begin again. */
  const holdReleases = new Map<string, () => void>();

  /** The error of one agent must not keep the others from coming up. */
  const logError = (agentId: string) => (error: unknown) =>
    log.error("an agent could not be reconciled", { agentId, error });

  async function finishUpdate(unfinished: UpdateRecord): Promise<void> {
    const { agentId } = unfinished;
    try {
      await runQueued(agentId, async () => {
        await updater.finish(unfinished).catch(logError(agentId));
        const agent = await agents.find(agentId);
        if (agent) await stopIfOwnerDisabled(agent);
      });
      if ((await agents.find(agentId))?.status === "error") await retry(agentId);
    } catch (error) {
      logError(agentId)(error);
    } finally {
      holdReleases.get(agentId)?.();
      holdReleases.delete(agentId);
    }
  }

  return {
    isHeld: (agentId) => holdReleases.has(agentId),

    async holdUnfinishedUpdates() {
      for (const { agentId } of await updateJournal.listUnfinished()) {
        holdReleases.set(agentId, runtime.holdTurns(agentId));
      }
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
              retry(id).catch(logError(id)),
        ),
      ];
      // Several workers take from one iterator, so that an agent that hangs delays few others.
      const remaining = tasks.values();
      const runTasks = async () => {
        for (const task of remaining) await task();
      };
      await Promise.all(Array.from({ length: CONCURRENCY }, runTasks));
    },
  };
}
