// Tests the stored streams over a real database: creation, keys, removal with the agent, and rotation at an account reclaim.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { createClient } from "../../tests/support/client.ts";
import { eventually } from "../../tests/support/eventually.ts";
import { type InteractionFixture, openInteractionFixture } from "../interaction/support.test.ts";
import { createStreamStore, type StreamStore } from "./stream-store.ts";

let fixture: InteractionFixture;
let store: StreamStore;
let owner: Awaited<ReturnType<InteractionFixture["member"]>>;

beforeAll(async () => {
  fixture = await openInteractionFixture({ RTMP_PORT: "0", BASE_URL: "http://localhost:3000" });
  store = createStreamStore(fixture.kernel);
  owner = await fixture.member();
});
afterAll(() => fixture[Symbol.asyncDispose]());

const noStatement = () => ({ sql: "SELECT 1", args: [] });
const storedRows = (agentId: string) => fixture.rows("SELECT * FROM live_streams WHERE agent_id = ?", agentId);

test("an agent gets one stream however many calls run at once; an unknown agent gets none", async () => {
  const agentId = await fixture.provision(owner);
  const created = await Promise.all(Array.from({ length: 20 }, () => store.findOrCreate(agentId)));
  expect(new Set(created.map((stream) => stream?.key)).size).toBe(1);
  expect(await store.findOrCreate(Bun.randomUUIDv7())).toBeUndefined();
});

test("a key is not stored in clear, finds its stream only as a whole, and stops working after a rotation", async () => {
  const agentId = await fixture.provision(owner);
  const first = await store.findOrCreate(agentId);
  const { id = "", key = "" } = first ?? {};
  expect(JSON.stringify(await storedRows(agentId))).not.toContain(key);
  expect(await store.findByKey(key)).toEqual({ id, agentId });
  for (const text of ["", "x", key.slice(1), `${key}0`, key.toUpperCase(), "0".repeat(64), "%"]) {
    expect(await store.findByKey(text)).toBeUndefined();
  }
  expect(await store.rotateKey(agentId)).toBe(true);
  expect(await store.findByKey(key)).toBeUndefined();
  const second = await store.findByAgent(agentId);
  expect(second?.id).toBe(id);
  expect(second?.key).not.toBe(key);
});

test("a rotation of the root key covers stream keys", async () => {
  const agentId = await fixture.provision(owner);
  const before = await store.findOrCreate(agentId);
  const { "stream keys": kind } = await fixture.kernel.keyRotation.run();
  expect(kind).toEqual({ resealed: 0, unreadable: 0 });
  expect(await store.findByAgent(agentId)).toEqual(before as NonNullable<typeof before>);
});

test("removing an agent removes its stream", async () => {
  const agentId = await fixture.provision(owner);
  const stream = await store.findOrCreate(agentId);
  expect((await owner.delete(`/api/agents/${agentId}`)).status).toBe(200);
  expect(await store.findByKey(stream?.key ?? "")).toBeUndefined();
  expect(await storedRows(agentId)).toEqual([]);
});

/** A stranger reads a stream's key; then the owner of the email address reclaims the account. Returns the exposed key. */
async function reclaimAccount(fixture: InteractionFixture, store: StreamStore): Promise<string | undefined> {
  const stranger = await fixture.member();
  const agentId = await fixture.provision(stranger);
  const exposed = await store.findOrCreate(agentId);
  const { administration } = fixture.app.accounts;
  const link = await administration.resetPassword(stranger.userId, noStatement, "link");
  const token = new URL(link ?? "").searchParams.get("token");
  const reset = await createClient(fixture.origin).post("/api/auth/reset-password", {
    token,
    password: "another horse",
  });
  expect(reset.status).toBe(200);
  await eventually(async () => (await store.findByAgent(agentId))?.key !== exposed?.key);
  return exposed?.key;
}

test("reclaiming an account rotates the keys of its agents' streams: an exposed key stops working", async () => {
  expect(await store.findByKey((await reclaimAccount(fixture, store)) ?? "")).toBeUndefined();
});

test("reclaiming rotates the keys also while streams are switched off, since they would work once switched on", async () => {
  await using off = await openInteractionFixture({ STREAM_DRIVER: "off", BASE_URL: "http://localhost:3000" });
  const rows = createStreamStore(off.kernel);
  expect(await rows.findByKey((await reclaimAccount(off, rows)) ?? "")).toBeUndefined();
});
