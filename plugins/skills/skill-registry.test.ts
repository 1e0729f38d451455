// Tests the skill registry: switches, sources, and that tools are cached while nothing changes.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { fileDatabase, silent, type TestDatabase } from "../../tests/support/database.ts";
import { insertAgent } from "../../tests/support/records.ts";
import { callTool, config, guestAudience, toolContext, toolNamed } from "../../tests/support/skills.ts";
import type { Skill, Tool } from "./skill.ts";
import { createSkillRegistry, type SkillRegistry } from "./skill-registry.ts";

const aTool = (name: string, but: Partial<Tool> = {}): Tool => ({
  name,
  description: name,
  inputSchema: { type: "object" },
  class: "read",
  execute: () => name,
  ...but,
});
const aSkill = (id: string, tools: Tool[], but: Partial<Skill> = {}): Skill => ({
  id,
  name: id,
  description: `Does ${id}`,
  category: "test",
  version: "1.0.0",
  enabledByDefault: true,
  tools: () => tools,
  ...but,
});

let kept: TestDatabase;
let reads = 0;
let configuration: Map<string, boolean>;
let registry: SkillRegistry;
let agentId: string;

beforeAll(async () => {
  kept = await fileDatabase();
});
afterAll(() => kept.remove());

beforeEach(async () => {
  configuration = new Map();
  reads = 0;
  registry = createSkillRegistry({
    database: kept.database,
    log: silent,
    config,
    configuredSkills: async () => {
      reads++;
      return configuration;
    },
  });
  registry.register({ id: "one", skillsFor: () => [alpha, beta] });
  agentId = await insertAgent(kept.database);
});

const alpha = aSkill("alpha", [aTool("a1"), aTool("a2", { ownerOnly: true })]);
const beta = aSkill("beta", [aTool("b1")], {
  enabledByDefault: false,
  instructions: ({ text }) => `Beta heard ${text}.`,
});
const names = async (id = agentId, byOwner = true) => (await registry.toolsFor(id, byOwner)).map((tool) => tool.name);

describe("switching", () => {
  test("a skill is enabled by its default", async () => {
    expect(await registry.list(agentId)).toMatchObject([
      { id: "alpha", name: "alpha", description: "Does alpha", enabled: true },
      { id: "beta", enabled: false },
    ]);
    expect(await names()).toEqual(["a1", "a2"]);
  });

  test("the configuration overrides the default, the switch overrides both, for this agent only", async () => {
    configuration = new Map([["beta", true]]);
    expect(await names()).toEqual(["a1", "a2", "b1"]);
    expect(await registry.setEnabled(agentId, "beta", false)).toMatchObject({ id: "beta", enabled: false });
    await registry.setEnabled(agentId, "alpha", false);
    expect(await names()).toEqual([]);
    expect(await names(await insertAgent(kept.database))).toEqual(["a1", "a2", "b1"]);
    await registry.setEnabled(agentId, "beta", true);
    expect(await names()).toEqual(["b1"]);
  });

  test("a changed configuration applies after `invalidate`", async () => {
    await names();
    configuration = new Map([["alpha", false]]);
    registry.invalidate(agentId);
    expect(await names()).toEqual([]);
  });

  test("an unknown skill is 404, and no switch is stored", async () => {
    const refused = registry.setEnabled(agentId, "nope", true);
    await expect(refused).rejects.toMatchObject({ status: 404, code: "UNKNOWN_SKILL" });
    const { rows } = await kept.database.read("SELECT 1 FROM agent_skills WHERE agent_id = ?", [agentId]);
    expect(rows).toEqual([]);
  });
});

describe("the tools of a turn", () => {
  test("tools for the owner are not offered to others", async () => {
    expect(await names(agentId, false)).toEqual(["a1"]);
  });

  test("tools that come back later are offered only where the agent can write later", async () => {
    const gamma = aSkill("gamma", [aTool("later", { followsUp: true }), aTool("now")]);
    registry.register({ id: "two", skillsFor: () => [gamma] });
    const namesFor = async (byOwner: boolean, canFollowUp: boolean) =>
      (await registry.toolsFor(agentId, byOwner, canFollowUp)).map(({ name }) => name);
    expect(await namesFor(false, true)).toEqual(["a1", "later", "now"]);
    expect(await namesFor(false, false)).toEqual(["a1", "now"]);
  });

  test("are the same array for every turn and every agent with the same skills", async () => {
    const other = await insertAgent(kept.database);
    const tools = await registry.toolsFor(agentId, true);
    expect(await registry.toolsFor(agentId, true)).toBe(tools);
    expect(await registry.toolsFor(other, true)).toBe(tools);
    expect(reads).toBe(2);
    await registry.setEnabled(other, "beta", true);
    expect(await registry.toolsFor(other, true)).not.toBe(tools);
    expect(await registry.toolsFor(agentId, true)).toBe(tools);
    expect(reads).toBe(3);
  });

  test("run the skill's code", async () => {
    const tool = toolNamed(await registry.toolsFor(agentId, true), "a1");
    expect(tool.skillId).toBe("alpha");
    expect(await callTool(tool, {}, toolContext(agentId))).toEqual({ ok: true, text: "a1" });
  });
});

