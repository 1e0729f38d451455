// Tests that the documented schema of configurations admits what the readers admit, and refuses what they refuse.
import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import Ajv from "ajv/dist/2020.js";
import { configSchema } from "./config-schema.ts";
import { pagePath, renderAgentsPage } from "./documentation.ts";
import { readSettings, SETTINGS } from "./settings.ts";

// A format is only a hint to readers of the schema.
const matchesSchema = new Ajv({ strict: true, strictRequired: false, validateFormats: false }).compile(configSchema());
const issuesOf = (config: object) => readSettings(config).issues;
const url = "https://docs.example.com/mcp";
const schedule = { prompt: "Hi", cron: "@daily" };

test("docs/agents.md shows the keys; if not: bun plugins/agents/configuration/documentation.ts", () => {
  const page = readFileSync(pagePath, "utf8");
  expect(renderAgentsPage(page)).toBe(page);
  for (const key of Object.keys(SETTINGS)) expect(page).toContain(`\n### \`${key}\`\n`);
});

describe.each(Object.entries(SETTINGS))("the key %s", (key, read) => {
  const { description, examples, default: byDefault } = read.schema();

  test("is described, with examples that are accepted", () => {
    expect(description).toMatch(/^\S.*[.!]$/);
    expect(examples).toBeArray();
    const values = [...(examples as unknown[]), ...(byDefault === undefined ? [] : [byDefault])];
    for (const value of values) {
      expect(issuesOf({ [key]: value })).toEqual([]);
      expect({ value, errors: matchesSchema({ [key]: value }) ? null : matchesSchema.errors }).toEqual({
        value,
        errors: null,
      });
    }
  });

  test("is refused by schema and reader alike", () => {
    // No schema knows the names of time zones.
    const texts = key === "timezone" ? [] : ["x".repeat(70_000), ""];
    for (const value of [null, 7.5, -1, ...texts, [], [1], {}, { "": 1 }, true]) {
      const isAllowed = issuesOf({ [key]: value }).length === 0;
      expect({ value, isAllowed: matchesSchema({ [key]: value }) }).toEqual({ value, isAllowed });
    }
  });
});

describe("the schema and the readers agree", () => {
  test.each([
    {},
    { unknown: [1], "": null },
    { memory: { enabled: false, note: "kept" } },
    { skills: ["clock"] },
    { skills: { clock: { enabled: true }, reminder: false } },
    { mcpServers: { docs: { url, tools: [], reads: ["search"], access: "everyone", enabled: false, note: 1 } } },
    { mcpServers: { files: { command: "files", args: ["-v"] } } },
    { channels: { channel_a: { access: "open", groups: "off" }, other: 1 } },
    { schedules: [{ message: "Hi", cron: "@daily" }] },
    { schedules: [{ prompt: "Hi", at: "2030-01-31 09:00:00.5+02:00", deliver: null }] },
    {
      schedules: [
        { ...schedule, deliver: { webhook: true } },
        { ...schedule, missed: "all", enabled: false },
      ],
    },
    { schedules: [{ ...schedule, deliver: { platform: "channel_b", peer: "1" } }] },
    { budget: { usdPerDay: 0 } },
    { approvals: ["write"] },
  ])("that %j is allowed", (config) => {
    expect(issuesOf(config)).toEqual([]);
    expect({ errors: matchesSchema(config) ? null : matchesSchema.errors }).toEqual({ errors: null });
  });

  test.each([
    { temperature: 2.1 },
    { maxTokens: 1.5 },
    { memory: { enabled: "no" } },
    { skills: [""] },
    { skills: { clock: "on" } },
    { mcpServers: { docs: {} } },
    { mcpServers: { docs: { url, command: "files" } } },
    { mcpServers: { "a/b": { url } } },
    { mcpServers: Object.fromEntries(Array.from({ length: 21 }, (_, n) => [`s${n}`, { url }])) },
    { mcpServers: { docs: { url, headers: { a: 1 } } } },
    { channels: { channel_c: { access: "all" } } },
    { channels: { channel_a: { owners: [42] } } },
    { schedules: [{ prompt: "Hi" }] },
    { schedules: [{ cron: "@daily" }] },
    { schedules: [{ ...schedule, at: "2030-01-31T09:00" }] },
    { schedules: [{ prompt: "Hi", at: "tomorrow" }] },
    { schedules: [{ ...schedule, deliver: {} }] },
    { schedules: [{ ...schedule, deliver: { platform: "fax", peer: "1" } }] },
    { schedules: [{ ...schedule, deliver: { platform: "channel_a" } }] },
    { schedules: [{ ...schedule, deliver: { webhook: false } }] },
    { schedules: [{ ...schedule, deliver: { platform: "channel_a", peer: "1", webhook: true } }] },
    { schedules: Array.from({ length: 101 }, () => schedule) },
    { budget: { usdPerMonth: 1e10 } },
    { approvals: { write: "maybe" } },
  ])("that %j is not", (config) => {
    expect(issuesOf(config)).toHaveLength(1);
    expect(matchesSchema(config)).toBe(false);
  });
});

test("a channel that was added later is in the schema", async () => {
  const { registerChannel, channelDefinition } = await import("../../../channels/registry.ts");
  const remove = registerChannel({ ...channelDefinition("channel_a"), id: "channel_x" });
  try {
    expect(JSON.stringify(configSchema())).toContain('"channel_x"');
    expect(issuesOf({ channels: { channel_x: { access: "all" } } })).toMatchObject([
      { path: "channels.channel_x.access" },
    ]);
  } finally {
    remove();
  }
});
