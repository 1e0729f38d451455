// Checks the structure of the project: the direction of imports, cycles, the size of folders, and what the kernel knows.
import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";

const root = join(import.meta.dir, "../..");
const files = [...new Bun.Glob("{src,plugins,channels,migrations}/**/*.ts").scanSync(root)].filter(
  // The contract suites are tests too: every channel's adapter runs them.
  (path) => !path.endsWith(".test.ts") && !path.startsWith("channels/contract/"),
);
const source = new Map(files.map((path) => [path, readFileSync(join(root, path), "utf8")]));

/** The most source files that one folder may hold, tests not counted. */
const MAX_FILES_PER_FOLDER = 15;

/** Paths and ids of capabilities, which the kernel must not know. */
const CAPABILITY_NAME = /\/hooks\/|\/live\/|["'`]\/a\/|channel_|provider_|telegram|discord|whatsapp/i;

interface Arrow {
  from: string;
  /** A file of the project, or the name of a package. */
  to: string;
  /** Erased by the compiler. */
  typeOnly: boolean;
}

const importPattern =
  /^\s*(?<kind>import|export)\s+(?<type>type\s)?[^;"'`]*?\bfrom\s*"(?<from>[^"]+)"|^\s*import\s*"(?<bare>[^"]+)"|\bimport\(\s*"(?<lazy>[^"]+)"/gm;

/** Returns every import of a file, also type-only and dynamic ones. */
function importsOf(path: string, text: string): Arrow[] {
  return [...text.matchAll(importPattern)].flatMap(({ groups = {} }) => {
    const to = groups.from ?? groups.bare ?? groups.lazy;
    if (to === undefined) return [];
    const target = to.startsWith(".") ? normalize(join(dirname(path), to)) : to;
    return { from: path, to: target, typeOnly: groups.type !== undefined };
  });
}

/** Returns the layer that a file belongs to. */
function layerOf(path: string): string {
  if (path === "src/server/main.ts" || path.startsWith("src/server/commands/")) return "main";
  if (path === "src/server/app.ts" || path.startsWith("src/server/api/")) return "app";
  if (path.startsWith("src/server/")) return "serve";
  if (path === "src/cluster/settings.ts" || path === "src/cluster/nats/nats-address.ts") return "cluster settings";
  if (path.startsWith("src/cluster/")) return "cluster";
  const [top = ""] = path.split("/");
  return { src: "kernel", plugins: "plugins", channels: "channels", migrations: "migrations" }[top] ?? "package";
}

const allowedTargets: Record<string, string[]> = {
  main: ["main", "serve", "app", "cluster", "cluster settings", "plugins", "kernel", "migrations", "package"],
  serve: ["serve", "app", "cluster", "cluster settings", "plugins", "kernel", "migrations", "package"],
  cluster: ["cluster", "cluster settings", "kernel", "package"],
  "cluster settings": ["cluster settings", "kernel"],
  app: ["app", "plugins", "kernel", "package"],
  plugins: ["plugins", "channels", "kernel", "package"],
  channels: ["channels", "kernel", "package"],
  kernel: ["kernel", "migrations", "package"],
  migrations: ["migrations"],
};

const REGISTRY = "channels/registry.ts";
/** The types that every channel is written against. */
const SHARED_BY_CHANNELS = ["channels/port.ts", "channels/definition.ts"];
const OPEN_TO_PLUGINS = [REGISTRY, ...SHARED_BY_CHANNELS];
/** Utilities, the places of threads, and the declarations of settings, which the row of a channel needs. */
const KERNEL_OF_CHANNELS = /^src\/kernel\/(util\/|worker-path\.ts$|config\/(parsers|section|variable)\.ts$)/;

/** Describes the rule that an arrow breaks; undefined when it is allowed. */
function violationOf({ from, to }: Arrow): string | undefined {
  const [fromLayer, toLayer] = [layerOf(from), layerOf(to)];
  if (!allowedTargets[fromLayer]?.includes(toLayer)) return `${from} → ${to}: ${fromLayer} must not import ${toLayer}`;
  const [fromFolder, toFolder] = [from.split("/")[1], to.split("/")[1]];
  if (
    fromLayer === "plugins" &&
    toLayer === "plugins" &&
    fromFolder !== toFolder &&
    // Settings are data without behaviour, so that they can be shared without a cycle of plugins.
    !/^plugins\/[^/]+\/(index|settings)\.ts$/.test(to)
  ) {
    return `${from} → ${to}: another plugin is imported only through its index.ts or settings.ts`;
  }
  if (fromLayer === "channels" && toLayer === "kernel" && !KERNEL_OF_CHANNELS.test(to)) {
    return `${from} → ${to}: a channel imports only the kernel's utilities and declarations of settings`;
  }
  if (fromLayer === "plugins" && toLayer === "channels" && fromFolder !== "channels" && !OPEN_TO_PLUGINS.includes(to)) {
    return `${from} → ${to}: a plugin imports only the registry of channels and its types`;
  }
  const isOwnFile =
    fromFolder === toFolder ||
    (from === "channels/documentation.ts" && to === REGISTRY) ||
    (from === REGISTRY && to === `channels/${toFolder}/definition.ts`);
  if (
    fromLayer === "channels" &&
    toLayer === "channels" &&
    !SHARED_BY_CHANNELS.includes(to) &&
    toFolder !== "shared" &&
    !isOwnFile
  ) {
    return `${from} → ${to}: a channel imports only the port, channels/shared and its own files`;
  }
  return undefined;
}

/** Returns the files of the first cycle found. */
function findCycle(arrows: Arrow[]): string[] | undefined {
  const next = Map.groupBy(arrows, ({ from }) => from);
  const visited = new Set<string>();
  const stack: string[] = [];
  const visit = (path: string): string[] | undefined => {
    if (stack.includes(path)) return [...stack.slice(stack.indexOf(path)), path];
    if (visited.has(path)) return undefined;
    stack.push(path);
    for (const { to } of next.get(path) ?? []) {
      const found = visit(to);
      if (found) return found;
    }
    stack.pop();
    visited.add(path);
    return undefined;
  };
  for (const path of next.keys()) {
    const found = visit(path);
    if (found) return found;
  }
  return undefined;
}

/** The part of the project within which type-only cycles count: src, or one plugin or channel. */
const unitOf = (path: string) => (path.startsWith("src/") ? "src" : path.split("/").slice(0, 2).join("/"));

const arrows = [...source].flatMap(([path, text]) => importsOf(path, text));

describe("the project", () => {
  test("is found by the check", () => {
    expect(arrows).toContainEqual({
      from: "src/kernel/config/config.ts",
      to: "src/kernel/config/validation.ts",
      typeOnly: false,
    });
  });

  test("every import points in an allowed direction", () => {
    expect(arrows.map(violationOf).filter((violation) => violation !== undefined)).toEqual([]);
  });

  test("nothing in the kernel imports the server, not even a type", () => {
    const upward = arrows.filter(({ from, to }) => from.startsWith("src/kernel/") && to.startsWith("src/server/"));
    expect(upward).toEqual([]);
  });

  test("no imports form a cycle; within src and within a plugin, type-only ones count too", () => {
    const counted = arrows.filter(({ from, to, typeOnly }) => !typeOnly || unitOf(from) === unitOf(to));
    expect(findCycle(counted)?.join(" → ")).toBeUndefined();
  });

  test("a plugin's settings.ts, which every plugin may import, brings no plugin along", () => {
    const next = Map.groupBy(arrows, ({ from }) => from);
    const reachable = (from: string, seen = new Set<string>()): Set<string> => {
      for (const { to } of next.get(from) ?? []) if (!seen.has(to)) reachable(to, seen.add(to));
      return seen;
    };
    const bringsPlugin = (to: string) => /^plugins\/[^/]+\/index\.ts$/.test(to) || to === "src/kernel/plugin.ts";
    const sections = files.filter((path) => /^plugins\/[^/]+\/settings\.ts$/.test(path));
    expect(sections.length).toBeGreaterThan(5);
    const others = sections.flatMap((path) => [...reachable(path)].filter(bringsPlugin).map((to) => `${path} → ${to}`));
    expect(others).toEqual([]);
  });

  test("no folder holds more files than a reader can survey", () => {
    const folders = Map.groupBy(files, (path) => dirname(path));
    const crowded = [...folders].filter(([, inside]) => inside.length > MAX_FILES_PER_FOLDER);
    expect(crowded.map(([folder, inside]) => `${folder}: ${inside.length}`)).toEqual([]);
  });

  test("the kernel names no capability", () => {
    const kernelFiles = [...source].filter(([path]) => path.startsWith("src/kernel/"));
    const found = kernelFiles.flatMap(([path, text]) => {
      const name = CAPABILITY_NAME.exec(text)?.[0];
      return name === undefined ? [] : [`${path}: ${name}`];
    });
    expect(found).toEqual([]);
  });

  test("the environment is read in one place", () => {
    const readers = [...source].filter(([, text]) =>
      /\b(process|Bun)\.env\b/.test(text.replace(/^\s*(\/\/|\*|\/\*).*$/gm, "")),
    );
    expect(readers.map(([path]) => path)).toEqual(["src/kernel/config/config.ts"]);
  });
});

describe("the check itself", () => {
  const arrow = (from: string, to: string): Arrow => ({ from, to, typeOnly: false });

  test("finds every kind of import", () => {
    const text = [
      'import { a,\n  b } from "./a.ts";',
      'import type { C } from "../c.ts";',
      'export { d } from "elysia";',
      'import "./e.ts";',
      'const f = await import("./f.ts");',
    ].join("\n");
    expect(importsOf("plugins/ai/x.ts", text)).toEqual([
      { from: "plugins/ai/x.ts", to: "plugins/ai/a.ts", typeOnly: false },
      { from: "plugins/ai/x.ts", to: "plugins/c.ts", typeOnly: true },
      { from: "plugins/ai/x.ts", to: "elysia", typeOnly: false },
      { from: "plugins/ai/x.ts", to: "plugins/ai/e.ts", typeOnly: false },
      { from: "plugins/ai/x.ts", to: "plugins/ai/f.ts", typeOnly: false },
    ]);
  });

  test.each([
    ["src/kernel/jobs/jobs.ts", "plugins/ai/index.ts"],
    ["src/kernel/config/config.ts", "plugins/ai/settings.ts"],
    ["src/kernel/jobs/jobs.ts", "src/server/app.ts"],
    ["src/kernel/jobs/jobs.ts", "src/server/doctor.ts"],
    ["src/server/app.ts", "src/server/serve.ts"],
    ["plugins/ai/x.ts", "src/server/app.ts"],
    ["plugins/ai/x.ts", "plugins/auth/model.ts"],
    ["plugins/ai/x.ts", "plugins/auth/schema.ts"],
    ["channels/telegram/index.ts", "src/kernel/telemetry/log.ts"],
    ["channels/telegram/index.ts", "channels/discord/index.ts"],
    ["channels/telegram/definition.ts", "src/kernel/config/config.ts"],
    ["channels/telegram/index.ts", "channels/registry.ts"],
    ["channels/registry.ts", "channels/discord/index.ts"],
    ["plugins/ai/x.ts", "channels/telegram/definition.ts"],
  ])("rejects %s → %s", (from, to) => {
    expect(violationOf(arrow(from, to))).toContain(`${from} → ${to}`);
  });

  test.each([
    ["plugins/ai/x.ts", "plugins/auth/index.ts"],
    ["plugins/ai/x.ts", "plugins/auth/settings.ts"],
    ["plugins/ai/x.ts", "plugins/ai/deep/y.ts"],
    ["channels/telegram/format.ts", "channels/port.ts"],
    ["channels/telegram/format.ts", "src/kernel/util/time.ts"],
    ["channels/telegram/definition.ts", "channels/definition.ts"],
    ["channels/registry.ts", "channels/discord/definition.ts"],
    ["plugins/ai/x.ts", "channels/registry.ts"],
    ["channels/telegram/index.ts", "channels/telegram/format.ts"],
    ["channels/telegram/deliver.ts", "channels/shared/recent.ts"],
    ["src/server/main.ts", "src/server/serve.ts"],
  ])("allows %s → %s", (from, to) => {
    expect(violationOf(arrow(from, to))).toBeUndefined();
  });

  test("finds a cycle, and none in a diamond", () => {
    expect(findCycle([arrow("a", "b"), arrow("b", "c"), arrow("c", "b")])).toEqual(["b", "c", "b"]);
    expect(findCycle([arrow("a", "b"), arrow("a", "c"), arrow("b", "d"), arrow("c", "d")])).toBeUndefined();
  });
});
