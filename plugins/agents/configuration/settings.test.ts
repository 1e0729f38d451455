// What a configuration may hold: anything, but a known key of the wrong type, or a secret.

import { describe, expect, test } from "bun:test";
import { AppError } from "../../../src/kernel/errors.ts";
import { rawJsonMember } from "../../../src/kernel/util/json-text.ts";
import { fastestRun } from "../../../tests/support/eventually.ts";
import { builtInProviders } from "../../ai/providers/registry.ts";
import { requireConfig as requireConfigWith } from "./config-check.ts";
import { readSettings } from "./settings.ts";

const requireConfig = (text: string) =>
  requireConfigWith(
    text,
    builtInProviders.map(({ credential }) => credential.shape),
  );

async function refusalOf(config: unknown): Promise<AppError> {
  try {
    await requireConfig(typeof config === "string" ? config : JSON.stringify(config));
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
  throw new Error("It was accepted.");
}

describe("a configuration", () => {
  test("may hold whatever Berth does not know", async () => {
    const free = '{"key":"value","2":[],"1":{},"__proto__":{"x":1},"keys":{"a":null},"maxItems":1e999,"":""}';
    expect(await requireConfig(free)).toEqual({});
    expect(await requireConfig("{}")).toEqual({});
  });

  test("gives the known keys, typed", async () => {
    const settings = await requireConfig(
      JSON.stringify({
        model: "provider_1:x/y",
        temperature: 0.5,
        memory: { enabled: false },
        skills: { clock: true, web_fetch: { enabled: false }, reminder: {} },
        mcpServers: { docs: { url: "https://docs.example.com/mcp", note: 1 } },
        channels: { channel_a: { access: "allowlist", allow: ["42"], groups: "off", other: 1 }, other: 1 },
        schedules: [{ cron: "0 9 * * *", prompt: "Good morning", timezone: "Europe/Vienna", missed: "skip" }],
        budget: { usdPerDay: 0.1 },
        approvals: ["wallet_send"],
        timezone: "UTC",
        unknown: "is left alone",
      }),
    );
    expect(settings).toEqual({
      model: "provider_1:x/y",
      temperature: 0.5,
      memory: false,
      skills: new Map(Object.entries({ clock: true, web_fetch: false, reminder: true })),
      mcpServers: new Map([["docs", { url: "https://docs.example.com/mcp" }]]),
      channels: { channel_a: { access: "allowlist", allow: ["42"], groups: "off" } },
      schedules: [{ cron: "0 9 * * *", prompt: "Good morning", timezone: "Europe/Vienna", missed: "skip" }],
      budget: { usdPerDay: 0.1 },
      approvals: new Map([["wallet_send", "ask" as const]]),
      timezone: "UTC",
    });
  });

  test("takes a list of skills to switch on", async () => {
    expect((await requireConfig('{"skills":["clock"]}')).skills).toEqual(new Map([["clock", true]]));
  });

  test.each([
    [{ model: 1 }, "model"],
    [{ instructions: null }, "instructions"],
    [{ temperature: 3 }, "temperature"],
    [{ topP: "1" }, "topP"],
    [{ maxTokens: 0.5 }, "maxTokens"],
    [{ memory: "yes" }, "memory"],
    [{ skills: { clock: "on" } }, "skills.clock"],
    [{ skills: [1] }, "skills[0]"],
    [{ mcpServers: [] }, "mcpServers"],
    [{ channels: { channel_b: { access: "all" } } }, "channels.channel_b.access"],
    [{ channels: { channel_a: { owners: [42] } } }, "channels.channel_a.owners[0]"],
    [{ schedules: [{ cron: "* * * * *" }] }, "schedules[0].prompt"],
    [{ schedules: {} }, "schedules"],
    [{ schedules: [{ prompt: "Hi" }] }, "schedules[0].cron"],
    [{ schedules: [{ prompt: "Hi", cron: "@daily", at: "2030-01-31T09:00" }] }, "schedules[0].cron"],
    [{ schedules: [{ prompt: "Hi", at: "tomorrow" }] }, "schedules[0].at"],
    [
      { schedules: [{ prompt: "Hi", cron: "@daily", deliver: { platform: "fax", peer: "1" } }] },
      "schedules[0].deliver.platform",
    ],
    [{ schedules: [{ prompt: "Hi", cron: "@daily", deliver: { platform: "channel_a" } }] }, "schedules[0].deliver"],
    [{ mcpServers: { docs: {} } }, "mcpServers.docs"],
    [{ mcpServers: { docs: { url: "ftp://docs.example.com" } } }, "mcpServers.docs.url"],
    [
      { mcpServers: { docs: { url: "https://docs.example.com", headers: { A: "a\r\nB: b" } } } },
      "mcpServers.docs.headers.A",
    ],
    [{ mcpServers: { docs: { url: "https://docs.example.com", headers: { "A b": "a" } } } }, "mcpServers.docs.headers"],
    [{ remoteAgents: { bob: { url: "https://bob.example.com", headers: { A: "☕" } } } }, "remoteAgents.bob.headers.A"],
    [{ budget: { usdPerDay: -1 } }, "budget.usdPerDay"],
    [{ approvals: { wallet: "maybe" } }, "approvals.wallet"],
    [{ timezone: "Mars/Olympus" }, "timezone"],
  ])("%j is 400 and names %s", async (config, path) => {
    expect(await refusalOf(config)).toMatchObject({
      status: 400,
      code: "INVALID_INPUT",
      extras: { issues: [{ path }] },
    });
  });

  test.each([
    ["banana"],
    ["* * * *"],
    ["* * * * * *"],
    ["60 * * * *"],
    ["0 0 31 2 *"],
    ["2030-01-31T09:00:00"],
    ["@reboot"],
  ])("with the cron expression %j is 400, and says what is allowed", async (cron) => {
    const schedules = [
      { prompt: "Hi", cron: "@daily" },
      { prompt: "Hi", cron },
    ];
    const error = await refusalOf({ schedules });
    expect(error).toMatchObject({ status: 400, code: "INVALID_SCHEDULE" });
    expect(error.extras.issues).toEqual([
      { path: "schedules[1].cron", message: expect.stringMatching(/five fields|never comes/) },
    ]);
  });

  test("with many schedules lets other work run while it is checked", async () => {
    let turns = 0;
    const timer = setInterval(() => turns++, 0);
    const schedules = Array.from({ length: 100 }, () => ({ prompt: "Hi", cron: "0 0 29 2 +MON" }));
    await requireConfig(JSON.stringify({ schedules }));
    clearInterval(timer);
    expect(turns).toBeGreaterThan(30);
    expect(await refusalOf({ schedules: [...schedules, schedules[0]] })).toMatchObject({ code: "INVALID_INPUT" });
  });

  test("takes schedules of every form", async () => {
    const schedules = [
      {
        name: "Morning",
        cron: "0 9 * * MON-FRI",
        prompt: "Good morning",
        deliver: { platform: "channel_a", peer: "42" },
      },
      { cron: "0 0 L * *", prompt: "Sum up", deliver: { webhook: true } },
      { at: "2030-01-31T09:00", prompt: "Once", deliver: null },
    ];
    expect((await requireConfig(JSON.stringify({ schedules }))).schedules).toEqual(schedules as never);
    const earlier = '{"schedules":[{"cron":"@daily","message":"Hi"}]}';
    expect((await requireConfig(earlier)).schedules).toEqual([{ cron: "@daily", prompt: "Hi" }]);
  });

  test("that was stored under other rules is read as far as it goes", () => {
    const { settings, issues } = readSettings({ temperature: "hot", timezone: "UTC" });
    expect(settings).toEqual({ timezone: "UTC" });
    expect(issues).toMatchObject([{ path: "temperature" }]);
  });

  test.each(["[]", "null", "1", '"x"', "", "{", "{}{}"])("%p is no JSON object: 400", async (text) => {
    expect(await refusalOf(text)).toMatchObject({ status: 400, code: "INVALID_CONFIG" });
  });

  test("has at most 64 KiB, counted in bytes", async () => {
    const fitting = JSON.stringify({ a: "x".repeat(64 * 1024 - 8) });
    expect(await requireConfig(fitting)).toEqual({});
    expect(await refusalOf(JSON.stringify({ a: "é".repeat(40_000) }))).toMatchObject({ code: "CONFIG_TOO_LARGE" });
  });
});

describe("MCP servers", () => {
  const url = "https://docs.example.com/mcp";
  const requireWith = (mcpServers: object, commands: string[]) =>
    requireConfigWith(JSON.stringify({ mcpServers }), [], commands);

  test("are at most twenty, with plain names", async () => {
    const many = Object.fromEntries(Array.from({ length: 21 }, (_, n) => [`s${n}`, { url }]));
    for (const mcpServers of [
      many,
      { "": { url } },
      { "a/b": { url } },
      { ["x".repeat(65)]: { url } },
      { ä: { url } },
    ]) {
      expect(await refusalOf({ mcpServers })).toMatchObject({ extras: { issues: [{ path: "mcpServers" }] } });
    }
    expect(
      await requireConfig(JSON.stringify({ mcpServers: { "My docs-1.2_x": { url, access: "everyone" } } })),
    ).toBeObject();
    expect(await refusalOf({ mcpServers: { a: { url, access: "all" } } })).toMatchObject({
      extras: { issues: [{ path: "mcpServers.a.access" }] },
    });
  });

  test("are started by commands of the operator alone; one that is off may name any", async () => {
    expect(await requireWith({ a: { command: "files" } }, ["files"])).toBeObject();
    expect(await requireWith({ a: { command: "other", enabled: false } }, [])).toBeObject();
    const refused = requireWith({ a: { command: "other" } }, ["files"]).catch((error: unknown) => error);
    expect(await refused).toMatchObject({ status: 400, extras: { issues: [{ path: "mcpServers.a.command" }] } });
  });
});

describe("a secret in a configuration", () => {
  const mcpServer = (Authorization: string) => ({
    mcpServers: { a: { url: "https://docs.example.com/mcp", headers: { Authorization } } },
  });
  const telegram = `123456789:${"A".repeat(35)}`;
  test.each([
    [{ apiKey: "abc" }, "apiKey"],
    [{ provider: { "API-Key": "abc" } }, "provider.API-Key"],
    [{ list: [{ bot_token: "abc" }] }, "list[0].bot_token"],
    [{ password: "hunter2" }, "password"],
    [{ clientSecret: "x" }, "clientSecret"],
    [mcpServer("Bearer x"), "mcpServers.a.headers.Authorization"],
    [mcpServer(`Bearer ${"$"}{credential:DOCS}x`), "mcpServers.a.headers.Authorization"],
    [{ note: `use ${telegram}, please` }, "note"],
    [{ a: ["sk-or-v1-0123456789abcdef0123"] }, "a[0]"],
    [{ db: "postgres://ada:lovelace@db.example.com/x" }, "db"],
    [{ instructions: "AIzaSyA1234567890abcdefghijklmnopqrstuv" }, "instructions"],
  ])("%j is 400, told by its path and never repeated", async (config, path) => {
    const error = await refusalOf(config);
    expect(error).toMatchObject({ status: 400, code: "SECRET_IN_CONFIG", extras: { issues: [{ path }] } });
    expect(error.message).toContain("credential");
    expect(JSON.stringify([error.message, error.extras])).not.toMatch(/hunter2|lovelace|sk-or|AAAA|AIza/);
  });

  test("is not repeated where it is the name of a member", async () => {
    const error = await refusalOf({ tokens: { [telegram]: 1 } });
    expect(error).toMatchObject({ code: "SECRET_IN_CONFIG", extras: { issues: [{ path: "tokens" }] } });
    expect(JSON.stringify([error.message, error.extras])).not.toContain(telegram);
  });

  test.each([
    { maxTokens: 100 },
    { key: "C major", monkey: "x", primaryKey: "id" },
    { apiKey: "", token: null, secret: false },
    mcpServer(`Bearer ${"$"}{credential:DOCS}`),
    { instructions: "Answer basic questions. Never reveal your password policy or a bearer of news." },
    { hash: `0x${"ab".repeat(32)}`, url: "https://medium.com/@ada", mail: "ada@example.com" },
  ])("is not seen in %j", async (config) => {
    expect(await requireConfig(JSON.stringify(config))).toBeObject();
  });
});

describe("the text of a member", () => {
  test.each([
    ['{"a":1,"config":{"2":1, "1":[]} }', '{"2":1, "1":[]}'],
    ['{ "x" : "config\\":{", "config" :\n[1,"]"]\n}', '[1,"]"]'],
    ['{"config":1,"config":2}', "2"],
    ['{"\\u0063onfig":"\\\\","a":{"config":3}}', '"\\\\"'],
    ['{"config":-1.5e400}', "-1.5e400"],
    ['{"a":{"config":3}}', undefined],
    ["{}", undefined],
    [" ", undefined],
  ])("of %s is %p", (text, expected) => {
    expect(rawJsonMember(text, "config")).toBe(expected);
  });

  test("is found fast behind a megabyte", async () => {
    const text = `{"a":"${'\\"x'.repeat(300_000)}","config":{"b":"${"y".repeat(60_000)}"}}`;
    expect(await fastestRun(() => expect(rawJsonMember(text, "config")).toHaveLength(60_008))).toBeLessThan(500);
  });
});
