// Updates an agent's runtime: writes a backup, tries the new runtime, and restores the backup if the agent is not
// healthy.
import { AppError } from "../../../src/kernel/errors.ts";
import type { Kernel, ServiceOf } from "../../../src/kernel/plugin.ts";
import type { Agent, agents as agentsPlugin } from "../../agents/index.ts";
import type { runtime as runtimePlugin } from "../../runtime/index.ts";
import type { AgentBackups } from "../backups/agent-backups.ts";
import { imageOf, type RuntimeRegistry } from "../runtime-registry.ts";
import { TRANSITIONS } from "../transitions.ts";
import type { UpdateJournal, UpdateRecord } from "./update-journal.ts";

export interface UpdateResult {
  agent: Agent;
  image: string;
  previousImage: string;
  /** Relative to the data folder. */
  backupPath: string;
}

/** Both methods run while the agent has no turns: restoring the backup would delete what turns wrote meanwhile. */
export interface Updater {
  /**
   * Throws 500 `UPDATE_ROLLED_BACK` when the backup was restored, 500 `ROLLBACK_FAILED` when it was not: the agent is
   * in `error`.
   */
  update(agent: Agent, version: string): Promise<UpdateResult>;
  /** Completes or undoes an update that a killed process left open. Throws 500 `ROLLBACK_FAILED` as `update` does. */
  finish(unfinished: UpdateRecord): Promise<void>;
}

interface Deps extends Pick<Kernel, "log"> {
  agents: Pick<ServiceOf<typeof agentsPlugin>, "require" | "setStatus">;
  runtime: Pick<ServiceOf<typeof runtimePlugin>, "whileQuiesced">;
  runtimes: RuntimeRegistry;
  backups: AgentBackups;
  updateJournal: UpdateJournal;
  /** Adds a line to the agent's log. */
  logToAgent(agentId: string, level: "info" | "error", message: string): void;
}

export function createUpdater({ agents, runtime, runtimes, backups, updateJournal, logToAgent, log }: Deps): Updater {
  async function undo({ agentId, backupPath, previousVersion }: UpdateRecord): Promise<void> {
    try {
      // The update has not changed the status, so the restore is the only write: a kill leaves the update open or
      // undone.
      await backups.restore(agentId, backupPath, [updateJournal.endStatement(agentId)]);
    } catch (cause) {
      // A removed agent has no backups either: then the error is 404.
      await agents.require(agentId);
      throw await markUnrecoverable(agentId, backupPath, cause);
    }
    logToAgent(agentId, "error", `update: rolled back to ${imageOf(previousVersion)}; nothing was lost`);
  }

  /** Ends the update without undoing it: an undo at a later start would delete messages that came since then. */
  async function markUnrecoverable(agentId: string, backupPath: string, cause: unknown): Promise<AppError> {
    const explanation = cause instanceof AppError ? cause.message : "The operator finds the reason in the log.";
    const reason = `The update failed and could not be undone. ${explanation}`;
    log.error("an update could not be undone", { agentId, backupPath, error: cause });
    logToAgent(agentId, "error", `update: ${reason} Its backup is ${backupPath}.`);
    await agents.setStatus(agentId, "error", { reason, statementsAfter: [updateJournal.endStatement(agentId)] });
    return new AppError(500, "ROLLBACK_FAILED", reason, { backupPath }, { cause });
  }

  async function complete(agentId: string): Promise<Agent> {
    const agent = await agents.require(agentId);
    await runtimes.check(agent);
    const status = TRANSITIONS.update.to[agent.status];
    await agents.setStatus(agentId, status, {
      hasRestarted: true,
      statementsAfter: [updateJournal.endStatement(agentId)],
    });
    return agents.require(agentId);
  }

  return {
    update: ({ id: agentId, runtimeVersion: previousVersion, status, statusReason }, version) =>
      runtime.whileQuiesced(agentId, async () => {
        const { path: backupPath } = await backups.write(agentId, "update");
        const record = { agentId, backupPath, previousVersion, previousStatus: status };
        const statusChange = { ...(statusReason !== null && { reason: statusReason }), runtimeVersion: version };
        await agents.setStatus(agentId, status, {
          ...statusChange,
          statementsAfter: [updateJournal.beginStatement(record)],
        });
        try {
          const agent = await complete(agentId);
          logToAgent(agentId, "info", `update: from ${imageOf(previousVersion)} to ${imageOf(version)}`);
          return { agent, image: imageOf(version), previousImage: imageOf(previousVersion), backupPath };
        } catch (error) {
          await undo(record);
          const text = `The update was rolled back. ${error instanceof AppError ? error.message : ""}`.trim();
          throw new AppError(500, "UPDATE_ROLLED_BACK", text, { backupPath }, { cause: error });
        }
      }),

    finish: (unfinished) =>
      runtime.whileQuiesced(unfinished.agentId, async () => {
        try {
          await complete(unfinished.agentId);
          logToAgent(unfinished.agentId, "info", "update: completed after a restart of Berth");
        } catch (error) {
          log.warn("an interrupted update is undone", { agentId: unfinished.agentId, error });
          await undo(unfinished);
        }
      }),
  };
}
