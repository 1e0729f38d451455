// Tests embeddings for OpenAI clients, which are passed through to a provider of the model.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { startUpstream, type Upstream } from "../../../tests/support/upstream.ts";
import { bodyOf, serveAi } from "../support.test.ts";

let cloud: Upstream;
let local: Upstream;
let berth: Awaited<ReturnType<typeof serveAi>>;
beforeAll(async () => {
  cloud = await startUpstream({ key: "five" });
  local = await startUpstream({ models: ["llama3.2", "nomic-embed-text"] });
  berth = await serveAi({
    PROVIDER_5_API_KEY: "five",
    PROVIDER_5_BASE_URL: cloud.url,
    PROVIDER_3_BASE_URL: local.url,
    AI_PUBLIC_BUDGET_USD_PER_DAY: "1000",
  });
  await (await berth.get("/api/ai/models")).text();
});
afterAll(async () => {
  await berth[Symbol.asyncDispose]();
  await cloud.stop();
  await local.stop();
});
beforeEach(() => {
  cloud.reset();
  local.reset();
});

const ask = (body: object) => berth.post("/v1/embeddings", { input: ["one", "two"], ...body });
const served = async (model: string) => (await ask({ model })).headers.get("x-berth-model");

test("request and response are passed through byte for byte", async () => {
  const odd = '{ "object":"list","data":[ {"embedding":[1.0,-0,1e-400],"index":0}],"x":12345678901234567890 }';
  const seen: string[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      if (request.method === "POST") seen.push(await request.text());
      return new Response(odd);
    },
  });
  await using one = await serveAi({ PROVIDER_3_BASE_URL: `http://127.0.0.1:${server.port}/v1` });
  const text = '{"model":"provider_3:m","input":[[1,2,3]],"seed":12345678901234567890}';
  expect(await (await one.post("/v1/embeddings", text)).text()).toBe(odd);
  expect(seen).toEqual([text.replace("provider_3:", "")]);
  await server.stop(true);
});

test("a provider that lists the model serves it; a named provider always does", async () => {
  expect(await served("text-embedding-3-small")).toBe("provider_5:text-embedding-3-small");
  expect(await served("openai/text-embedding-3-small")).toBe("provider_5:text-embedding-3-small");
  expect(await served("nomic-embed-text")).toBe("provider_3:nomic-embed-text");
  expect(await served("provider_3:anything")).toBe("provider_3:anything");
  expect(await served("nobody-knows-it")).toBe("provider_3:nobody-knows-it");
  // They embed, and are not offered for chats.
  const { models } = await bodyOf(await berth.get("/api/ai/models/provider_3"));
  expect(models).toMatchObject([{ id: "llama3.2" }]);
});

test("a failure of a provider is reported as in a chat", async () => {
  const refused = await ask({ model: "text-embedding-3-small", input: [""] });
  expect([refused.status, await bodyOf(refused)]).toMatchObject([400, { code: "PROVIDER_REFUSED" }]);
});

describe("input", () => {
  test.each([
    [{}, "model"],
    [{ model: "" }, "model"],
    [{ model: 7 }, "model"],
    [{ model: "m", input: "" }, "input"],
    [{ model: "m", input: [] }, "input"],
    [{ model: "m", input: { 0: "x" } }, "input"],
    [{ model: "m", input: null }, "input"],
  ])("%o is 400 and names %s", async (body, path) => {
    const response = await ask(body);
    expect([response.status, await bodyOf(response)]).toMatchObject([
      400,
      { code: "INVALID_INPUT", issues: [{ path }] },
    ]);
    expect([...cloud.requests, ...local.requests].filter(({ method }) => method === "POST")).toHaveLength(0);
  });

  test("a body that is no object is refused as well", async () => {
    for (const body of ["[]", "7", "null", '"x"']) expect((await berth.post("/v1/embeddings", body)).status).toBe(400);
  });
});

test("each call is in the ledger, at the price of the model at any provider", async () => {
  await using one = await serveAi({ PROVIDER_1_API_KEY: "k", PROVIDER_1_BASE_URL: local.url });
  const input = "x".repeat(400_000);
  await (await one.post("/v1/embeddings", { model: "openai/text-embedding-3-large", input })).text();
  await one.stop();
  expect(await one.ledger()).toMatchObject([
    { kind: "public", model: "openai/text-embedding-3-large", input: 100_000, output: 0, cost: 13_000, estimated: 0 },
  ]);
});

test("the demo serves no embeddings", async () => {
  await using one = await serveAi();
  const refused = await one.post("/v1/embeddings", { model: "m", input: "x" });
  expect([refused.status, await bodyOf(refused)]).toMatchObject([404, { code: "NO_MODELS" }]);
});

test("a cached response is for the same input only", async () => {
  const model = "provider_5:text-embedding-3-small";
  const cached = (input: string) =>
    berth.post("/v1/embeddings", { model, input }, { headers: { "x-berth-cache": "on" } });
  const [one, same, other] = [await cached("one"), await cached("one"), await cached("other")];
  expect([one, same, other].map(({ headers }) => headers.get("x-berth-cache"))).toEqual(["miss", "hit", "miss"]);
  expect(await same.text()).toBe(await one.text());
  expect(await other.json()).not.toEqual(await (await cached("one")).json());
});
