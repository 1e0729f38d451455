// agent.json: what a file may say, the schema for editors, and the comparison of secrets that tells a deployment what to change.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import Ajv from "ajv/dist/2020";
import { createMember } from "../../../tests/support/account-setup.ts";
import { createClient } from "../../../tests/support/client.ts";
import { expectRefusal } from "../../../tests/support/refusal.ts";
import { openServer, type TestServer } from "../../../tests/support/server.ts";
import { AGENT_FILE, readAgentFile, referenceTo, variableOf } from "./agent-file.ts";
import { agentFileSchema } from "./agent-file-schema.ts";

let server: TestServer;
beforeAll(async () => {
  server = await openServer();
});
afterAll(() => server?.[Symbol.asyncDispose]());

const ref = referenceTo;
const WHOLE = {
  $schema: "https://berth.example.com/schemas/agent.json",
  name: "Harbour",
  model: "model_a",
  running: true,
  config: {
    instructions: "You are the harbour's assistant.",
    skills: { reminder: false },
    schedules: [{ name: "News", prompt: "What happened?", cron: "0 9 * * *" }],
    mcpServers: {
      docs: { url: "https://docs.example.com/mcp", headers: { Authorization: `Bearer ${"$"}{credential:DOCS}` } },
    },
    channels: { channel_a: { access: "pairing" } },
  },
  credentials: { provider_1: ref("OPENROUTER"), DOCS: ref("DOCS"), OLD: null },
  channels: { channel_a: { token: ref("BOT"), ownerId: "42" }, channel_b: null },
  knowledge: ["handbook.pdf", "docs/*.md"],
};

test("a file with everything is read, without an issue", async () => {
  const { $schema: _, ...members } = WHOLE;
  const { file, issues, warnings } = await readAgentFile(WHOLE);
  expect({ issues, warnings }).toEqual({ issues: [], warnings: [] });
  expect({ ...file, credentials: Object.fromEntries(file.credentials ?? []) } as object).toEqual(members);
});

test.each([
  ["a list", [], [""]],
  ["no name", {}, ["name"]],
  ["an empty name", { name: "" }, ["name"]],
  ["an unknown model", { name: "x", model: "gpt" }, ["model"]],
  ["an unknown member", { name: "x", skills: {} }, ["skills"]],
  ["a wrong setting", { name: "x", config: { temperature: 9 } }, ["config.temperature"]],
  [
    "a wrong schedule",
    { name: "x", config: { schedules: [{ cron: "x", prompt: "y" }] } },
    ["config.schedules[0].cron"],
  ],
  ["a secret in the file", { name: "x", credentials: { DOCS: "s3cret" } }, ["credentials.DOCS"]],
  ["a secret beside a reference", { name: "x", credentials: { DOCS: `x${ref("A")}` } }, ["credentials.DOCS"]],
  ["a bot's token in the file", { name: "x", channels: { channel_a: { token: "1:a" } } }, ["channels.channel_a.token"]],
  ["a channel that is none", { name: "x", channels: { channel_z: null } }, ["channels.channel_z"]],
  [
    "a member that a bot has not",
    { name: "x", channels: { channel_a: { tokn: ref("A") } } },
    ["channels.channel_a.tokn"],
  ],
  ["a credential of another form", { name: "x", credentials: { docs: ref("A") } }, ["credentials"]],
  [
    "a variable in the configuration",
    { name: "x", config: { instructions: `Use ${ref("A")}` } },
    ["config.instructions"],
  ],
  ["a secret in the configuration", { name: "x", config: { apiKey: "abcdefgh" } }, ["config.apiKey"]],
])("%s is an issue with its path", async (_, value, paths) => {
  expect((await readAgentFile(value)).issues.map(({ path }) => path)).toEqual(paths);
});

test("an issue never repeats a secret", async () => {
  const { issues } = await readAgentFile({ name: "x", credentials: { DOCS: "s3cret-value" } });
  expect(JSON.stringify(issues)).not.toContain("s3cret");
});

test("a key of the configuration that Berth does not know is a warning", async () => {
  const { issues, warnings } = await readAgentFile({ name: "x", config: { temprature: 1, voice: { speed: 2 } } });
  expect(issues).toEqual([]);
  expect(warnings.map(({ path }) => path).sort()).toEqual(["config.temprature", "config.voice.speed"]);
});

