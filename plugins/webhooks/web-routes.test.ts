// Tests the routes of webhooks over HTTP: validation, ownership, scopes, and the shown deliveries.
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { type Client, createClient } from "../../tests/support/client.ts";
import { eventually } from "../../tests/support/eventually.ts";
import { isSignedWith, type Receiver, startReceiver } from "../../tests/support/receiver.ts";
import { expectRefusal } from "../../tests/support/refusal.ts";
import { openServer, type TestServer } from "../../tests/support/server.ts";

interface Webhook extends Record<string, unknown> {
  id: string;
  url: string;
  types: string[];
  description: string;
  secret?: string;
  active: boolean;
  disabledReason: string | null;
  allEvents: boolean;
}

interface DeliveryItem {
  id: string;
  eventId: string;
  status: string;
  attempts: number;
}

let server: TestServer;
let receiver: Receiver;
let ada: Client;
let bob: Client;
beforeAll(async () => {
  receiver = startReceiver();
  server = await openServer({ env: { OUTBOUND_ALLOW: "127.0.0.1/32", ADMIN_EMAILS: "root@example.com", PORT: "0" } });
  ada = createClient(server.web);
  bob = createClient(server.web);
  await Promise.all([ada.join(), bob.join()]);
});
afterAll(async () => {
  await server?.[Symbol.asyncDispose]();
  await receiver?.[Symbol.asyncDispose]();
});
afterEach(async () => {
  for (const client of [ada, bob]) {
    const { body } = await client.get<{ webhooks: Webhook[] }>("/api/webhooks");
    for (const { id } of body.webhooks) await client.delete(`/api/webhooks/${id}`);
  }
});

const url = "https://hooks.example.com/berth";

async function createWebhook(client: Client, body: object = {}): Promise<Webhook & { secret: string }> {
  const answer = await client.post<Webhook & { secret: string }>("/api/webhooks", { url: receiver.url, ...body });
  expect(answer).toMatchObject({ status: 201 });
  return answer.body;
}

test("types under another name are not dropped without a word", async () => {
  const { body } = await ada.post("/api/webhooks", { url: receiver.url, events: ["agent.*"] });
  expect(body).toMatchObject({
    types: ["*"],
    warnings: [{ path: "events", message: "This was ignored: there is no such field here." }],
  });
  await ada.delete(`/api/webhooks/${(body as Webhook).id}`);
});

test("a webhook can be created, read, changed and removed; only its creation shows the secret", async () => {
  const {
    status,
    body: { warnings, ...body },
  } = await ada.post<Webhook & { warnings: { path: string }[] }>("/api/webhooks", {
    url: receiver.url,
    types: ["agent.*", "user.updated", "agent.*"],
    description: "Dock",
    ...{ id: "mine", userId: "bob", secret: "whsec_mine", allEvents: true, wide: 1, active: false },
  });
  expect(status).toBe(201);
  expect(warnings.map(({ path }) => path)).toEqual(["userId", "wide"]);
  expect(body).toEqual({
    id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    url: receiver.url,
    types: ["agent.*", "user.updated"],
    description: "Dock",
    secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
    active: true,
    disabledReason: null,
    allEvents: false,
    createdAt: expect.stringMatching(/Z$/),
    updatedAt: expect.stringMatching(/Z$/),
  });
  const { secret, ...shown } = body;
  expect((await ada.get("/api/webhooks")).body).toEqual({ webhooks: [shown], count: 1 });
  expect((await ada.get(`/api/webhooks/${body.id}`)).body).toEqual(shown);
  const changed = await ada.patch<Webhook>(`/api/webhooks/${body.id}`, {
    types: ["*"],
    description: "",
    active: false,
  });
  expect(changed.body).toMatchObject({ types: ["*"], description: "", active: false, disabledReason: "Switched off." });
  const { updatedAt: _, ...same } = { ...shown, ...changed.body };
  expect((await ada.patch(`/api/webhooks/${body.id}`, {})).body).toMatchObject(same);
  expect((await ada.delete(`/api/webhooks/${body.id}`)).body).toEqual({ success: true, id: body.id, deleted: true });
  expectRefusal(await ada.delete(`/api/webhooks/${body.id}`), 404, "WEBHOOK_NOT_FOUND");
  const dump = JSON.stringify((await server.kernel.database.read("SELECT * FROM webhook_endpoints")).rows);
  expect(dump).not.toContain(secret ?? "");
});

