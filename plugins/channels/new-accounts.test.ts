// Tests how many messages the agents of a new account answer on channels, and how much of its plan's models it may use.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { DAY } from "../../src/kernel/util/time.ts";
import { subscribe } from "../../tests/support/account-setup.ts";
import { type Client, createClient } from "../../tests/support/client.ts";
import { eventually } from "../../tests/support/eventually.ts";
import { type ChannelsFixture, openChannelsFixture } from "./support.test.ts";

let fixture: ChannelsFixture;
let next = 8_000;
beforeAll(async () => {
  // A quarter of eight messages on the first day.
  fixture = await openChannelsFixture({
    env: { SIGNUP_TRIAL: "pro:7d", NEW_ACCOUNT_DAYS: "3", NEW_ACCOUNT_MESSAGES_PER_DAY: "8" },
  });
});
afterAll(() => fixture[Symbol.asyncDispose]());

const TOMORROW = "Sorry, I can't answer any more today. Write to me again tomorrow.";

async function newAccount() {
  const client = createClient({ web: fixture.origin });
  const id = await client.join();
  const token = `${++next}:secret-part-of-the-token-${next}`;
  const bot = fixture.telegram.addBot(token);
  const body = { name: "Harbour", config: { channels: { channel_a: { access: "open" } } } };
  const agentId = (await client.post<{ agent: { id: string } }>("/api/agents/provision", body)).body.agent.id;
  await client.put(`/api/agents/${agentId}/channels/channel_a`, { token });
  /** What it says to somebody who says this. */
  const says = async (chat: number, text: string) => {
    const before = bot.sent(chat).length;
    bot.userSays(chat, text);
    return (await eventually(() => bot.sent(chat)[before]))?.text ?? "";
  };
  return { client, id, agentId, says };
}
const logOf = async (client: Client, agentId: string) =>
  (await client.get<{ logs: { message: string }[] }>(`/api/agents/${agentId}/logs`)).body.logs.map(
    ({ message }) => message,
  );

test("two of eight messages are answered on the first day; the log says when there are more, also after a restart", async () => {
  const { client, agentId, says } = await newAccount();
  expect(await says(7, "Hello")).toContain("Hello");
  expect(await says(8, "Hello")).toContain("Hello");
  expect(await says(7, "Hello?")).toBe(TOMORROW);
  const said =
    /have answered their 2 messages on channels for today\. This account is new: it may do more from .* UTC on, and everything from/;
  await eventually(async () => (await logOf(client, agentId)).some((message) => said.test(message)));
  await fixture.restart();
  expect(await says(9, "Hello?")).toBe(TOMORROW);
});

test("commands and the web are not counted", async () => {
  const { client, agentId, says } = await newAccount();
  for (let n = 0; n < 3; n++) expect(await says(7, "/help")).toContain("/status");
  for (let n = 0; n < 3; n++) expect((await client.post("/api/agent", { agentId, message: "Hi" })).status).toBe(200);
  expect(await says(7, "Hello")).toContain("Hello");
});

test("the next day it may answer more, and after the last one any number", async () => {
  const { id, says } = await newAccount();
  const age = async (days: number) => {
    await fixture.kernel.database.write([
      { sql: "UPDATE users SET created_at = ? WHERE id = ?", args: [Date.now() - days * DAY, id] },
    ]);
    fixture.app.accounts.users.invalidate(id);
  };
  await age(1);
  // A platform takes one message a second in each chat.
  const answers = await Promise.all([1, 2, 3, 4].map((chat) => says(chat, "Hello")));
  for (const answer of answers) expect(answer).toContain("Hello");
  expect(await says(5, "Hello")).toBe(TOMORROW);
  await age(3);
  expect(await says(6, "Hello")).toContain("Hello");
});

test("an admin lifts the limits, which the audit log keeps; a paid plan ends them", async () => {
  const [one, other] = [await newAccount(), await newAccount()];
  for (const { says } of [one, other]) for (let n = 0; n < 2; n++) await says(7, "Hello");
  const account = async (id: string) =>
    (await fixture.owner.get<{ newAccount: { share: number } | null }>(`/api/admin/users/${id}`)).body;
  expect(await account(one.id)).toMatchObject({ newAccount: { share: 0.25 } });
  await fixture.owner.patch(`/api/admin/users/${one.id}`, { limitsLifted: true });
  await subscribe(fixture, other.client.account.email, "pro");
  for (const { id, says } of [one, other]) {
    expect(await account(id)).toMatchObject({ newAccount: null });
    expect(await says(7, "Hello")).toContain("Hello");
  }
  const [entry] = await fixture.rows(
    "SELECT details FROM audit_log WHERE target_id = ? AND action = 'user.update'",
    one.id,
  );
  expect(JSON.parse(String(entry?.details))).toEqual({ limitsLifted: { from: false, to: true } });
});

test("a quarter of the plan's models is shown as the limit of the month", async () => {
  const { client } = await newAccount();
  const { body } = await client.get<{ plan: { limitUsd: number } }>("/api/usage");
  expect(body.plan.limitUsd).toBe(50 / 4);
});
