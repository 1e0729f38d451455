// Every built-in tool has words.
import { expect, test } from "bun:test";
import { join } from "node:path";
import { Glob } from "bun";
import { toolAbout, toolLabel } from "./tools.ts";

const root = join(import.meta.dir, "../..");
/** A tool's definition: its name, its class, and then its description. */
const TOOL = /\bname: "(\w+)",[^{}]*?\bclass: "(?:read|write|spend|outside)"/g;

async function builtInTools(): Promise<string[]> {
  const names: string[] = [];
  for await (const path of new Glob("plugins/**/*.ts").scan(root)) {
    if (path.includes(".test.")) continue;
    const source = (await Bun.file(join(root, path)).text()).replace(/\/\*[\s\S]*?\*\//g, "");
    if (source.includes("defineTool(")) names.push(...[...source.matchAll(TOOL)].map(([, name = ""]) => name));
  }
  return names;
}

test("every built-in tool is called by what it does", async () => {
  const names = await builtInTools();
  expect(names.length).toBeGreaterThan(15);
  expect(names.filter((name) => toolLabel(name) === name || toolAbout(name) === undefined)).toEqual([]);
});

test("a tool from elsewhere keeps its name", () => {
  expect([toolLabel("docs__search"), toolAbout("docs__search"), toolLabel("toString")]).toEqual([
    "docs__search",
    undefined,
    "toString",
  ]);
});