test("another user's webhook looks like an unknown one, whatever the request", async () => {
  const { id } = await createWebhook(ada);
  const bad = { url: 7 };
  for (const path of [id, crypto.randomUUID(), "operator", "%00"]) {
    const answers = await Promise.all([
      bob.get(`/api/webhooks/${path}`),
      bob.patch(`/api/webhooks/${path}`, bad),
      bob.delete(`/api/webhooks/${path}`),
      bob.post(`/api/webhooks/${path}/rotate`, bad),
      bob.get(`/api/webhooks/${path}/deliveries?limit=x`),
      bob.post(`/api/webhooks/${path}/deliveries/${crypto.randomUUID()}/replay`),
    ]);
    for (const answer of answers) {
      expect(expectRefusal(answer, 404, "WEBHOOK_NOT_FOUND").error).toBe("You have no webhook with this id.");
    }
  }
  expect((await bob.get("/api/webhooks")).body).toEqual({ webhooks: [], count: 0 });
  expect((await ada.get(`/api/webhooks/${id}`)).status).toBe(200);
});

test("a caller who is not signed in is refused, whatever the request", async () => {
  const anonymous = createClient(server.web);
  expectRefusal(await anonymous.post("/api/webhooks", { url: 7 }), 401);
  expectRefusal(await anonymous.get("/api/webhooks"), 401);
  expectRefusal(await anonymous.patch("/api/webhooks/x", { url: 7 }), 401);
  expectRefusal(await anonymous.get("/api/events?types=nonsense"), 401);
});

describe("an address", () => {
  test.each([
    "http://10.0.0.1/hook",
    "http://[::1]:3000/",
    "http://169.254.169.254/latest/meta-data/",
    "http://2130706433/",
    "http://0x7f.1/",
    "http://[::ffff:10.0.0.1]/",
    "http://ada:secret@hooks.example.com/",
    "ftp://hooks.example.com/",
    "file:///etc/passwd",
    "javascript:alert(1)",
  ])("%s is refused at the creation and at a change", async (url) => {
    expectRefusal(await ada.post("/api/webhooks", { url }), 400, "ADDRESS_NOT_ALLOWED");
    const { id } = await createWebhook(ada);
    expectRefusal(await ada.patch(`/api/webhooks/${id}`, { url }), 400, "ADDRESS_NOT_ALLOWED");
    expect((await ada.get(`/api/webhooks/${id}`)).body).toMatchObject({ url: receiver.url });
  });

  test.each([["/hook"], [""], ["not an address"], ["http://"]])("%j is not valid", async (url) => {
    expectRefusal(await ada.post("/api/webhooks", { url }), 400, "INVALID_ADDRESS");
  });

  test("whose name can't be looked up is accepted: it is checked again at each delivery", async () => {
    expect((await ada.post("/api/webhooks", { url: "https://nowhere.invalid/hook" })).status).toBe(201);
  });

  test("may have 2,048 characters", async () => {
    const long = (length: number) => `${receiver.url}/`.padEnd(length, "x");
    expect((await ada.post("/api/webhooks", { url: long(2_048) })).status).toBe(201);
    expect(expectRefusal(await ada.post("/api/webhooks", { url: long(2_049) }), 400).issues?.[0]?.path).toBe("url");
  });
});

test.each([
  [{}, "url"],
  [{ url: 1 }, "url"],
  [{ url: null }, "url"],
  [{ url, types: "agent.created" }, "types"],
  [{ url, types: [] }, "types"],
  [{ url, types: ["agent.created", "agent.creatd"] }, "types.1"],
  [{ url, types: ["boat.*"] }, "types.0"],
  [{ url, types: [1] }, "types.0"],
  [{ url, description: 1 }, "description"],
  [{ url, description: "x".repeat(501) }, "description"],
])("%j is 400 with the path of the wrong field", async (body, path) => {
  const { issues } = expectRefusal(await ada.post("/api/webhooks", body), 400);
  expect(issues?.map((issue) => issue.path)).toEqual([path]);
});

test("a user can have twenty webhooks, also with concurrent requests", async () => {
  const answers = await Promise.all(Array.from({ length: 25 }, () => ada.post("/api/webhooks", { url: receiver.url })));
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(20);
  const refused = answers.find(({ status }) => status !== 201);
  if (refused) expect(expectRefusal(refused, 409, "WEBHOOK_LIMIT")).toMatchObject({ current: 20, limit: 20 });
  await createWebhook(bob);
});

