// Sessions over HTTP: the owner of an account lists and ends them.
import { afterAll, afterEach, beforeAll, expect, setSystemTime, test } from "bun:test";
import { DAY } from "../../../src/kernel/util/time.ts";
import { type Client, createClient } from "../../../tests/support/client.ts";
import { expectRefusal } from "../../../tests/support/refusal.ts";
import { openServer, type TestServer } from "../../../tests/support/server.ts";

const iso = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
let server: TestServer;
beforeAll(async () => {
  server = await openServer();
});
afterAll(() => server?.[Symbol.asyncDispose]());
afterEach(() => setSystemTime());

interface Item {
  id: string;
  current: boolean;
  address: string;
  userAgent: string;
}
const list = async (client: Client) =>
  (await client.get<{ sessions: Item[]; count: number }>("/api/auth/sessions")).body;

/** Signs in to the same account in another browser. */
async function signInElsewhere({ account: { email, password } }: Client, userAgent: string): Promise<Client> {
  const client = createClient(server.web);
  const headers = { "user-agent": userAgent };
  await client.post("/api/auth/callback/credentials", { email, password }, { headers });
  return client;
}
async function joined(): Promise<Client> {
  const client = createClient(server.web);
  await client.join();
  return client;
}
const isSignedIn = async (client: Client) => (await client.get("/api/settings")).status === 200;

test("lists the sessions, newest first, and marks the current one", async () => {
  const current = await joined();
  const phone = await signInElsewhere(current, "Phone/1.0");
  await joined();
  const { sessions, count } = await list(current);
  expect(count).toBe(2);
  const time = expect.stringMatching(iso);
  const shape = { id: expect.any(String), createdAt: time, lastUsedAt: time, expiresAt: time, address: "127.0.0.1" };
  expect<object[]>(sessions).toEqual([
    { ...shape, current: false, userAgent: "Phone/1.0", label: "" },
    { ...shape, current: true, userAgent: "berth-tests/1.0", label: "" },
  ]);
  expect((await list(phone)).sessions.map(({ current }) => current)).toEqual([true, false]);
  for (const { cookie } of [current, phone]) expect(JSON.stringify(sessions)).not.toContain(cookie.split("=")[1] ?? "");
});

test("truncates long user agents", async () => {
  const current = await joined();
  const other = await signInElsewhere(current, "x".repeat(5_000));
  expect((await list(other)).sessions[0]?.userAgent).toHaveLength(300);
});

test("does not list expired sessions", async () => {
  const current = await joined();
  await signInElsewhere(current, "Phone/1.0");
  setSystemTime(Date.now() + 20 * DAY);
  await current.get("/api/settings");
  setSystemTime(Date.now() + 15 * DAY);
  expect((await list(current)).sessions.map(({ current }) => current)).toEqual([true]);
});

test("ends one session; a second request for it is 404", async () => {
  const current = await joined();
  const [phone, laptop] = [await signInElsewhere(current, "Phone/1.0"), await signInElsewhere(current, "Laptop/1.0")];
  const id = (await list(current)).sessions.find(({ userAgent }) => userAgent === "Phone/1.0")?.id ?? "";
  const ended: string[] = [];
  server.app.accounts.onSessionRevoked((sessionId) => ended.push(sessionId));
  const answer = await current.delete(`/api/auth/sessions/${id}`);
  expect({ status: answer.status, body: answer.body }).toEqual({
    status: 200,
    body: { success: true, id, deleted: true },
  });
  expect(answer.headers.getSetCookie()).toEqual([]);
  expect(ended).toEqual([id]);
  expect(await Promise.all([current, phone, laptop].map(isSignedIn))).toEqual([true, false, true]);
  expectRefusal(await current.delete(`/api/auth/sessions/${id}`), 404, "SESSION_NOT_FOUND");
});

test("ending the current session signs out, also if its renewal was due", async () => {
  const current = await joined();
  const { cookie } = current;
  const id = (await list(current)).sessions[0]?.id ?? "";
  setSystemTime(Date.now() + 2 * DAY);
  const answer = await current.delete(`/api/auth/sessions/${id}`);
  expect(answer.status).toBe(200);
  expect(answer.headers.getSetCookie()).toEqual(["berth_session=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax"]);
  const again = await createClient(server.web).get("/api/settings", { headers: { cookie } });
  expectRefusal(again, 401, "UNAUTHORIZED");
});

test("the session of another user gives the same 404 as an unknown id", async () => {
  const [ada, eve] = [await joined(), await joined()];
  const id = (await list(ada)).sessions[0]?.id ?? "";
  const refusals = [id, Bun.randomUUIDv7(), "x", "%27%20OR%201=1", "null"].map((one) =>
    eve.delete(`/api/auth/sessions/${one}`),
  );
  const texts = (await Promise.all(refusals)).map((answer) => {
    expectRefusal(answer, 404, "SESSION_NOT_FOUND");
    return answer.text;
  });
  expect(new Set(texts).size).toBe(1);
  expect(await isSignedIn(ada)).toBe(true);
});

test("ends all other sessions of the account only", async () => {
  const [current, eve] = [await joined(), await joined()];
  const others = [await signInElsewhere(current, "Phone/1.0"), await signInElsewhere(current, "Laptop/1.0")];
  expect((await current.delete("/api/auth/sessions")).body).toEqual({ success: true, count: 2 });
  expect(await Promise.all([current, eve, ...others].map(isSignedIn))).toEqual([true, true, false, false]);
  expect((await current.delete("/api/auth/sessions")).body).toEqual({ success: true, count: 0 });
});

test("requires a session: 401 without one, 403 for an API key", async () => {
  const current = await joined();
  const { body } = await current.post<{ key: string }>("/api/keys", { name: "script" });
  const id = (await list(current)).sessions[0]?.id ?? "";
  const stranger = createClient(server.web);
  const headers = { authorization: `Bearer ${body.key}` };
  for (const [method, path] of [
    ["get", "/api/auth/sessions"],
    ["delete", "/api/auth/sessions"],
    ["delete", `/api/auth/sessions/${id}`],
  ] as const) {
    const send = (options: { headers?: Record<string, string> }) =>
      method === "get" ? stranger.get(path, options) : stranger.delete(path, undefined, options);
    expectRefusal(await send({}), 401, "UNAUTHORIZED");
    expectRefusal(await send({ headers }), 403, "SESSION_REQUIRED");
  }
  const foreign = { headers: { origin: "https://evil.example" } };
  expectRefusal(await current.delete("/api/auth/sessions", undefined, foreign), 403, "FOREIGN_ORIGIN");
  expect(await isSignedIn(current)).toBe(true);
});
