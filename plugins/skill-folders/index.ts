// The plugin of skills as folders: accounts install them, operators share them, agents load them when a task fits.
import { plugin } from "../../src/kernel/plugin.ts";
import { HOUR, SECOND } from "../../src/kernel/util/time.ts";
import { agents } from "../agents/index.ts";
import { auth } from "../auth/index.ts";
import { sandbox } from "../sandbox/index.ts";
import { skills } from "../skills/index.ts";
import { createFolderSource } from "./agent/folder-source.ts";
import { folderBackupRows } from "./backup-rows.ts";
import { skillFolderSettings } from "./settings.ts";
import { createInstalledSkills } from "./store/installed-skills.ts";
import { createLoadedSkills } from "./store/loaded-skills.ts";
import { createSharedFolders } from "./store/shared-folders.ts";

/** How often shared folders are looked at. */
const REFRESH_MS = 10 * SECOND;

export const skillFolders = plugin("skill-folders", ({ kernel, use }) => {
  const agentService = use(agents);
  const skillService = use(skills);
  const { identities, users, onAccountReclaim, beforeDeletion } = use(auth);
  const { sharedDir } = kernel.config.of(skillFolderSettings);
  const installed = createInstalledSkills(kernel);
  const shared = createSharedFolders({ dir: sharedDir, log: kernel.log });

  const refreshShared = async () => {
    if (await shared.refresh()) skillService.invalidate();
  };
  const folders = createFolderSource({
    installed,
    shared,
    refreshShared,
    loaded: createLoadedSkills(kernel),
    sandbox: use(sandbox),
    ownerOf: async (agentId) => (await agentService.find(agentId))?.userId,
    enabledIds: async (agentId) =>
      new Set((await skillService.list(agentId)).flatMap(({ id, enabled }) => (enabled ? [id] : []))),
  });
  skillService.register(folders.source);

  // A stranger may have installed them in an account that the owner of its address takes over.
  onAccountReclaim((userId) => [{ ...installed.removeAllStatement(userId), after: () => skillService.invalidate() }]);
  beforeDeletion(async ({ user }) => {
    await installed.deleteAll(user.id);
    return [];
  });
  kernel.jobs.every("skill-folders.sweep", HOUR, () => installed.deleteRemoved());

  async function onChanged(userId: string): Promise<void> {
    for (const { id } of await agentService.list(userId)) skillService.invalidate(id);
  }

  /** Made at first use: most services install no skills. */
  async function loadInstallation() {
    const [{ createInstallation }, { createFolderReader }] = await Promise.all([
      import("./installation.ts"),
      import("./reading/folder-reader.ts"),
    ]);
    return createInstallation({ ...kernel, installed, readFolder: createFolderReader(), users, onChanged });
  }
  let installation: ReturnType<typeof loadInstallation> | undefined;
  const requireInstallation = () => (installation ??= loadInstallation());

  let timer: Timer | undefined;
  return {
    service: {
      backupRows: folderBackupRows,
      /** Installs the skill in a zip for an account, as `Installation.installNew` does. */
      installNew: async (userId: string, zip: Uint8Array<ArrayBuffer>) =>
        (await requireInstallation()).installNew(userId, zip),
    },
    lateRoutes: {
      web: [
        async () => {
          const [{ webRoutes }, { createSkillDetails }] = await Promise.all([
            import("./routes.ts"),
            import("./skill-details.ts"),
          ]);
          return webRoutes({
            ...kernel,
            identities,
            details: createSkillDetails({ source: folders, installed }),
            installation: await requireInstallation(),
          });
        },
      ],
    },
    start() {
      if (sharedDir === undefined) return;
      timer = setInterval(() => {
        refreshShared().catch((error) => kernel.log.warn("shared skills could not be read again", { error }));
      }, REFRESH_MS);
      timer.unref();
    },
    stop: () => clearInterval(timer),
  };
});
