// Tests posts that only their address proves: their sender may claim anything, so their effects and costs are bounded.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type FakeAccount, startWhatsApp, type WhatsApp } from "../../../tests/support/whatsapp.ts";
import { type ChannelsFixture, openChannelsFixture } from "../support.test.ts";

const WABA = "102290129340398";
let whatsapp: WhatsApp;
let account: FakeAccount;
let fixture: ChannelsFixture;
let id: string;
let pathname: string;

beforeAll(async () => {
  const webhookAddress = (url: string) => url.replace("https://berth.example", fixture.origin);
  whatsapp = await startWhatsApp({ webhookAddress });
  fixture = await openChannelsFixture({ env: { CHANNEL_C_API_ROOT: whatsapp.url, RATE_LIMITS: "" } });
  account = whatsapp.addAccount("EAAofAnotherApp", { waba: WABA });
  id = await fixture.provision({ channels: { channel_c: { access: "open" } } });
  expect((await fixture.connect(id, "EAAofAnotherApp", {}, "channel_c")).body).toMatchObject({ state: "connected" });
  ({ pathname } = new URL(account.subscriptions[0]?.callback ?? ""));
});
afterAll(async () => {
  await fixture[Symbol.asyncDispose]();
  await whatsapp.stop();
});

async function post(statuses: object[], to = pathname) {
  const value = { metadata: { phone_number_id: `1${WABA}` }, statuses };
  const entry = [{ id: WABA, changes: [{ field: "messages", value }] }];
  const body = JSON.stringify({ object: "whatsapp_business_account", entry });
  const headers = { "content-type": "application/json" };
  return (await fetch(`${fixture.origin}${to}`, { method: "POST", headers, body })).status;
}
const failed = (callbackData: string, n = 0) => ({
  id: `wamid.${n}`,
  status: "failed",
  biz_opaque_callback_data: callbackData,
});
const undeliveredEvents = () =>
  fixture.rows("SELECT data FROM events WHERE agent_id = ? AND type = 'channel.undelivered'", id);

test("a failure is reported once for a reply of this agent, and for nothing else", async () => {
  account.says("hello");
  await whatsapp.waitFor(() => account.sent().length === 1, 10_000);
  const callbackData = account.sent()[0]?.callbackData ?? "";
  expect(await post([failed(callbackData), failed(callbackData, 1), failed(`${Bun.randomUUIDv7()}:0`)])).toBe(200);
  expect(await post([failed(callbackData, 2), failed("anything")])).toBe(200);
  expect(await undeliveredEvents()).toHaveLength(1);
  const lines = (await fixture.logs(id)).filter((line) => line.startsWith("A reply did not reach its reader"));
  expect(lines).toHaveLength(1);
});

test("the row in the database is not enough to post", async () => {
  const [row] = await fixture.rows("SELECT * FROM channel_connections WHERE agent_id = ?", id);
  const address = `/hooks/channel_c/${row?.callback_id}`;
  expect(pathname).toStartWith(address);
  expect(JSON.stringify(row)).not.toContain(pathname.slice(address.length));
  for (const key of ["", "x".repeat(32)]) expect(await post([], `${address}${key}`)).toBe(404);
});

test("they are limited by their content: a full one counts as a thousand", async () => {
  const full = Array.from({ length: 1_000 }, (_, n) => failed(`${Bun.randomUUIDv7()}:0`, n));
  const statuses = [await post(full), await post(full)];
  expect(statuses).toEqual([200, 429]);
  expect(await undeliveredEvents()).toHaveLength(1);
});

test("an address without a key is registered again at the next start", async () => {
  await fixture.kernel.database.write([
    { sql: "UPDATE channel_connections SET registered_base = 'https://berth.example/hooks/channel_c/'", args: [] },
  ]);
  const before = whatsapp.stats().calls.subscribed_apps ?? 0;
  await fixture.restart();
  await whatsapp.waitFor(() => (whatsapp.stats().calls.subscribed_apps ?? 0) > before, 10_000);
  expect(new URL(account.subscriptions[0]?.callback ?? "").pathname).toBe(pathname);
});
