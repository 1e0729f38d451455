// Tests the catalogue of models for signed-in people: access, search, choices, and the keys of an agent.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createMember } from "../../../tests/support/account-setup.ts";
import type { Client } from "../../../tests/support/client.ts";
import { provision } from "../../../tests/support/members.ts";
import { expectRefusal } from "../../../tests/support/refusal.ts";
import { openServer, type TestServer } from "../../../tests/support/server.ts";
import { startUpstream } from "../../../tests/support/upstream.ts";

interface Model {
  reference: string;
  provider: string;
  available: boolean;
  tools: boolean | null;
  inputs: string[];
}
interface Catalogue {
  models: Model[];
  count: number;
  total: number;
  providers: { id: string; name: string; configured: boolean; models: number }[];
  choices: Record<"model_a" | "model_b", { reference: string | null; ownKey: boolean; demo: boolean }>;
  demo: boolean;
}

describe("without a key", () => {
  let server: TestServer;
  let ada: Client;
  beforeAll(async () => {
    server = await openServer();
    ada = (await createMember(server, { plan: "pro" })).client;
  });
  afterAll(() => server[Symbol.asyncDispose]());
  const ask = (query = "") => ada.get<Catalogue>(`/api/models${query}`);

  test("needs a session", async () => {
    expect((await fetch(`${server.web}/api/models`)).status).toBe(401);
  });

  test("says that the demo serves, and lists the other models as not available", async () => {
    const { body } = await ask("?limit=500");
    expect(body.demo).toBe(true);
    expect(body.choices.model_a).toMatchObject({ reference: null, name: "Demo model", demo: true, ownKey: false });
    expect(body.models.filter(({ available }) => available)).toEqual([
      expect.objectContaining({ reference: "provider_1:demo", inputCost: 0, tools: true, contextWindow: 8_192 }),
    ]);
    expect(body.providers.map(({ configured }) => configured)).not.toContain(true);
    expect(body.total).toBe(body.models.length);
  });

  test("searches by words, filters by provider, and pages", async () => {
    const { body } = await ask("?query=GPT%20mini&provider=provider_2");
    for (const { reference } of body.models) expect(reference).toMatch(/^provider_2:.*mini/);
    const all = (await ask("?limit=500")).body;
    const page = (await ask("?limit=2&offset=3")).body;
    expect(page).toMatchObject({ count: 2, total: all.total });
    expect(page.models).toEqual(all.models.slice(3, 5));
    expect((await ask("?available=1")).body.total).toBe(1);
  });

  test("resolves the choices with the keys of the agent that is named, if it is the caller's", async () => {
    const { id } = await provision(ada);
    await ada.post("/api/agent", {
      action: "set-credential",
      agentId: id,
      key: "provider_2",
      value: `sk-proj-${"a".repeat(40)}`,
    });
    const { body } = await ask(`?agentId=${id}`);
    expect(body.choices.model_a).toMatchObject({
      reference: expect.stringMatching(/^provider_2:/),
      ownKey: true,
      demo: false,
    });
    expect(JSON.stringify(body)).not.toContain("sk-proj");
    const bob = (await createMember(server)).client;
    expectRefusal(await bob.get(`/api/models?agentId=${id}`), 404, "AGENT_NOT_FOUND");
  });
});

test("shows what a provider's list says of a model", async () => {
  const architecture = { input_modalities: ["text", "image"], output_modalities: ["text"] };
  const models = [{ id: "maker/able", architecture, supported_parameters: ["tools"] }, "maker/plain"];
  await using upstream = await startUpstream({ models });
  await using server = await openServer({
    env: { PROVIDER_1_API_KEY: "k", PROVIDER_1_BASE_URL: upstream.url },
  });
  const { client } = await createMember(server);
  const { body } = await client.get<Catalogue>("/api/models?available=1");
  expect(body.demo).toBe(false);
  const found = new Map(body.models.map((model) => [model.reference, model]));
  expect(found.get("provider_1:maker/able")).toMatchObject({ tools: true, inputs: ["image"] });
  expect(found.get("provider_1:maker/plain")).toMatchObject({ tools: null, inputs: [] });
  expect(body.providers.find(({ configured }) => configured)?.models).toBe(body.total);
});
