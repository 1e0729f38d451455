// An agent's stream as a row: its key, whom it lets in, and what becomes of it when the account changes hands.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { createClient } from "../../tests/support/client.ts";
import { eventually } from "../../tests/support/eventually.ts";
import { openScene, type Scene } from "../interaction/support.test.ts";
import { createStreamRows, type StreamRows } from "./rows.ts";

let scene: Scene;
let streams: StreamRows;
let owner: Awaited<ReturnType<Scene["member"]>>;

beforeAll(async () => {
  scene = await openScene({ RTMP_PORT: "0", BASE_URL: "http://localhost:3000" });
  streams = createStreamRows(scene.kernel);
  owner = await scene.member();
});
afterAll(() => scene[Symbol.asyncDispose]());

const unrecorded = () => ({ sql: "SELECT 1", args: [] });
const stored = (agentId: string) => scene.rows("SELECT * FROM live_streams WHERE agent_id = ?", agentId);

test("however many ask at once, an agent gets one stream; one that does not exist gets none", async () => {
  const agentId = await scene.provision(owner);
  const made = await Promise.all(Array.from({ length: 20 }, () => streams.make(agentId)));
  expect(new Set(made.map((stream) => stream?.key)).size).toBe(1);
  expect(await streams.make(Bun.randomUUIDv7())).toBeUndefined();
});

test("a key is nowhere in clear, is found by itself alone, and another takes its place", async () => {
  const agentId = await scene.provision(owner);
  const first = await streams.make(agentId);
  const { id = "", key = "" } = first ?? {};
  expect(JSON.stringify(await stored(agentId))).not.toContain(key);
  expect(await streams.byKey(key)).toEqual({ id, agentId });
  for (const text of ["", "x", key.slice(1), `${key}0`, key.toUpperCase(), "0".repeat(64), "%"]) {
    expect(await streams.byKey(text)).toBeUndefined();
  }
  expect(await streams.rotate(agentId)).toBe(true);
  expect(await streams.byKey(key)).toBeUndefined();
  const second = await streams.of(agentId);
  expect(second?.id).toBe(id);
  expect(second?.key).not.toBe(key);
});

test("a key is sealed anew with all other secrets", async () => {
  const agentId = await scene.provision(owner);
  const before = await streams.make(agentId);
  const { "stream keys": kind } = await scene.kernel.resealing.run();
  expect(kind).toEqual({ resealed: 0, unreadable: 0 });
  expect(await streams.of(agentId)).toEqual(before as NonNullable<typeof before>);
});

test("its stream goes with an agent", async () => {
  const agentId = await scene.provision(owner);
  const stream = await streams.make(agentId);
  expect((await owner.delete(`/api/agents/${agentId}`)).status).toBe(200);
  expect(await streams.byKey(stream?.key ?? "")).toBeUndefined();
  expect(await stored(agentId)).toEqual([]);
});

/** A stranger was shown a stream's key; then the account is taken over. Answers the key, which opens nothing any more. */
async function takenOver(scene: Scene, streams: StreamRows): Promise<string | undefined> {
  const stranger = await scene.member();
  const agentId = await scene.provision(stranger);
  const shown = await streams.make(agentId);
  const { administration } = scene.app.accounts;
  const link = await administration.resetPassword(stranger.userId, unrecorded, "link");
  const token = new URL(link ?? "").searchParams.get("token");
  const reset = await createClient(scene.origin).post("/api/auth/reset-password", { token, password: "another horse" });
  expect(reset.status).toBe(200);
  await eventually(async () => (await streams.of(agentId))?.key !== shown?.key);
  return shown?.key;
}

test("a takeover of the account gives its agents other keys: the one a stranger was shown opens nothing", async () => {
  expect(await streams.byKey((await takenOver(scene, streams)) ?? "")).toBeUndefined();
});

test("and so while streams are switched off: the key would be good again once they are back", async () => {
  await using off = await openScene({ STREAM_DRIVER: "off", BASE_URL: "http://localhost:3000" });
  const rows = createStreamRows(off.kernel);
  expect(await rows.byKey((await takenOver(off, rows)) ?? "")).toBeUndefined();
});
