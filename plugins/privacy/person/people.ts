// Puts together what the commands of `berth person`, and the routes for owners, need from the other plugins.
import { readdirSync } from "node:fs";
import { AppError } from "../../../src/kernel/errors.ts";
import type { Kernel, ServiceOf } from "../../../src/kernel/plugin.ts";
import { DAY } from "../../../src/kernel/util/time.ts";
import type { agents } from "../../agents/index.ts";
import type { ai } from "../../ai/index.ts";
import type { auth } from "../../auth/index.ts";
import type { channels } from "../../channels/index.ts";
import type { lifecycle } from "../../lifecycle/index.ts";
import type { runtime } from "../../runtime/index.ts";
import type { skills } from "../../skills/index.ts";
import type { uploads } from "../../uploads/index.ts";
import { createAgentPeople } from "../owner/agent-people.ts";
import { createAccountErasure } from "./account.ts";
import { createPersonCommands } from "./commands.ts";
import { createErasures } from "./erasure.ts";
import { createErasureList } from "./erasure-list.ts";
import type { ExportDeps } from "./export.ts";
import { createPastErasures } from "./past-erasures.ts";
import type { Remains } from "./remains.ts";
import { createScrub } from "./scrub.ts";

export interface PeopleDeps extends Pick<Kernel, "config" | "vault" | "database" | "jobs" | "audit" | "log" | "cells"> {
  accounts: ServiceOf<typeof auth>;
  agents: ServiceOf<typeof agents>;
  ai: ServiceOf<typeof ai>;
  channels: ServiceOf<typeof channels>;
  lifecycle: ServiceOf<typeof lifecycle>;
  runtime: ServiceOf<typeof runtime>;
  uploads: ServiceOf<typeof uploads>;
  memories: ServiceOf<typeof skills>["memories"];
  /** How long backups of the whole service are kept; undefined: until somebody deletes them. */
  keep: { count: number; forMs: number | undefined } | undefined;
  /** Copies the list of erasures to where backups are kept. */
  storeList(): Promise<void>;
  /** Whether turns run in this process. A command without a service starts none. */
  isStarted(): boolean;
}

export function createPeople(deps: PeopleDeps) {
  const { accounts, agents, ai, channels, lifecycle, runtime, uploads, memories, keep, isStarted } = deps;
  const list = createErasureList(deps);
  const scrub = createScrub(deps);

  /** Copies of the database that a restore has kept beside it. */
  function keptCopies(isForOwner: boolean): Remains {
    const kept = readdirSync(deps.config.dataDir).filter((name) => /\.replaced-/.test(name));
    if (kept.length === 0) return [];
    const what = isForOwner ? "copies of the database beside it" : kept.join(", ");
    const why = "a restore has kept them in the data folder; the operator deletes them";
    return [{ what, why, until: null }];
  }

  function backupsUntil(): Remains[number] {
    const what = "backups of the whole service that were made before; what is restored from one is erased again";
    if (!keep) return { what, why: "no setting deletes them", until: null };
    const until = keep.forMs === undefined ? null : new Date(Date.now() + keep.forMs).toISOString();
    const why = `BACKUP_KEEP keeps ${keep.count}${keep.forMs === undefined ? "" : `, BACKUP_KEEP_FOR ${Math.ceil(keep.forMs / DAY)} days`}`;
    return { what, why, until };
  }

  let storing = Promise.resolve();
  /** One after the other: they write the same file. */
  function storeList(): Promise<void> {
    const stored = storing.then(deps.storeList);
    storing = stored.catch(() => undefined);
    return stored;
  }

  const erasures = createErasures({
    ...deps,
    list,
    storeList,
    whileQuiesced: (agentId, work) => (isStarted() ? runtime.whileQuiesced(agentId, work) : work()),
    async removeUpload(agentId, id) {
      await uploads.remove(agentId, id).catch((error: unknown) => {
        // A kill came between the deletion and its record.
        if (!(error instanceof AppError && error.status === 404)) throw error;
      });
    },
    forgetFacts: memories.invalidate,
    forgetApprovals: channels.forgetApprovals,
    forgetResponses: ai.forgetResponses,
    flushLogs: agents.logs.flush,
    removeBackups: lifecycle.removeBackupsSince,
    writeBackup: async (agentId) => void (await lifecycle.writeBackup(agentId)),
    removeAccount: createAccountErasure({ ...deps, users: accounts.users, deleteAccount: accounts.deleteAccount }),
    copies: (isForOwner) => [backupsUntil(), ...keptCopies(isForOwner)],
    scrub,
  });
  const past = createPastErasures({ ...deps, list });
  const exporting: ExportDeps = {
    ...deps,
    agentsOfAccount: agents.list,
    exportAgent: (agent) => lifecycle.exportAgent(agent, { history: true }),
    readUpload: uploads.read,
  };

  const commands = createPersonCommands({
    ...deps,
    list,
    erasures,
    past,
    accountOf: accounts.administration.byEmail,
    beginRemoval: accounts.administration.beginRemoval,
    exporting,
  });

  return {
    commands,
    reseal: list.reseal,
    scrub: scrub.now,
    ofAgents: createAgentPeople({ ...deps, list, erasures, past, exporting }),
    finish: (payload: unknown) => erasures.finish(String((payload as { id: string }).id)),
  };
}
