// Opens a cell: the kernel over one database, and the app over it, with their work begun. It has no listeners.
import { backupSettings } from "../../../plugins/fleet/settings.ts";
import type { Config, Environment } from "../../kernel/config/config.ts";
import { type KernelSeams, openKernel, type RunningKernel } from "../../kernel/kernel.ts";
import { once } from "../../kernel/util/cache.ts";
import { type App, createApp } from "../app.ts";
import { createCommandHandlers, type RunCommand, runCommandOf } from "../control-socket.ts";
import type { ExternalPlugins } from "../external-plugins.ts";
import { runAll } from "./run-all.ts";

export interface OpenCell {
  readonly kernel: RunningKernel;
  readonly app: App;
  readonly runCommand: RunCommand;
}

export interface CellOptions {
  config: Config;
  /** For what runs in a process of its own. */
  env: Environment;
  external: ExternalPlugins;
  /** Files of third-party plugins that the command line names, beside PLUGINS. */
  pluginFiles: readonly string[];
  seams?: KernelSeams;
}

const yieldToEventLoop = () => new Promise<void>((resolve) => setImmediate(resolve));

/**
 * Opens the database, builds the plugins and starts their work, except for that of a web surface alone. It yields to the event
 * loop between its steps, so that /healthz responds meanwhile. Throws StartError, with everything closed again.
 */
export async function openCell({ config, env, external, seams }: CellOptions): Promise<OpenCell> {
  // Not asked of the module that does it, which would be loaded at every start.
  const isCopied = config.of(backupSettings).continuousMs !== undefined;
  const continuous = isCopied ? await import("../backups/continuous/service-copy.ts") : undefined;
  const keepLog = await continuous?.keepLogOf(config);
  const opened = await openKernel(config, {
    ...seams,
    ...(keepLog && { keepLog }),
    // What it keeps in memory may be wrong from then on, and it must not answer its bots beside the other one.
    ...(config.database.remote && config.role !== "web" && { backend: { onLost: () => process.exit(1) } }),
  });
  const undo: (() => unknown)[] = [];
  const kernel: RunningKernel = { ...opened, close: () => runAll([opened.close, ...undo.splice(0)]) };
  let app: App | undefined;
  try {
    await yieldToEventLoop();
    app = createApp(kernel, external.plugins);
    registerInstance(app, kernel, env, external);
    await app.prepareExternal();
    await kernel.keyRotation.requireKeys();
    await yieldToEventLoop();
    if (config.role !== "web") {
      await app.check();
      await kernel.jobs.start();
      await app.start();
      const copy = await continuous?.startContinuousCopy(kernel, env, app.instance);
      if (copy) undo.push(copy.stop);
    }
    return { kernel, app, runCommand: runCommandOf(createCommandHandlers(kernel, app)) };
  } catch (error) {
    const steps = [() => app?.stop(), () => kernel.jobs.stop(config.shutdownGraceMs), () => kernel.close()];
    await runAll(steps).catch((closeError: unknown) =>
      kernel.log.error("what was started could not be closed", { error: closeError }),
    );
    throw error;
  }
}

/** Registers the work that plugins can't do themselves. Imported at its first use, since few admins need it. */
function registerInstance(
  { instance, people }: App,
  { config, log, cells }: RunningKernel,
  env: Environment,
  { settings }: ExternalPlugins,
): void {
  const startedAt = Date.now();
  instance.registerSettingsReport(async () =>
    (await import("../settings-report.ts")).settingsReport(env, process.cwd(), startedAt, settings),
  );
  people.registerListStorage(async () =>
    (await import("../backups/erasure-lists.ts")).storeErasuresBesideBackups(config, cells?.here ?? 0),
  );
  const work = once(async () =>
    (await import("../backups/backup-process.ts")).createBackupWork(config, env, (text) => log.warn(text)),
  );
  instance.registerBackupWork({
    make: async (options) => (await work()).make(options),
    list: async () => (await work()).list(),
    read: async (name) => (await work()).read(name),
    remove: async (name) => (await work()).remove(name),
  });
}

export type FirstAdmin = { kind: "link"; link: string } | { kind: "exists" } | { kind: "none" };

/** The link that creates the first account as an admin; or whether an account is an admin already. */
export async function findFirstAdmin({ accounts }: App): Promise<FirstAdmin> {
  const link = await accounts.createFirstAdminLink();
  if (link !== undefined) return { kind: "link", link };
  return { kind: (await accounts.administration.hasAdmin()) ? "exists" : "none" };
}
