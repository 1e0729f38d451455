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

const importing =
  /^\s*(?<kind>import|export)\s+(?<type>type\s)?[^;"'`]*?\bfrom\s*"(?<from>[^"]+)"|^\s*import\s*"(?<bare>[^"]+)"|\bimport\(\s*"(?<lazy>[^"]+)"/gm;

/** Every import of a file, types and lazy ones too. */
export function arrowsOf(path: string, text: string): Arrow[] {
  return [...text.matchAll(importing)].flatMap(({ groups = {} }) => {
    const to = groups.from ?? groups.bare ?? groups.lazy;
    if (to === undefined) return [];
    const target = to.startsWith(".") ? normalize(join(dirname(path), to)) : to;
    return { from: path, to: target, typeOnly: groups.type !== undefined };
  });
}

/** The room a file is in; a room may open only the doors behind it. */
export function roomOf(path: string): string {
  if (path === "src/main.ts" || path.startsWith("src/commands/")) return "main";
  if (path === "src/serve.ts" || path === "src/control.ts") return "serve";
  if (path === "src/app.ts") return "app";
  const [top = ""] = path.split("/");
  return { src: "kernel", plugins: "plugins", channels: "channels", migrations: "migrations" }[top] ?? "package";
}

const doors: Record<string, string[]> = {
  main: ["main", "serve", "app", "plugins", "kernel", "migrations", "package"],
  serve: ["serve", "app", "plugins", "kernel", "migrations", "package"],
  app: ["plugins", "kernel", "package"],
  plugins: ["plugins", "channels", "kernel", "package"],
  channels: ["channels", "package"],
  kernel: ["kernel", "migrations", "package"],
  migrations: ["migrations"],
};

/** What is wrong with an arrow, in words; undefined when it may be. */
export function wrongWith({ from, to }: Arrow): string | undefined {
  const [here, there] = [roomOf(from), roomOf(to)];
  if (!doors[here]?.includes(there)) return `${from} → ${to}: ${here} must not know ${there}`;
  const [mine, theirs] = [from.split("/")[1], to.split("/")[1]];
  if (here === "plugins" && there === "plugins" && mine !== theirs && !/^plugins\/[^/]+\/index\.ts$/.test(to)) {
    return `${from} → ${to}: another plugin is reached only through its index.ts`;
  }
  const adapter = (name = "") => name.replace(/\.ts$/, "");
  if (
    here === "channels" &&
    there === "channels" &&
    to !== "channels/channel.ts" &&
    theirs !== "shared" &&
    adapter(mine) !== adapter(theirs)
  ) {
    return `${from} → ${to}: a channel knows the port, what all share, and its own files alone`;
  }
  return undefined;
}

/** The first circle found, as the files it goes through. */
export function circle(arrows: Arrow[]): string[] | undefined {
  const next = Map.groupBy(arrows, ({ from }) => from);
  const finished = new Set<string>();
  const trail: string[] = [];
  const walk = (path: string): string[] | undefined => {
    if (trail.includes(path)) return [...trail.slice(trail.indexOf(path)), path];
    if (finished.has(path)) return undefined;
    trail.push(path);
    for (const { to } of next.get(path) ?? []) {
      const found = walk(to);
      if (found) return found;
    }
    trail.pop();
    finished.add(path);
    return undefined;
  };
  for (const path of next.keys()) {
    const found = walk(path);
    if (found) return found;
  }
  return undefined;
}

const arrows = [...source].flatMap(([path, text]) => arrowsOf(path, text));

describe("the project", () => {
  test("is seen", () => {
    expect(arrows).toContainEqual({ from: "src/config.ts", to: "src/config/rules.ts", typeOnly: false });
  });

  test("every arrow points one way", () => {
    expect(arrows.map(wrongWith).filter((wrong) => wrong !== undefined)).toEqual([]);
  });

  test("nothing goes in a circle", () => {
    expect(circle(arrows.filter(({ typeOnly }) => !typeOnly))?.join(" → ")).toBeUndefined();
  });

  test("the environment is read in one place", () => {
    const readers = [...source].filter(([, text]) =>
      /\b(process|Bun)\.env\b/.test(text.replace(/^\s*(\/\/|\*|\/\*).*$/gm, "")),
    );
    expect(readers.map(([path]) => path)).toEqual(["src/config.ts"]);
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
    expect(arrowsOf("plugins/ai/x.ts", text)).toEqual([
      { from: "plugins/ai/x.ts", to: "plugins/ai/a.ts", typeOnly: false },
      { from: "plugins/ai/x.ts", to: "plugins/c.ts", typeOnly: true },
      { from: "plugins/ai/x.ts", to: "elysia", typeOnly: false },
      { from: "plugins/ai/x.ts", to: "plugins/ai/e.ts", typeOnly: false },
      { from: "plugins/ai/x.ts", to: "plugins/ai/f.ts", typeOnly: false },
    ]);
  });

  test.each([
    ["src/jobs.ts", "plugins/ai/index.ts"],
    ["src/app.ts", "src/serve.ts"],
    ["plugins/ai/x.ts", "src/app.ts"],
    ["plugins/ai/x.ts", "plugins/auth/model.ts"],
    ["plugins/ai/x.ts", "plugins/auth/schema.ts"],
    ["channels/telegram.ts", "src/log.ts"],
    ["channels/telegram.ts", "channels/discord.ts"],
  ])("refuses %s → %s", (from, to) => {
    expect(wrongWith(arrow(from, to))).toContain(`${from} → ${to}`);
  });

  test.each([
    ["plugins/ai/x.ts", "plugins/auth/index.ts"],
    ["plugins/ai/x.ts", "plugins/ai/deep/y.ts"],
    ["channels/telegram/format.ts", "channels/channel.ts"],
    ["channels/telegram.ts", "channels/telegram/format.ts"],
    ["channels/telegram/deliver.ts", "channels/shared/recent.ts"],
    ["src/main.ts", "src/serve.ts"],
  ])("lets pass %s → %s", (from, to) => {
    expect(wrongWith(arrow(from, to))).toBeUndefined();
  });

  test("finds a circle, and none in a diamond", () => {
    expect(circle([arrow("a", "b"), arrow("b", "c"), arrow("c", "b")])).toEqual(["b", "c", "b"]);
    expect(circle([arrow("a", "b"), arrow("a", "c"), arrow("b", "d"), arrow("c", "d")])).toBeUndefined();
  });
});
