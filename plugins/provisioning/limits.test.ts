// Tests the limit on provisioning, which counts each request once, on either surface, and who may provision.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Client, createClient } from "../../tests/support/client.ts";
import { expectRefusal } from "../../tests/support/refusal.ts";
import { openServer, type TestServer } from "../../tests/support/server.ts";
import { PROVISION_ACTION } from "./model.ts";

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

test("with ANONYMOUS_PROVISIONING=off only accounts may have agents made, and the refusal counts too", async () => {
  await using strict = await openServer({ env: { ANONYMOUS_PROVISIONING: "off", RATE_LIMITS: '{"provision":"3/h"}' } });
  const anyone = createClient(strict.web);
  const body = { channelAToken: "1:a-token" };
  expectRefusal(await anyone.post("/api/provision", body), 401, "UNAUTHORIZED");
  expectRefusal(await anyone.post("/api/provision", {}), 401, "UNAUTHORIZED");
  const ada = createClient(strict.web);
  await ada.join();
  expectRefusal(await ada.post("/api/provision", {}), 400, "CHANNEL_TOKEN_REQUIRED");
  expectRefusal(await anyone.post("/api/provision", body), 429, "RATE_LIMITED");
  // A web process with other settings can't have one made either.
  const grant = { userId: "", isAdmin: false, action: PROVISION_ACTION, address: "203.0.113.7" };
  const headers = { authorization: `Bearer ${strict.kernel.backend.tokens.sign(grant)}` };
  expectRefusal(await createClient(strict.backend).post("/api/provision", body, { headers }), 401, "UNAUTHORIZED");
  const { rows } = await strict.kernel.database.read("SELECT 1 FROM agents");
  expect(rows).toEqual([]);
});