test("with an Idempotency-Key a webhook is created once, and its secret is not stored", async () => {
  const headers = { "idempotency-key": crypto.randomUUID() };
  const send = () => ada.post<Webhook>("/api/webhooks", { url: receiver.url }, { headers });
  const first = await send();
  const again = await send();
  expect(again).toMatchObject({ status: 201, body: { ...first.body, secret: null } });
  const { rows } = await server.kernel.database.read("SELECT * FROM idempotency_keys");
  expect(JSON.stringify(rows)).not.toContain(first.body.secret ?? "?");
  const rotate = () => ada.post<{ secret: string | null }>(`/api/webhooks/${first.body.id}/rotate`, {}, { headers });
  expect((await rotate()).body.secret).toStartWith("whsec_");
  expect((await rotate()).body).toEqual({ secret: null });
});

test("an admin's webhook receives all users' events, as `allEvents` says", async () => {
  const root = createClient(server.web);
  await root.join({ email: "root@example.com" });
  expect(await createWebhook(root)).toMatchObject({ allEvents: true });
  expect(await createWebhook(ada)).toMatchObject({ allEvents: false });
});

test("deliveries show the outcome of each event, page by page; a replay keeps the message id", async () => {
  await server.kernel.jobs.start();
  await server.app.start();
  const { id, secret } = await createWebhook(ada, { url: `${receiver.url}/page`, types: ["user.updated"] });
  const isHere = ({ path }: { path: string }) => path === "/page";
  const userId = (await ada.get<{ id: string }>("/api/settings")).body.id;
  const { database, events } = server.kernel;
  for (const n of [1, 2, 3]) await database.write([events.recordStatement("user.updated", { userId, data: { n } })]);
  await receiver.take(3, isHere);
  const list = (query = "") =>
    ada.get<{ deliveries: DeliveryItem[]; count: number; nextCursor: string | null }>(
      `/api/webhooks/${id}/deliveries${query}`,
    );
  await eventually(async () => (await list()).body.deliveries.every(({ status }) => status === "delivered"));
  const { body } = await list();
  expect(body.count).toBe(3);
  const [first]: object[] = body.deliveries;
  expect(first).toEqual({
    id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    eventId: expect.stringMatching(/^[0-9a-f-]{36}$/),
    type: "user.updated",
    status: "delivered",
    attempts: 1,
    lastStatus: 204,
    lastError: null,
    nextAttemptAt: null,
    createdAt: expect.stringMatching(/Z$/),
    deliveredAt: expect.stringMatching(/Z$/),
  });
  expect((await list("?limit=1&offset=1")).body.deliveries).toEqual(body.deliveries.slice(1, 2));
  const { nextCursor } = (await list("?limit=1")).body;
  const rest = (await list(`?cursor=${nextCursor}`)).body;
  expect(rest).toMatchObject({ deliveries: body.deliveries.slice(1), nextCursor: null });
  expect((await list("?limit=5000")).body.count).toBe(3);
  expectRefusal(await list("?cursor=elsewhere"), 400);
  expectRefusal(await list("?limit=0"), 400);
  expectRefusal(await list("?offset=-1"), 400);

  const [newest] = body.deliveries;
  const replay = await ada.post<{ delivery: DeliveryItem }>(`/api/webhooks/${id}/deliveries/${newest?.id}/replay`);
  expect(replay).toMatchObject({ status: 202, body: { delivery: { id: newest?.id, status: "pending", attempts: 0 } } });
  const fourth = (await receiver.take(4, isHere))[3];
  expect(fourth?.id).toBe(newest?.eventId ?? "");
  expect(fourth && isSignedWith(fourth, secret)).toBe(true);
  const other = await createWebhook(ada);
  expectRefusal(await ada.post(`/api/webhooks/${other.id}/deliveries/${newest?.id}/replay`), 404, "DELIVERY_NOT_FOUND");
  await ada.patch(`/api/webhooks/${id}`, { active: false });
  expectRefusal(await ada.post(`/api/webhooks/${id}/deliveries/${newest?.id}/replay`), 409, "WEBHOOK_INACTIVE");
});

