// The privacy plugin: deletes what is old, and gives out or erases a person's data, for operators by commands and for owners by routes.
import { lateCommands } from "../../src/kernel/late-commands.ts";
import { plugin } from "../../src/kernel/plugin.ts";
import { once } from "../../src/kernel/util/cache.ts";
import { HOUR } from "../../src/kernel/util/time.ts";
import { agents } from "../agents/index.ts";
import { ai } from "../ai/index.ts";
import { auth } from "../auth/index.ts";
import { channels } from "../channels/index.ts";
import { backupSettings } from "../fleet/settings.ts";
import { lifecycle } from "../lifecycle/index.ts";
import { runtime } from "../runtime/index.ts";
import { skills } from "../skills/index.ts";
import { uploads } from "../uploads/index.ts";
import { AUDIT_OF, ERASE_JOB, PRUNED_JOB, SCRUB_JOB } from "./jobs.ts";
import { SUBJECTS } from "./person/sealed-subject.ts";

export type { Receipt } from "./person/receipt.ts";
export type { KeptReport, PruneReport, PruneSlice } from "./prune-commands.ts";

export const privacy = plugin("privacy", ({ kernel, use }) => {
  const services = {
    accounts: use(auth),
    agents: use(agents),
    ai: use(ai),
    channels: use(channels),
    lifecycle: use(lifecycle),
    runtime: use(runtime),
    uploads: use(uploads),
    memories: use(skills).memories,
  };
  const { keep } = kernel.config.of(backupSettings);
  let isStarted = false;
  let storeList = () => Promise.resolve();

  /** Loaded with the first command. */
  const people = once(async () =>
    (await import("./person/people.ts")).createPeople({
      ...kernel,
      ...services,
      keep,
      isStarted: () => isStarted,
      storeList: () => storeList(),
    }),
  );
  kernel.keyRotation.registerColumn(SUBJECTS);
  kernel.keyRotation.register("list of erasures", {
    reseal: async () => (await people()).reseal(),
    // It is no text of the database.
    findText: "SELECT 1 WHERE ?1 IS NULL",
  });
  // After a kill, and where the command that began it has gone away.
  kernel.jobs.handle(ERASE_JOB, async (payload) => void (await (await people()).finish(payload)), { timeoutMs: HOUR });

  kernel.jobs.handle(PRUNED_JOB, async (payload) =>
    (await import("./prune-record.ts")).createPruneRecord(kernel).writeEnded(payload),
  );

  kernel.jobs.handle(SCRUB_JOB, async () => void (await (await people()).scrub()), { concurrency: 1, timeoutMs: HOUR });

  kernel.cells?.answer(AUDIT_OF, async (userId) =>
    (await import("./person/export.ts")).readAuditOf(kernel.database, userId),
  );

  const { guards } = services.agents;
  return {
    service: {
      /** Sets what copies the list of erasures to where backups are kept. */
      registerListStorage(store: () => Promise<void>): void {
        storeList = store;
      },
      commands: {
        ...lateCommands(["prune.report", "prune.compact", "prune.slice"], async () =>
          (await import("./prune-commands.ts")).createPruneCommands(kernel),
        ),
        ...lateCommands(
          ["person.erase", "person.export", "person.verify", "person.reapply"],
          async () => (await people()).commands,
        ),
      },
    },
    lateRoutes: {
      web: [
        async () =>
          (await import("./owner/routes.ts")).webRoutes({
            ...kernel,
            identities: services.accounts.identities,
            guards,
          }),
      ],
      backend: [
        async () =>
          (await import("./owner/routes.ts")).backendRoutes({ guards, people: async () => (await people()).ofAgents }),
      ],
    },
    start() {
      isStarted = true;
    },
  };
});
