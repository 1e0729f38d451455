// The continuous copy as a part of the running service. Nothing of it is loaded as long as BACKUP_CONTINUOUS is off.

import type { Config, Environment } from "../../../kernel/config/config.ts";
import type { KernelSeams } from "../../../kernel/kernel.ts";
import type { Kernel } from "../../../kernel/plugin.ts";
import type { App } from "../../app.ts";
import type { CopyProcess } from "./copy-process.ts";
import { isContinuous } from "./is-continuous.ts";

/** What keeps the log of a cell's database. */
export async function keepLogOf(config: Config): Promise<KernelSeams["keepLog"]> {
  if (!isContinuous(config)) return undefined;
  const { createLogKeeper } = await import("./log-keeper.ts");
  return createLogKeeper;
}

/** The first cell copies all. */
export async function startContinuousCopy(
  { config, cells }: Pick<Kernel, "config" | "cells">,
  env: Environment,
  instance: App["instance"],
): Promise<CopyProcess | undefined> {
  if (!isContinuous(config) || (cells !== undefined && cells.here !== 0)) return undefined;
  const listener = await instance.listenToCopy();
  const { startCopyProcess } = await import("./copy-process.ts");
  return startCopyProcess(env, listener);
}
