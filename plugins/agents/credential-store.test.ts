// Secrets given to agents: never in clear on disk, each opening only in its own place.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { provisionedChannels } from "../../channels/registry.ts";
import { fileDatabase, type TestDatabase } from "../../tests/support/database.ts";
import { rejectionOf } from "../../tests/support/rejection.ts";
import { builtInProviders } from "../ai/providers/registry.ts";
import { createServices, type Services } from "./support.test.ts";

const CANARY = "sk-canary-0123456789";
let opened: TestDatabase;
let it: Services;
beforeAll(async () => {
  opened = await fileDatabase();
  it = createServices(opened);
});
afterAll(() => opened.remove());

const requiredProviders = builtInProviders.filter(({ credential }) => credential.required).map(({ id }) => id);
const none = Object.fromEntries(
  [...requiredProviders, ...provisionedChannels().map(({ id }) => id)].map((kind) => [kind, false]),
);

test("an agent's own comes before its owner's default", async () => {
  const user = await it.owner();
  const { id } = await it.add(user);
  const open = () => it.credentials.open(id, "provider_1");

  expect(await open()).toBeUndefined();
  expect(await it.credentials.summary(id)).toEqual(none);
  expect(await it.credentials.set({ kind: "user", id: user }, "provider_1", "the-default")).toBe(true);
  expect(await open()).toBe("the-default");
  expect(await it.credentials.set({ kind: "agent", id }, "provider_1", " its-own\n")).toBe(true);
  expect(await open()).toBe("its-own");
  expect(await it.credentials.summary(id)).toEqual({ ...none, provider_1: true });
  expect(await it.credentials.set({ kind: "agent", id }, "provider_1", "")).toBe(false);
  expect(await open()).toBe("the-default");
  await it.credentials.set({ kind: "user", id: user }, "provider_1", "");
  expect(await open()).toBeUndefined();
  expect(await it.credentials.summary(id)).toEqual(none);
});

test("provider_3 is kept and not in the summary", async () => {
  const { id } = await it.add(await it.owner());
  await it.credentials.set({ kind: "agent", id }, "provider_3", "local");
  await it.credentials.set({ kind: "agent", id }, "channel_a", "bot");
  expect(await it.credentials.open(id, "provider_3")).toBe("local");
  expect(await it.credentials.providerKeys(id)).toEqual({ provider_3: "local" });
  expect(await it.credentials.summary(id)).toEqual({ ...none, channel_a: true });
  // A channel that provisioning does not know is named once it is connected.
  await it.credentials.set({ kind: "agent", id }, "channel_d", "tokens");
  expect(await it.credentials.summary(id)).toEqual({ ...none, channel_a: true, channel_d: true });
});

test("a credential may have a name of its owner's, in capitals, and there are at most fifty", async () => {
  const { id } = await it.add(await it.owner());
  const set = (kind: string, value = CANARY) => it.credentials.set({ kind: "agent", id }, kind, value);
  await set("DOCS_KEY");
  expect(await it.credentials.open(id, "DOCS_KEY")).toBe(CANARY);
  expect(await it.credentials.summary(id)).toEqual(none);
  for (const kind of ["docs_key", "1KEY", "A-B", "A".repeat(65), ""]) {
    expect(await rejectionOf(set(kind))).toMatchObject({ status: 400 });
  }
  for (let n = 2; n <= 50; n++) await set(`KEY_${n}`);
  expect(await rejectionOf(set("KEY_51"))).toMatchObject({ status: 400 });
  // One that is there can be replaced, and one that is cleared makes room.
  expect(await set("KEY_2", "other")).toBe(true);
  expect(await set("KEY_3", "")).toBe(false);
  expect(await set("KEY_51")).toBe(true);
});

test("another's credential is never opened", async () => {
  const { id } = await it.add(await it.owner());
  const other = await it.add(await it.owner());
  await it.credentials.set({ kind: "agent", id }, "channel_a", CANARY);
  expect(await it.credentials.open(other.id, "channel_a")).toBeUndefined();
  expect(await it.credentials.open(Bun.randomUUIDv7(), "channel_a")).toBeUndefined();
  // Moved to the other's row, the sealed text does not open either.
  await it.database.write([
    {
      sql: "INSERT INTO credentials SELECT owner_kind, ?, kind, sealed, updated_at FROM credentials WHERE owner_id = ?",
      args: [other.id, id],
    },
  ]);
  it.hooks.notifyChanged(other.id);
  expect(await rejectionOf(it.credentials.open(other.id, "channel_a"))).toMatchObject({ name: "VaultError" });
});

test("notifies the listeners of every agent that a write affects", async () => {
  const user = await it.owner();
  const [one, two] = [await it.add(user), await it.add(user)];
  const told: string[] = [];
  it.hooks.onChange((id) => told.push(id));
  await it.credentials.set({ kind: "agent", id: one.id }, "channel_a", "x");
  await it.credentials.set({ kind: "user", id: user }, "provider_1", "x");
  expect(told).toEqual([one.id, two.id, one.id]);
});

test.each([
  ["a kind that is not known", "provider_9", "x", "key"],
  ["a name of the prototype", "__proto__", "x", "key"],
  ["a value with a line break in it", "provider_1", "a\r\nb", "value"],
  ["a value too long", "provider_1", "x".repeat(4_097), "value"],
])("%s is 400 and does not repeat the value", async (_, kind, value, path) => {
  const owner = { kind: "user" as const, id: await it.owner() };
  const error = await rejectionOf(it.credentials.set(owner, kind, value));
  expect(error).toMatchObject({ status: 400, extras: { issues: [{ path }] } });
  expect(JSON.stringify(error)).not.toContain("xxxx");
});

test("nothing on disk holds a secret in clear", async () => {
  const { id } = await it.add(await it.owner());
  await it.credentials.set({ kind: "agent", id }, "provider_4", CANARY);
  it.logs.add(id, "error", `refused: Bearer ${CANARY} at https://x.example/?key=${CANARY}`, "test");
  await it.logs.flush();
  for await (const path of new Bun.Glob("**").scan({ cwd: opened.dir, onlyFiles: true, dot: true })) {
    const bytes = Buffer.from(await Bun.file(`${opened.dir}/${path}`).arrayBuffer());
    expect({ path, found: bytes.includes(CANARY) }).toEqual({ path, found: false });
  }
});
