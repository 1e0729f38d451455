// Webhooks and the event stream of the compiled binary: every event arrives, also over kills.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { testedBlocks } from "../site/tested-blocks.ts";
import { type Berth, startBerth } from "./support/berth.ts";
import { type Client, createClient } from "./support/client.ts";
import { eventually } from "./support/eventually.ts";
import { member, provision } from "./support/members.ts";
import { freePorts } from "./support/nats.ts";
import { changed, withProgram } from "./support/program.ts";
import { isSignedWith, type Receiver, startReceiver, verify } from "./support/receiver.ts";
import { expectRefusal } from "./support/refusal.ts";
import { startSqld } from "./support/sqld.ts";

const OPERATOR = "whsec_dGhlIG9wZXJhdG9yJ3Mgb3duIHNlY3JldA==";

interface Webhook {
  id: string;
  secret: string;
}

let receiver: Receiver;
let berth: Berth;
let ada: Client;

beforeAll(async () => {
  receiver = startReceiver();
  berth = await startBerth({
    env: {
      OUTBOUND_ALLOW: "127.0.0.1/32",
      WEBHOOK_URL: `${receiver.url}/operator`,
      WEBHOOK_SECRET: OPERATOR,
      RATE_LIMITS: "off",
    },
  });
  ada = await member(berth);
});
afterAll(async () => {
  await berth?.[Symbol.asyncDispose]();
  await receiver?.[Symbol.asyncDispose]();
});

async function webhook(client: Client, path: string, types?: string[]): Promise<Webhook> {
  const { status, body } = await client.post<Webhook>("/api/webhooks", { url: receiver.url + path, types });
  expect(status).toBe(201);
  return body;
}

/** Creates an agent for its event, then removes it to free the quota. */
async function made(client: Client, name: string): Promise<void> {
  const { id } = await provision(client, name);
  expect((await client.delete(`/api/agents/${id}`)).status).toBe(200);
}

const at = (path: string) => (one: { path: string }) => one.path === path;

test("the operator's endpoint gets a sign-up in the documented format", async () => {
  const { id } = await createClient(berth).signUp({ email: "told@example.com", name: "Told" });
  const [one] = await receiver.take(1, ({ path, message }) => path === "/operator" && message.data.id === id);
  expect(one && verify(one, OPERATOR)).toEqual({
    type: "user.created",
    timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    data: {
      id,
      email: "told@example.com",
      name: "Told",
      plan: "free",
      createdAt: expect.stringMatching(/Z$/),
    },
  });
});

test("a user's endpoint gets the signed events of the user's own agents only", async () => {
  const { secret } = await webhook(ada, "/ada");
  const bob = await member(berth);
  await made(bob, "Bob's");
  await made(ada, "Ada's");
  const [one] = await receiver.take(1, at("/ada"));
  expect(one && verify(one, secret)).toMatchObject({ type: "agent.created", data: { name: "Ada's" } });
  expect(one && isSignedWith(one, OPERATOR)).toBe(false);
  expect(receiver.received.filter(at("/ada")).some(({ body }) => body.includes("Bob's"))).toBe(false);
});

test("the receiver of docs/webhooks.md accepts what is signed with its secret, and nothing else", async () => {
  const [program] = testedBlocks(import.meta.path, "docs/webhooks.md", 1);
  const [port] = await freePorts(1);
  const url = `http://127.0.0.1:${port}/`;
  const { body } = await ada.post<Webhook>("/api/webhooks", { url, types: ["agent.created"] });
  const own = changed(program.code, {
    "whsec_…": body.secret,
    "Bun.serve({": `export const server = Bun.serve({ hostname: "127.0.0.1", port: ${port}, error: () => new Response(null, { status: 400 }),`,
  });
  await withProgram<{ server: Bun.Server<undefined> }>(own, async ({ server }) => {
    await made(ada, "Signed");
    const path = `/api/webhooks/${body.id}/deliveries`;
    const answered = await eventually(async () => {
      const { body } = await ada.get<{ deliveries: { lastStatus: number | null }[] }>(path);
      return body.deliveries.find(({ lastStatus }) => lastStatus !== null);
    });
    expect(answered).toMatchObject({ status: "delivered", lastStatus: 204 });
    expect((await fetch(url, { method: "POST", body: "{}" })).status).toBe(400);
    await server.stop(true);
  });
  expect((await ada.delete(`/api/webhooks/${body.id}`)).status).toBe(200);
});

