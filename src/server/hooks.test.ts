// Holds the table of hooks in docs/architecture.md against the services of the built plugins.
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { placeMigratedDatabase } from "../../tests/support/migrated.ts";
import { temporaryDir } from "../../tests/support/process.ts";
import { loadConfig } from "../kernel/config/config.ts";
import { openKernel } from "../kernel/kernel.ts";
import { plugin } from "../kernel/plugin.ts";
import { createApp } from "./app.ts";

/** Names of functions that register a hook. */
const HOOK_NAME = /^(?:on[A-Z]|before[A-Z]|register|add\w+Gauge$|set\w+Loader$|refuse\w+While$)/;
/** Functions with such a name that are themselves registered as a hook. */
const NOT_HOOKS = ["channels.beforeAgentRemoval"];
/** Hooks with an ordinary name. */
const KERNEL_HOOKS = [
  "kernel.jobs.handle",
  "kernel.jobs.every",
  "kernel.metrics.measured",
  "kernel.retention.register",
];

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;

/** The hooks of a service, and of the objects in it. Route macros, which are Elysia's own objects, are left out. */
function hooksOf(path: string, service: unknown): string[] {
  if (!isRecord(service) || path.endsWith(".guards")) return [];
  return Object.entries(service).flatMap(([name, member]) => {
    const own = `${path}.${name}`;
    if (typeof member === "function") return HOOK_NAME.test(name) && !NOT_HOOKS.includes(own) ? [own] : [];
    return hooksOf(own, member);
  });
}

async function registeredHooks(): Promise<string[]> {
  const dir = temporaryDir();
  await placeMigratedDatabase(dir.path);
  const kernel = await openKernel(loadConfig({ DATA_DIR: dir.path, LOG_LEVEL: "error" }, { cwd: dir.path }));
  const app = readFileSync(join(import.meta.dir, "app.ts"), "utf8");
  const plugins = [...app.matchAll(/plugins\/([\w-]+)\/index\.ts/g)].map(([, name = ""]) => name);
  let found: string[] = [];
  const inspector = plugin("inspector", (host) => {
    found = plugins.flatMap((name) => hooksOf(name, host.named(name)));
    return { service: undefined };
  });
  try {
    createApp(kernel, [inspector]);
    return [...found, ...hooksOf("kernel.keyRotation", kernel.keyRotation), ...KERNEL_HOOKS];
  } finally {
    await kernel.close();
    dir.remove();
  }
}

test("docs/architecture.md lists every hook that a plugin can register, and no other", async () => {
  const text = readFileSync(join(import.meta.dir, "../../docs/architecture.md"), "utf8");
  const [, section = ""] = /^## Hooks\n(.*?)^## /ms.exec(text) ?? [];
  const listed = [...section.matchAll(/^\| `([^`]+)`/gm)].map(([, name = ""]) => name);
  expect(listed.toSorted()).toEqual((await registeredHooks()).toSorted());
});