test("a reference names its variable", () => {
  expect(variableOf(ref("BOT_TOKEN"))).toBe("BOT_TOKEN");
});

describe("the schema", () => {
  const validate = new Ajv({ strict: false, formats: { uri: true } }).compile(
    agentFileSchema("https://berth.example.com"),
  );

  test("is served to every origin, at the address that it names", async () => {
    const answer = await fetch(`${server.web}/schemas/agent.json`);
    expect(answer.headers.get("content-type")).toBe("application/schema+json");
    expect(answer.headers.get("access-control-allow-origin")).toBe("*");
    const schema = (await answer.json()) as { $id: string; properties: object };
    expect(schema.$id).toEndWith("/schemas/agent.json");
    expect(Object.keys(schema.properties).sort()).toEqual(["$schema", ...Object.keys(AGENT_FILE)].sort());
  });

  test("accepts what the reader accepts, with a description for each member", () => {
    expect(validate(WHOLE)).toBe(true);
    for (const read of Object.values(AGENT_FILE)) expect(read.schema().description).toEndWith(".");
  });

  test.each([
    [{}],
    [{ name: "x", skills: {} }],
    [{ name: "x", model: "gpt" }],
    [{ name: "x", config: { temperature: 9 } }],
    [{ name: "x", credentials: { DOCS: "s3cret" } }],
    [{ name: "x", channels: { channel_a: { tokn: ref("A") } } }],
    [{ name: "x", channels: { channel_z: null } }],
  ])("refuses %j, as the reader does", async (value) => {
    expect(validate(value)).toBe(false);
    expect((await readAgentFile(value)).issues).not.toEqual([]);
  });
});

describe("the comparison of secrets", () => {
  interface Compared {
    stored: string[];
    matching: string[];
  }
  async function openAgent(options: Parameters<typeof openServer>[0] = {}) {
    const opened = await openServer(options);
    const { client } = await createMember(opened, { plan: "pro" });
    const { agent } = (await client.post<{ agent: { id: string } }>("/api/agents", { name: "Harbour" })).body;
    const set = (key: string, value: string) =>
      client.post("/api/agent", { action: "set-credential", agentId: agent.id, key, value });
    const compare = (values: object) =>
      client.post<Compared>(`/api/agents/${agent.id}/credentials/compare`, { values });
    return { opened, client, agent, set, compare, [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose]() };
  }

  test("says which are stored and which are the same, and shows none", async () => {
    await using at = await openAgent();
    expect((await at.compare({ DOCS: "a" })).body).toEqual({ stored: [], matching: [] });
    await at.set("DOCS", "s3cret-of-docs");
    await at.set("OTHER", "s3cret-of-other");
    const { body, text } = await at.compare({ DOCS: "s3cret-of-docs", OTHER: "x", NONE: "y" });
    expect(body).toEqual({ stored: ["DOCS", "OTHER"], matching: ["DOCS"] });
    expect(text).not.toContain("s3cret");
  });

  test("is for the agent's owner, with the scope that may store secrets", async () => {
    await using at = await openAgent();
    const path = `/api/agents/${at.agent.id}/credentials/compare`;
    const { client: eve } = await createMember(at.opened);
    expectRefusal(await eve.post(path, { values: {} }), 404, "AGENT_NOT_FOUND");
    const { key } = (await at.client.post<{ key: string }>("/api/keys", { name: "k", scopes: ["read", "chat"] })).body;
    const headers = { authorization: `Bearer ${key}` };
    expectRefusal(await createClient(at.opened.web).post(path, { values: {} }, { headers }), 403, "MISSING_SCOPE");
  });

  test("is limited, so that nobody finds a secret by trying", async () => {
    await using at = await openAgent({ env: { RATE_LIMITS: '{"default":"100000/m"}' } });
    for (let n = 0; n < 60; n++) expect((await at.compare({ DOCS: String(n) })).status).toBe(200);
    const refused = await at.compare({ DOCS: "4" });
    expectRefusal(refused, 429, "RATE_LIMITED");
    expect(refused.headers.get("retry-after")).toMatch(/^\d+$/);
  });
});