test("after a kill before delivery every event arrives with the same id", async () => {
  const { id, secret } = await webhook(ada, "/crash", ["agent.created"]);
  receiver.answer(({ path }) => (path === "/crash" ? "hang" : 204));
  const names = Array.from({ length: 12 }, (_, n) => `crash ${n}`);
  const [first = "", ...others] = names;
  await made(ada, first);
  // At the kill one attempt is in progress and the others wait.
  const [before] = await receiver.take(1, at("/crash"), 10_000);
  for (const name of others) await made(ada, name);
  await berth.kill();
  receiver.answer(204);
  const known = receiver.received.filter(at("/crash")).length;
  await berth.restart({ keepPorts: true });
  await receiver.take(known + names.length, at("/crash"), 20_000);
  const came = receiver.received.filter(at("/crash"));
  expect(new Set(came.map(({ message }) => message.data.name))).toEqual(new Set(names));
  expect(new Set(came.map((one) => one.id)).size).toBe(names.length);
  expect(came.every((one) => isSignedWith(one, secret))).toBe(true);
  expect(came.slice(known).some((one) => one.id === before?.id && one.body === before.body)).toBe(true);
  await eventually(async () => {
    const { body } = await ada.get<{ deliveries: { status: string }[] }>(`/api/webhooks/${id}/deliveries`);
    return body.deliveries.length === 12 && body.deliveries.every(({ status }) => status === "delivered");
  });
});

test("a failed delivery is retried after five seconds", async () => {
  const { secret } = await webhook(ada, "/away", ["agent.created"]);
  receiver.answer(({ path }, before) => (path === "/away" && before === 0 ? 503 : 204));
  await made(ada, "Away");
  const [one, two] = await receiver.take(2, at("/away"), 10_000);
  expect(two?.id).toBe(one?.id ?? "");
  expect(two?.headers["webhook-timestamp"]).not.toBe(one?.headers["webhook-timestamp"] ?? "");
  expect(two && isSignedWith(two, secret)).toBe(true);
});

test("after a rotation both secrets sign", async () => {
  const { id, secret } = await webhook(ada, "/rotated", ["agent.created"]);
  const { body } = await ada.post<{ secret: string }>(`/api/webhooks/${id}/rotate`);
  expect(body.secret).not.toBe(secret);
  await made(ada, "Rotated");
  const [one] = await receiver.take(1, at("/rotated"));
  expect([secret, body.secret].map((each) => one && isSignedWith(one, each))).toEqual([true, true]);
});

test("a receiver that answers 410 gets no further events", async () => {
  const { id } = await webhook(ada, "/gone", ["agent.created"]);
  receiver.answer(({ path }) => (path === "/gone" ? 410 : 204));
  await made(ada, "Gone");
  await eventually(async () => {
    expect((await ada.get(`/api/webhooks/${id}`)).body).toMatchObject({
      active: false,
      disabledReason: expect.stringContaining("410"),
    });
    return true;
  });
  await made(ada, "Goner");
  await receiver.take(1, ({ path, message }) => path === "/operator" && message.data.name === "Goner");
  expect(receiver.received.filter(at("/gone"))).toHaveLength(1);
});

test("no secret is in the log or in plain text on disk", async () => {
  const { secret } = await webhook(ada, "/secret");
  const { stdout, stderr } = berth.output();
  const dump = await Promise.all(
    [...new Bun.Glob("data/berth.db*").scanSync(berth.dir)].map((path) => Bun.file(`${berth.dir}/${path}`).text()),
  );
  const key = secret.slice("whsec_".length);
  for (const text of [stdout, stderr, ...dump]) {
    expect(text.includes(key)).toBe(false);
    expect(text.includes(OPERATOR.slice(6))).toBe(false);
  }
  expect(dump.length).toBeGreaterThan(0);
});

