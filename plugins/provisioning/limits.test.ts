// Tests the limit on provisioning, which counts each request once, on either surface.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Client, createClient } from "../../tests/support/client.ts";
import { openServer, type TestServer } from "../../tests/support/server.ts";

let server: TestServer;
let key: string;
beforeAll(async () => {
  server = await openServer({ env: { RATE_LIMITS: '{"provision":"2/h"}' } });
  const ada = createClient(server.web);
  await ada.join();
  key = (await ada.post<{ key: string }>("/api/keys", { name: "hers" })).body.key;
});
afterAll(() => server?.[Symbol.asyncDispose]());

/** A request that fails, but counts. */
const ask = async (by: Client) => {
  const headers = { authorization: `Bearer ${key}` };
  const { status, body } = await by.post<{ code: string }>("/api/provision", {}, { headers });
  return `${status} ${body.code}`;
};

test("a key at the backend has the same limit as on the web surface", async () => {
  const [web, backend] = [createClient(server.web), createClient(server.backend)];
  expect(await ask(web)).toBe("400 CHANNEL_TOKEN_REQUIRED");
  expect(await ask(backend)).toBe("400 CHANNEL_TOKEN_REQUIRED");
  expect([await ask(backend), await ask(web)]).toEqual(["429 RATE_LIMITED", "429 RATE_LIMITED"]);
});
