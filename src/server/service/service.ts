// What the listeners serve: one cell over the database of this machine, or this machine's part of a cluster.
import type { Surface } from "../../kernel/http/surface.ts";
import type { Log } from "../../kernel/telemetry/log.ts";
import type { App } from "../app.ts";
import type { RunCommand } from "../control-socket.ts";
import { type CellOptions, type FirstAdmin, findFirstAdmin, openCell } from "./cell.ts";

export interface Service {
  readonly log: Log;
  readonly web: Surface;
  readonly backend: Surface;
  readonly runCommand: RunCommand;
  /** Undefined on a machine of a cluster that does not own the cell. */
  readonly defaultModel: () => Promise<Awaited<ReturnType<App["defaultModel"]>> | undefined>;
  /** In a cluster: what this machine does, in words. */
  place?(): string;
  readonly firstAdmin: FirstAdmin;
  /** In a cluster: the hosts of the machines that are alive. */
  peers?(): readonly string[];
  /** Called once the listeners take requests for it. */
  opened?(): void;
  /** In a cluster: gives what this machine owns to another one, while the listeners still take requests. */
  handOver?(): Promise<void>;
  /** Before a hand-over, while requests are still answered: does what would otherwise keep them waiting. */
  prepareHandOver?(): Promise<void>;
  /** Ends the work of plugins. Called while the last requests are handled. */
  stop(): Promise<void>;
  /** Ends jobs, once the last requests are handled. */
  stopJobs(): Promise<void>;
  /** Closes what is left, once no connection is open. */
  close(): Promise<void>;
}

export async function openLocalService(options: CellOptions): Promise<Service> {
  const { kernel, app, runCommand } = await openCell(options);
  return {
    log: kernel.log,
    web: app.web,
    backend: app.backend,
    runCommand,
    defaultModel: app.defaultModel,
    firstAdmin: options.config.role === "backend" ? { kind: "exists" } : await findFirstAdmin(app),
    prepareHandOver: kernel.database.checkpoint,
    stop: app.stop,
    stopJobs: kernel.jobs.stop,
    close: kernel.close,
  };
}