describe("addresses in our own network", () => {
  let guarded: Berth;
  let eve: Client;
  beforeAll(async () => {
    guarded = await startBerth();
    eve = await member(guarded);
  });
  afterAll(() => guarded?.[Symbol.asyncDispose]());

  test.each([
    "http://127.0.0.1:1/",
    "http://[::1]/",
    "http://169.254.169.254/latest/meta-data/",
    "http://2130706433/",
    "http://0x7f000001/",
    "http://localhost/",
    "http://[::ffff:127.0.0.1]/",
    "http://192.168.0.1/",
  ])("%s is refused", async (url) => {
    expectRefusal(await eve.post("/api/webhooks", { url }), 400, "ADDRESS_NOT_ALLOWED");
  });

  test("a formerly allowed address gets no more connections", async () => {
    const own = startReceiver();
    const env = { OUTBOUND_ALLOW: "127.0.0.1/32" };
    await guarded.restart({ keepPorts: true, env });
    const { body } = await eve.post<Webhook>("/api/webhooks", { url: own.url, types: ["agent.created"] });
    await guarded.restart({ keepPorts: true, env: { OUTBOUND_ALLOW: "" } });
    await made(eve, "Lighthouse");
    await eventually(async () => {
      const { text } = await eve.get(`/api/webhooks/${body.id}/deliveries`);
      return text.includes("This address is not allowed");
    });
    expect(own.received).toEqual([]);
    await own[Symbol.asyncDispose]();
  });
});

test("the event stream resumes after a kill without gap or duplicate, and ends at sign-out", async () => {
  const bob = await member(berth, "enterprise");
  const names: string[] = [];
  let last = "";
  for (const round of [1, 2]) {
    for (let n = 0; n < 3; n++) await made(bob, `stream ${round}.${n}`);
    let taken = 0;
    const headers: Record<string, string> = last === "" ? {} : { "last-event-id": last };
    const path = `/api/events?types=agent.created${last === "" ? "&lastEventId=0" : ""}`;
    for await (const { id, event, data } of bob.sse(path, undefined, { headers })) {
      expect(event).toBe("agent.created");
      names.push(JSON.parse(data).data.name);
      last = id ?? "";
      // Stop in the middle of the first round.
      if (++taken === (round === 1 ? 2 : 4)) break;
    }
    if (round === 1) {
      await berth.kill();
      await berth.restart({ keepPorts: true });
    }
  }
  expect(names).toEqual(["1.0", "1.1", "1.2", "2.0", "2.1", "2.2"].map((name) => `stream ${name}`));
  const response = await bob.fetch("GET", "/api/events");
  const end = response.text();
  await bob.signOut();
  expect(await end).not.toContain("agent.created");
  expectRefusal(await bob.get("/api/events"), 401);
});

test("with split roles: configured on the web, sent by the backend, streamed on the web", async () => {
  const sqld = await startSqld();
  const shared = {
    DATABASE_URL: sqld.url,
    SECRET_KEY: "split-test-root-key-0123456789abcdefgh",
    OUTBOUND_ALLOW: "127.0.0.1/32",
  };
  try {
    await using backend = await startBerth({ env: { ...shared, ROLE: "backend" } });
    await using web = await startBerth({ env: { ...shared, ROLE: "web", BACKEND_URL: backend.backend } });
    const bob = await member(web);
    const { id, secret } = await webhook(bob, "/split", ["agent.created"]);
    await provision(bob, "Split");
    const [one] = await receiver.take(1, at("/split"), 10_000);
    expect(one && verify(one, secret)).toMatchObject({ type: "agent.created", data: { name: "Split" } });
    const delivery = await eventually(async () => {
      const { body } = await bob.get<{ deliveries: { id: string; status: string }[] }>(
        `/api/webhooks/${id}/deliveries`,
      );
      return body.deliveries.find(({ status }) => status === "delivered");
    });
    const replay = await bob.post(`/api/webhooks/${id}/deliveries/${delivery.id}/replay`);
    expect(replay.status).toBe(202);
    await receiver.take(2, at("/split"), 10_000);
    for await (const { data } of bob.sse("/api/events?lastEventId=0&types=agent.created")) {
      expect(JSON.parse(data).data.name).toBe("Split");
      break;
    }
    const open = await bob.fetch("GET", "/api/events");
    const end = open.text();
    const started = performance.now();
    await web.stop();
    await end;
    expect(performance.now() - started).toBeLessThan(5_000);
  } finally {
    await sqld.stop();
  }
});

test("open streams do not delay a stop", async () => {
  const response = await ada.fetch("GET", "/api/events");
  const end = response.text();
  const started = performance.now();
  expect(await berth.stop()).toBe(0);
  await end;
  expect(performance.now() - started).toBeLessThan(5_000);
});
