// Builds the application over an empty temporary folder, for programs that ask it about itself.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig } from "../kernel/config/config.ts";
import { openKernel } from "../kernel/kernel.ts";
import { type App, createApp } from "./app.ts";
import { allSettings } from "./settings.ts";

/** Calls `use` with an application that has no settings and is not started, and removes its folder afterwards. */
export async function withTemporaryApp<T>(use: (app: App) => Promise<T>): Promise<T> {
  const dir = await mkdtemp(join(tmpdir(), "berth-app-"));
  try {
    const kernel = await openKernel(
      loadConfig({ DATA_DIR: dir, LOG_LEVEL: "error" }, { cwd: dir, settings: allSettings }),
    );
    try {
      return await use(createApp(kernel));
    } finally {
      await kernel.close();
    }
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}
