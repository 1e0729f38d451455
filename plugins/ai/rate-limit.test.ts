// Tests which calls count under the rate limit `ai`: those that cost something.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { serveAi } from "./support.test.ts";

const messages = [{ role: "user", content: "Hello" }];
const ROUNDS = 4;

let berth: Awaited<ReturnType<typeof serveAi>>;
beforeAll(async () => {
  berth = await serveAi({ RATE_LIMITS: '{"ai":"3/m"}' });
});
afterAll(() => berth[Symbol.asyncDispose]());

const CHEAP: readonly [string, () => Promise<Response>][] = [
  ["GET /api/ai/health", () => berth.get("/api/ai/health")],
  ["GET /api/ai/models", () => berth.get("/api/ai/models")],
  ["GET /api/ai/models/:provider", () => berth.get("/api/ai/models/provider_1")],
  ["POST /api/ai/models/select", () => berth.post("/api/ai/models/select", {})],
  [
    "POST /api/ai/estimate-cost",
    () => berth.post("/api/ai/estimate-cost", { model: "demo", inputTokens: 1, outputTokens: 1 }),
  ],
  ["GET /v1/models", () => berth.get("/v1/models")],
];
const expectCheapRoutesServed = async () => {
  for (const [route, call] of CHEAP) {
    const response = await call();
    expect([route, response.status]).toEqual([route, 200]);
    await response.body?.cancel();
  }
};

test("chats and embeddings share the limit; routes that cost nothing neither use it up nor are refused by it", async () => {
  for (let round = 0; round < ROUNDS; round++) await expectCheapRoutesServed();
  expect((await berth.post("/api/ai/chat", { messages })).status).toBe(200);
  expect((await berth.post("/v1/chat/completions", { messages })).status).toBe(200);
  // The demo has no embeddings, but the call counts.
  expect((await berth.post("/v1/embeddings", { model: "m", input: "Hello" })).status).toBe(404);
  for (const path of ["/api/ai/chat", "/v1/chat/completions", "/v1/embeddings"]) {
    const refused = await berth.post(path, { model: "m", messages, input: "Hello" });
    expect([path, refused.status]).toEqual([path, 429]);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
  }
  for (let round = 0; round < ROUNDS; round++) await expectCheapRoutesServed();
});