describe("an API key", () => {
  const keyOf = async (...scopes: string[]) => {
    const { body } = await ada.post<{ key: string }>("/api/keys", { name: scopes.join(), scopes });
    return { headers: { authorization: `Bearer ${body.key}` } };
  };
  const client = () => createClient(server.web);

  test.each([[["write"]], [["read"]], [["chat", "write"]]])(
    "with %p can't have events sent to an address, whatever the body: that needs read and write",
    async (scopes) => {
      const { id } = await createWebhook(ada);
      const options = await keyOf(...scopes);
      for (const body of [{ url: `${receiver.url}/thief` }, { url: 1, types: "x" }]) {
        expectRefusal(await client().post("/api/webhooks", body, options), 403, "MISSING_SCOPE");
        expectRefusal(await client().patch(`/api/webhooks/${id}`, body, options), 403, "MISSING_SCOPE");
      }
      const { body } = await ada.get<{ webhooks: Webhook[] }>("/api/webhooks");
      expect(body.webhooks.map((webhook) => webhook.url)).toEqual([receiver.url]);
    },
  );

  test("with read and write can", async () => {
    const options = await keyOf("read", "write");
    const answer = await client().post<Webhook>("/api/webhooks", { url: receiver.url }, options);
    expect(answer.status).toBe(201);
    const path = `/api/webhooks/${answer.body.id}`;
    expect((await client().patch(path, { description: "mine" }, options)).status).toBe(200);
  });

  test("with write can rotate and remove a webhook, but not read it", async () => {
    const { id } = await createWebhook(ada);
    const options = await keyOf("write");
    expectRefusal(await client().get(`/api/webhooks/${id}`, options), 403, "MISSING_SCOPE");
    expect((await client().post(`/api/webhooks/${id}/rotate`, {}, options)).status).toBe(200);
    expect((await client().delete(`/api/webhooks/${id}`, undefined, options)).status).toBe(200);
  });
});

test("reclaiming an unverified account removes a stranger's webhooks from it", async () => {
  const stranger = createClient(server.web);
  const id = await stranger.join();
  await createWebhook(stranger, { url: `${receiver.url}/stranger` });
  await createWebhook(ada);
  const record = () => ({ sql: "SELECT 1", args: [] });
  const link = await server.app.accounts.administration.resetPassword(id, record, "link");
  const token = new URL(link ?? "").searchParams.get("token");
  const password = "another horse battery";
  expect((await createClient(server.web).post("/api/auth/reset-password", { token, password })).status).toBe(200);
  await stranger.signIn({ password });
  expect((await stranger.get("/api/webhooks")).body).toEqual({ webhooks: [], count: 0 });
  expect((await ada.get("/api/webhooks")).body).toMatchObject({ count: 1 });
});

test("a former admin can't replay events about other users", async () => {
  const chief = createClient(server.web);
  const chiefId = await chief.join();
  const { database, events } = server.kernel;
  const { users } = server.app.accounts;
  await database.write([users.updateStatement(chiefId, { isAdmin: true })]);
  const { id, allEvents } = await createWebhook(chief, { url: `${receiver.url}/chief`, types: ["user.updated"] });
  expect(allEvents).toBe(true);
  const adaId = (await ada.get<{ id: string }>("/api/settings")).body.id;
  for (const userId of [adaId, chiefId])
    await database.write([events.recordStatement("user.updated", { userId, data: {} })]);
  const isHere = ({ path }: { path: string }) => path === "/chief";
  await receiver.take(2, isHere);
  const [own, others] = (await chief.get<{ deliveries: DeliveryItem[] }>(`/api/webhooks/${id}/deliveries`)).body
    .deliveries;
  const replay = (delivery?: DeliveryItem) => chief.post(`/api/webhooks/${id}/deliveries/${delivery?.id}/replay`);
  expect((await replay(others)).status).toBe(202);
  await receiver.take(3, isHere);

  await database.write([users.updateStatement(chiefId, { isAdmin: false })]);
  await chief.patch(`/api/webhooks/${id}`, { url: `${receiver.url}/elsewhere` });
  expectRefusal(await replay(others), 403, "ADMIN_REQUIRED");
  expect((await replay(own)).status).toBe(202);
  await receiver.take(1, ({ path }) => path === "/elsewhere");
  expect(receiver.received.filter(({ path }) => path === "/elsewhere")).toHaveLength(1);
});
