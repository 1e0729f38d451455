// Tests the plugin over real agents: built-in skills, and how configuration and switches enable them.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { openPluginHost, type PluginHost } from "../../tests/support/plugin-host.ts";
import { insertAgent } from "../../tests/support/records.ts";
import { callTool, toolContext, toolNamed } from "../../tests/support/skills.ts";
import { agents } from "../agents/index.ts";
import { type Skill, skills } from "./index.ts";

let opened: PluginHost;
let service: ReturnType<typeof skills.setup>["service"];
let owners: ReturnType<typeof agents.setup>["service"];
let agentId: string;

beforeAll(async () => {
  opened = await openPluginHost();
  const { host, kernel } = opened;
  service = host.use(skills);
  owners = host.use(agents);
  agentId = await insertAgent(kernel.database);
});
afterAll(() => opened?.[Symbol.asyncDispose]());

const names = async () => (await service.toolsFor(agentId, true)).map((tool) => tool.name);

test("every agent has the built-in skills and their tools", async () => {
  expect((await service.list(agentId)).map(({ id, enabled }) => [id, enabled])).toEqual([
    ["clock", true],
    ["memory", true],
    ["web-fetch", true],
    ["reminder", true],
  ]);
  expect(await names()).toEqual([
    "clock",
    "remember",
    "recall",
    "forget",
    "web_fetch",
    "remind_me",
    "list_reminders",
    "cancel_reminder",
  ]);
});

test("a configuration that names an unknown skill is warned about it", async () => {
  const warnings = await owners.configWarnings(agentId, '{"skills":{"clock":true,"web_fetch":true,"banana":false}}');
  expect(warnings).toEqual([
    { path: "skills.web_fetch", message: "This agent has no such skill. Did you mean web-fetch?" },
    { path: "skills.banana", message: "This agent has no such skill." },
  ]);
  expect(await owners.configWarnings(agentId, '{"skills":["clock"]}')).toEqual([]);
  const other = await insertAgent(opened.kernel.database);
  await service.setEnabled(other, "clock", false);
  expect(await owners.configWarnings(other, '{"skills":["clock"]}')).toEqual([
    { path: "skills.clock", message: "The owner has switched this skill off with update-skill, which comes first." },
  ]);
});

test("a configuration that switches a skill on is warned about what the skill still needs", async () => {
  const skill: Skill = {
    ...{ id: "tide-tables", name: "Tides", description: "", category: "test", version: "1", enabledByDefault: false },
    tools: () => [],
    isReady: async () => false,
    needs: "Tide tables need a key.",
  };
  service.register({ id: "tides", skillsFor: () => [skill] });
  const id = await insertAgent(opened.kernel.database);
  await service.setEnabled(id, "tide-tables", true);
  expect(await owners.configWarnings(id, '{"skills":["tide-tables"]}')).toEqual([
    { path: "skills.tide-tables", message: "Tide tables need a key." },
  ]);
});

test("a rule for a tool that a configuration brings is not warned about, another one is", async () => {
  service.registerExpectedTools(
    ({ mcpServers }) =>
      (name) =>
        mcpServers?.has(name.split(":")[0] ?? "") ?? false,
  );
  const rules = { approvals: { "docs:*": "allow", "other:*": "allow" } };
  const warned = await owners.configWarnings(
    agentId,
    JSON.stringify({ ...rules, mcpServers: { docs: { url: "https://docs.example.com" } } }),
  );
  expect(warned.map(({ path }) => path)).toEqual(["approvals.other:*"]);
});

test("tool definitions are plain JSON schemas of objects", async () => {
  for (const { inputSchema, description } of await service.toolsFor(agentId, true)) {
    expect(inputSchema).toMatchObject({ type: "object" });
    expect(JSON.parse(JSON.stringify(inputSchema))).toStrictEqual(inputSchema);
    expect(description).not.toBe("");
  }
});

test("a remembered fact is in the next prompt, until it is reset", async () => {
  const turn = toolContext(agentId);
  const remember = toolNamed(await service.toolsFor(agentId, true), "remember");
  expect(await callTool(remember, { fact: "Ada likes tea" }, turn)).toMatchObject({ ok: true });
  const remind = toolNamed(await service.toolsFor(agentId, true), "remind_me");
  expect(await callTool(remind, { text: "Tea", inMinutes: 5 }, turn)).toMatchObject({ ok: true });
  expect(await service.instructionsFor({ ...turn, text: "" })).toEqual({
    text: expect.stringContaining("- Ada likes tea"),
    taint: 0,
  });
  await opened.kernel.database.write(service.resetStatements(agentId));
  expect(await service.instructionsFor({ ...turn, text: "" })).toEqual({ text: "", taint: 0 });
  expect(await opened.kernel.database.read("SELECT 1 FROM reminders WHERE agent_id = ?", [agentId])).toMatchObject({
    rows: [],
  });
});

describe("a skill is enabled by", () => {
  test("the configuration, as soon as it is saved", async () => {
    await names();
    await owners.saveConfig(agentId, JSON.stringify({ memory: false, skills: { "web-fetch": false } }));
    expect(await names()).toEqual(["clock", "remind_me", "list_reminders", "cancel_reminder"]);
  });

  test("the switch, which overrides the configuration", async () => {
    await service.setEnabled(agentId, "web-fetch", true);
    await service.setEnabled(agentId, "reminder", false);
    expect(await names()).toEqual(["clock", "web_fetch"]);
    await owners.saveConfig(agentId, JSON.stringify({ skills: { "web-fetch": false, reminder: true } }));
    expect(await names()).not.toContain("remind_me");
  });
});