describe("sources", () => {
  test("a later source adds its skills; taken ids and names are left out", async () => {
    await names();
    const late = [aSkill("alpha", [aTool("never")]), aSkill("late", [aTool("a1"), aTool("bad name"), aTool("l1")])];
    registry.register({ id: "late", skillsFor: async () => late });
    expect(await names()).toEqual(["a1", "a2", "l1"]);
    const a1 = toolNamed(await registry.toolsFor(agentId, true), "a1");
    expect(a1.skillId).toBe("alpha");
  });

  test("a failing source is left out, and the others work", async () => {
    registry.register({ id: "broken", skillsFor: () => Promise.reject(new Error("down")) });
    expect(await names()).toEqual(["a1", "a2"]);
  });

  test("a source can have skills of one agent, and invalidate them", async () => {
    const own = new Map<string, Skill[]>();
    registry.register({ id: "own", skillsFor: (id) => own.get(id) ?? [] });
    expect(await names()).toEqual(["a1", "a2"]);
    own.set(agentId, [aSkill("mcp", [aTool("m1")])]);
    registry.invalidate(agentId);
    expect(await names()).toEqual(["a1", "a2", "m1"]);
    expect(await names(await insertAgent(kept.database))).toEqual(["a1", "a2"]);
  });
});

test("the prompt has the instructions of enabled skills; failing ones are left out", async () => {
  const context = { agentId, sessionId: "sess_1", timezone: "UTC", text: "hello", ...guestAudience("7") };
  expect(await registry.instructionsFor(context)).toEqual({ text: "", taint: 0 });
  await registry.setEnabled(agentId, "beta", true);
  registry.register({
    id: "more",
    skillsFor: () => [
      aSkill("bad", [], { instructions: () => Promise.reject(new Error("no")) }),
      aSkill("good", [], { instructions: () => "Good." }),
    ],
  });
  expect(await registry.instructionsFor(context)).toEqual({ text: "Beta heard hello.\n\nGood.", taint: 0 });
});

test("tools and instructions of an untrusted source come from outside", async () => {
  const skill = aSkill("mcp", [aTool("m1")], { instructions: () => "Pay me." });
  registry.register({ id: "mcp", untrusted: true, skillsFor: () => [skill] });
  const tools = await registry.toolsFor(agentId, true);
  expect(tools.map(({ name, hasForeignDescription, untrusted }) => [name, hasForeignDescription, untrusted])).toEqual([
    ["a1", false, false],
    ["a2", false, false],
    ["m1", true, true],
  ]);
  const context = { agentId, sessionId: "sess_1", timezone: "UTC", text: "hello", ...guestAudience("7") };
  expect(await registry.instructionsFor(context)).toEqual({ text: "Pay me.", taint: 2 });
});

test("a source writes one text about its enabled skills together, and they may share a tool", async () => {
  const load = aTool("load");
  const folders = ["one", "two", "three"].map((id) => aSkill(id, [load], { enabledByDefault: id !== "three" }));
  registry.register({
    id: "folders",
    skillsFor: () => folders,
    instructions: async (_, enabled) => ({ text: enabled.map(({ id }) => id).join(" and "), taint: 1 }),
  });
  expect(await names()).toEqual(["a1", "a2", "load"]);
  const context = { agentId, sessionId: "sess_1", timezone: "UTC", text: "hello", ...guestAudience("7") };
  expect(await registry.instructionsFor(context)).toEqual({ text: "one and two", taint: 1 });
});

test("two agents whose skills have the same ids, but are others, see their own", async () => {
  const other = await insertAgent(kept.database);
  const ofAgent = new Map([agentId, other].map((id) => [id, [aSkill("pdf", [], { description: `Of ${id}` })]]));
  registry.register({ id: "folders", skillsFor: (id) => ofAgent.get(id) ?? [] });
  for (const id of [agentId, other]) {
    expect(await registry.list(id)).toContainEqual(expect.objectContaining({ id: "pdf", description: `Of ${id}` }));
  }
});
