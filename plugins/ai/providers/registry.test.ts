// The registry and its tables of models, and the script that brings the prices up to date.
import { expect, test } from "bun:test";
import { cpSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { bun, run, temporaryDir } from "../../../tests/support/process.ts";
import { taskTypes } from "./catalogue-entry.ts";
import { CATALOGUE_DATE, CATALOGUE_SOURCE } from "./definitions/price-source.ts";
import { builtInProviders, createProviderRegistry } from "./registry.ts";

test("the ids of the built-in providers are part of the interface", () => {
  const registry = createProviderRegistry(builtInProviders);
  expect(registry.ids).toEqual(["provider_1", "provider_2", "provider_3", "provider_4", "provider_5"]);
});

test("a reference names a registered provider and a model, which may hold colons", () => {
  const { parseReference } = createProviderRegistry(builtInProviders);
  expect(parseReference("provider_3:llama3.2:1b")).toEqual({ provider: "provider_3", modelId: "llama3.2:1b" });
  for (const text of ["provider_9:x", "provider_1:", "provider_1", "gpt-5", ":x"])
    expect(parseReference(text)).toBeUndefined();
});

test("two providers can't share an id or a prefix of variables", () => {
  const [first] = builtInProviders;
  if (!first) throw new Error("There is no provider.");
  expect(() => createProviderRegistry([first, { ...first, env: "PROVIDER_99" }])).toThrow("the same");
  expect(() => createProviderRegistry([first, { ...first, id: "provider_99" }])).toThrow("the same");
});

test("each model is listed once, with a price, a context window and known task types", () => {
  expect(CATALOGUE_DATE).toMatch(/^\d{4}-\d\d-\d\d$/);
  expect(CATALOGUE_SOURCE).toMatch(/^https:/);
  const known: readonly string[] = taskTypes;
  for (const { models: rows, embeddingModels } of builtInProviders) {
    expect(new Set(rows.map(([id]) => id)).size).toBe(rows.length);
    for (const [, name, description, input, output, window, tags] of rows) {
      expect([name, description].every((text) => text !== "")).toBe(true);
      expect(Math.min(input, output)).toBeGreaterThan(0);
      // Money is whole micro-USD per million tokens.
      for (const price of [input, output]) expect(Math.abs(price * 1e6 - Math.round(price * 1e6))).toBeLessThan(1e-6);
      expect(window).toBeGreaterThan(1_000);
      expect(tags.split(" ").filter((tag) => !known.includes(tag))).toEqual([]);
      expect(tags.includes("long")).toBe(window >= 900_000);
    }
    for (const [, input] of embeddingModels) expect(input).toBeGreaterThan(0);
  }
});

test("every provider has a model for every task type, except for long texts", () => {
  for (const type of taskTypes) {
    for (const { id, models } of builtInProviders) {
      const able = models.filter(([, , , , , , tags]) => tags.split(" ").includes(type));
      if (type !== "long" || id !== "provider_3") expect(able.length).toBeGreaterThan(0);
    }
  }
});

const root = join(import.meta.dir, "../../..");

const definitions = join(import.meta.dir, "definitions");

/** All definitions, after the date of their figures. */
function textOf(folder: string): string {
  const names = readdirSync(folder).sort((a, b) => Number(b === "price-source.ts") - Number(a === "price-source.ts"));
  return names.map((name) => readFileSync(join(folder, name), "utf8")).join("");
}

/** Runs the script over a copy of the definitions with such a list. */
async function refresh(list: unknown, ...more: string[]) {
  const dir = temporaryDir();
  try {
    const data = join(dir.path, "definitions");
    cpSync(definitions, data, { recursive: true });
    writeFileSync(join(dir.path, "list.json"), JSON.stringify(list));
    const script = join(root, "scripts/refresh-catalogue.mjs");
    const command = [bun, script, join(dir.path, "list.json"), "--data", data, "--date", "2030-01-02", ...more];
    const ran = await run(command, {}, dir.path);
    return { ...ran, text: textOf(data) };
  } finally {
    dir.remove();
  }
}

const table = textOf(definitions);
const list = {
  openai: {
    models: {
      "gpt-4o": { cost: { input: 3.25, output: 10 }, limit: { context: 1_000_000 } },
      "gpt-4.1": { cost: { input: 2, output: 8 }, limit: { context: 128_000 } },
      "gpt-4o-mini": { cost: { input: -1, output: 8 } },
      o3: { cost: { input: "free", output: null }, limit: { context: 5 } },
      "text-embedding-3-small": { cost: { input: 0.03, output: 0 } },
    },
  },
};

test("the refresh script updates prices and windows, and keeps models that the price list lacks", async () => {
  const { exitCode, stdout, stderr, text } = await refresh(list);
  expect([exitCode, stdout]).toEqual([0, expect.stringContaining("3 changed")]);
  expect(stderr).toContain("provider_5:o3");
  const changed = text.split("\n").filter((line) => !table.includes(line));
  expect(changed).toEqual([
    'export const CATALOGUE_DATE = "2030-01-02";',
    '    ["gpt-4.1", "GPT-4.1", "Answers directly, with a long window", 2, 8, 128_000, "general coding"],',
    '    ["gpt-4o", "GPT-4o", "OpenAI\'s earlier all-rounder", 3.25, 10, 1_000_000, "general creative long"],',
    '    ["text-embedding-3-small", 0.03],',
  ]);
  expect(text.split("\n")).toHaveLength(table.split("\n").length);
});

test("the refresh script with --check changes nothing, and exits with 1 if there are changes", async () => {
  const would = await refresh(list, "--check");
  expect([would.exitCode, would.text]).toEqual([1, table]);
  const nothing = await refresh({}, "--check");
  expect([nothing.exitCode, nothing.text]).toEqual([0, table]);
});
