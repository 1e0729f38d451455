// Tests provisioning: quotas by subscription, invalid requests, and subdomains.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { DAY } from "../../../src/kernel/util/time.ts";
import { fileDatabase, serverDatabase, type TestDatabase } from "../../../tests/support/database.ts";
import { rejectionOf } from "../../../tests/support/rejection.ts";
import { createServices, type Services } from "../support.test.ts";
import { generateSubdomain } from "./provisioner.ts";

describe.each([
  ["a local file", fileDatabase],
  ["a libSQL server", serverDatabase],
] as const)("provisioning on %s", (_, open) => {
  let opened: TestDatabase;
  let it: Services;
  const countOf = async (userId: string) => (await it.agents.list(userId)).length;

  beforeAll(async () => {
    opened = await open();
    it = createServices(opened);
  });
  afterAll(() => opened.remove());

  test("creates a running agent with its first configuration and its event", async () => {
    const userId = await it.owner("starter");
    const config = '{"2": 1,  "1":"é", "__proto__": {"x": 1e400}}';
    const agent = await it.provision({ userId, isAdmin: false, name: "  Ada's Café ", config, tier: "pro" });

    expect(agent).toMatchObject({ userId, name: "Ada's Café", model: "model_a", status: "running", wanted: "up" });
    expect(agent).toMatchObject({ statusReason: null, verified: false, tier: "pro", runtimeVersion: "1.0.0" });
    expect(agent.startedAt).toBe(agent.createdAt);
    expect(agent.subdomain).toMatch(/^ada-s-cafe-[a-z2-9]{6}$/);
    expect(await it.configs.text(agent.id)).toBe(config);
    const events = await it.events.since(0, { agentId: agent.id });
    expect(events).toMatchObject([{ type: "agent.created", userId, data: { id: agent.id, name: "Ada's Café" } }]);
  });

  test.each([
    ["starter", 1],
    ["pro", 3],
    ["free", 1],
  ] as const)("50 requests at once never exceed the limit of %s: %d", async (plan, limit) => {
    const userId = await it.owner(plan);
    const tries = Array.from({ length: 50 }, (_, n) => it.provision({ userId, isAdmin: false, name: `Agent ${n}` }));
    const results = await Promise.allSettled(tries);

    expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(limit);
    expect(await countOf(userId)).toBe(limit);
    const refused = results.flatMap((result) => (result.status === "rejected" ? [result.reason] : []));
    for (const error of refused) {
      expect(error).toMatchObject({ status: 429, code: "AGENT_LIMIT_REACHED", extras: { current: limit, limit } });
    }
  });

  test("removing an agent allows another one", async () => {
    const userId = await it.owner("starter");
    const first = await it.provision({ userId, isAdmin: false, name: "One" });
    expect(await rejectionOf(it.provision({ userId, isAdmin: false, name: "Two" }))).toMatchObject({ status: 429 });
    await it.agents.remove(first.id);
    await it.provision({ userId, isAdmin: false, name: "Two" });
    expect(await countOf(userId)).toBe(1);
  });

  test.each([
    ["no subscription", undefined, {}],
    ["one that has ended", "pro", { endsIn: -DAY }],
    ["one that was canceled", "pro", { status: "canceled" }],
    ["one that is past due", "enterprise", { status: "past_due" }],
  ] as const)("with %s it is 402, and nothing is left behind", async (_, plan, options) => {
    const userId = await it.owner(plan, options);
    const error = await rejectionOf(it.provision({ userId, isAdmin: false, name: "Agent" }));
    expect(error).toMatchObject({ status: 402, code: "SUBSCRIPTION_REQUIRED" });
    expect(await countOf(userId)).toBe(0);
    expect(await it.events.since(0, { userId })).toEqual([]);
  });

  test("a trial is a subscription; an admin needs neither subscription nor quota", async () => {
    const trial = await it.owner("pro", { status: "trialing" });
    await it.provision({ userId: trial, isAdmin: false, name: "Trial" });
    const admin = await it.owner();
    for (const name of ["One", "Two", "Three", "Four"]) await it.provision({ userId: admin, isAdmin: true, name });
    expect(await countOf(admin)).toBe(4);
  });

  test.each([
    ["an empty name", { name: " \t " }, "name"],
    ["a name of 65 characters", { name: "é".repeat(65) }, "name"],
    ["a control character in the name", { name: "a\u0007b" }, "name"],
    ["a line separator in the name", { name: "a\u2028b" }, "name"],
    ["an unknown model", { name: "Ada", model: "gpt-4" }, "model"],
    ["a known key of the wrong type", { name: "Ada", config: '{"temperature":"hot"}' }, "temperature"],
  ] as const)("%s is 400 and names the field", async (_, given, path) => {
    const userId = await it.owner("pro");
    const error = await rejectionOf(it.provision({ userId, isAdmin: false, ...given }));
    expect(error).toMatchObject({ status: 400, extras: { issues: [{ path }] } });
    expect(await countOf(userId)).toBe(0);
  });
});

describe("a subdomain", () => {
  test.each([
    ["Ada's Café", /^ada-s-cafe-\w{6}$/],
    ["日本", /^agent-\w{6}$/],
    ["--a--", /^a-\w{6}$/],
    ["x".repeat(64), /^x{40}-\w{6}$/],
    [`${"x".repeat(39)} yy`, /^x{39}-\w{6}$/],
  ])("of %p can be read in a DNS label", (name, shape) => {
    expect(generateSubdomain(name)).toMatch(shape);
    expect(generateSubdomain(name)).not.toBe(generateSubdomain(name));
  });
});
