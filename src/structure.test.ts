// The house's arrows, checked: main → serve → app → plugins → kernel, plugins meet only at their doors, nothing goes in a circle.

import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";

const root = join(import.meta.dir, "..");
const files = [...new Bun.Glob("{src,plugins,channels,migrations}/**/*.ts").scanSync(root)].filter(
  // The scenarios that every channel's adapter is put through are tests too, shared by the adapters.
  (path) => !path.endsWith(".test.ts") && !path.startsWith("channels/contract/"),
);
const source = new Map(files.map((path) => [path, readFileSync(join(root, path), "utf8")]));

interface Arrow {
  from: string;
  /** A file of the project, or the name of a package. */
  to: string;
  /** Erased before the program runs. */
  typeOnly: boolean;
}

const importPattern =
  /^\s*(?<kind>import|export)\s+(?<type>type\s)?[^;"'`]*?\bfrom\s*"(?<from>[^"]+)"|^\s*import\s*"(?<bare>[^"]+)"|\bimport\(\s*"(?<lazy>[^"]+)"/gm;

/** Every import of a file, types and lazy ones too. */
export function importsOf(path: string, text: string): Arrow[] {
  return [...text.matchAll(importPattern)].flatMap(({ groups = {} }) => {
    const to = groups.from ?? groups.bare ?? groups.lazy;
    if (to === undefined) return [];
    const target = to.startsWith(".") ? normalize(join(dirname(path), to)) : to;
    return { from: path, to: target, typeOnly: groups.type !== undefined };
  });
}

/** The room a file is in; a room may open only the doors behind it. */
export function roomOf(path: string): string {
  if (path === "src/server/main.ts" || path.startsWith("src/server/commands/")) return "main";
  if (path === "src/server/app.ts") return "app";
  if (path.startsWith("src/server/")) return "serve";
  const [top = ""] = path.split("/");
  return { src: "kernel", plugins: "plugins", channels: "channels", migrations: "migrations" }[top] ?? "package";
}

const allowedTargets: Record<string, string[]> = {
  main: ["main", "serve", "app", "plugins", "kernel", "migrations", "package"],
  serve: ["serve", "app", "plugins", "kernel", "migrations", "package"],
  app: ["plugins", "kernel", "package"],
  plugins: ["plugins", "channels", "kernel", "package"],
  channels: ["channels", "package"],
  kernel: ["kernel", "migrations", "package"],
  migrations: ["migrations"],
};

/** What is wrong with an arrow, in words; undefined when it may be. */
export function violationOf({ from, to }: Arrow): string | undefined {
  const [here, there] = [roomOf(from), roomOf(to)];
  if (!allowedTargets[here]?.includes(there)) return `${from} → ${to}: ${here} must not know ${there}`;
  const [mine, theirs] = [from.split("/")[1], to.split("/")[1]];
  if (here === "plugins" && there === "plugins" && mine !== theirs && !/^plugins\/[^/]+\/index\.ts$/.test(to)) {
    return `${from} → ${to}: another plugin is reached only through its index.ts`;
  }
  const adapter = (name = "") => name.replace(/\.ts$/, "");
  if (
    here === "channels" &&
    there === "channels" &&
    to !== "channels/port.ts" &&
    theirs !== "shared" &&
    adapter(mine) !== adapter(theirs)
  ) {
    return `${from} → ${to}: a channel knows the port, what all share, and its own files alone`;
  }
  return undefined;
}

/** The first circle found, as the files it goes through. */
export function findCycle(arrows: Arrow[]): string[] | undefined {
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

const arrows = [...source].flatMap(([path, text]) => importsOf(path, text));

describe("the project", () => {
  test("is seen", () => {
    expect(arrows).toContainEqual({
      from: "src/kernel/config/config.ts",
      to: "src/kernel/config/validation.ts",
      typeOnly: false,
    });
  });

  test("every arrow points one way", () => {
    expect(arrows.map(violationOf).filter((violation) => violation !== undefined)).toEqual([]);
  });

  test("nothing goes in a circle", () => {
    expect(findCycle(arrows.filter(({ typeOnly }) => !typeOnly))?.join(" → ")).toBeUndefined();
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

  test("sees every kind of import", () => {
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
    ["src/kernel/jobs/jobs.ts", "src/server/app.ts"],
    ["src/kernel/jobs/jobs.ts", "src/server/doctor.ts"],
    ["src/server/app.ts", "src/server/serve.ts"],
    ["plugins/ai/x.ts", "src/server/app.ts"],
    ["plugins/ai/x.ts", "plugins/auth/model.ts"],
    ["plugins/ai/x.ts", "plugins/auth/schema.ts"],
    ["channels/telegram/index.ts", "src/kernel/telemetry/log.ts"],
    ["channels/telegram/index.ts", "channels/discord/index.ts"],
  ])("refuses %s → %s", (from, to) => {
    expect(violationOf(arrow(from, to))).toContain(`${from} → ${to}`);
  });

  test.each([
    ["plugins/ai/x.ts", "plugins/auth/index.ts"],
    ["plugins/ai/x.ts", "plugins/ai/deep/y.ts"],
    ["channels/telegram/format.ts", "channels/port.ts"],
    ["channels/telegram/index.ts", "channels/telegram/format.ts"],
    ["channels/telegram/deliver.ts", "channels/shared/recent.ts"],
    ["src/server/main.ts", "src/server/serve.ts"],
  ])("lets pass %s → %s", (from, to) => {
    expect(violationOf(arrow(from, to))).toBeUndefined();
  });

  test("finds a circle, and none in a diamond", () => {
    expect(findCycle([arrow("a", "b"), arrow("b", "c"), arrow("c", "b")])).toEqual(["b", "c", "b"]);
    expect(findCycle([arrow("a", "b"), arrow("a", "c"), arrow("b", "d"), arrow("c", "d")])).toBeUndefined();
  });
});
