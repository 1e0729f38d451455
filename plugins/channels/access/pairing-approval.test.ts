// Tests how the owner of an agent, signed in to their account, approves pairing codes for guests and for themselves.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { eventually } from "../../../tests/support/eventually.ts";
import { expectRefusal } from "../../../tests/support/refusal.ts";
import { type ChannelsFixture, openChannelsFixture } from "../support.test.ts";

let fixture: ChannelsFixture;
let next = 8_000;
beforeAll(async () => {
  fixture = await openChannelsFixture();
});
afterAll(() => fixture[Symbol.asyncDispose]());

async function unowned() {
  const token = `${++next}:secret-part-of-the-token-${next}`;
  const bot = fixture.telegram.addBot(token);
  const id = await fixture.provision();
  await fixture.connect(id, token);
  const says = async (chat: number, text: string) => {
    const before = bot.sent(chat).length;
    bot.userSays(chat, text);
    return (await eventually(() => bot.sent(chat)[before]))?.text ?? "";
  };
  const codeFor = async (chat: number) => /\b[A-Z2-9]{6}\b/.exec(await says(chat, "hello"))?.[0] ?? "";
  const approve = (body: object) => fixture.owner.post(`/api/agents/${id}/channels/channel_a/pairings`, body);
  return { id, bot, says, codeFor, approve };
}

test("an approved guest may talk, and is not the owner", async () => {
  const { bot, says, codeFor, approve } = await unowned();
  const { status, body } = await approve({ code: await codeFor(7) });
  expect({ status, body }).toEqual({ status: 200, body: { success: true, senderId: "7", owner: false } });
  expect(bot.sent(7).at(-1)?.text).toBe("You can talk to me now.");
  expect(await says(7, "/pair")).not.toContain("waiting for access");
});

test("a guest is welcomed in the language of their app", async () => {
  const { bot, approve } = await unowned();
  bot.userSays(7, "hello", { from: { id: 7, first_name: "Eve", language_code: "de" } });
  const asked = await eventually(() => bot.sent(7).at(-1)?.text);
  expect((await approve({ code: /\b[A-Z2-9]{6}\b/.exec(asked)?.[0] ?? "" })).status).toBe(200);
  expect(bot.sent(7).at(-1)?.text).toBe("Du kannst jetzt mit mir reden.");
});

test("with `owner` the sender owns the bot: owner commands work, and strangers get no code any more", async () => {
  const { id, bot, says, codeFor, approve } = await unowned();
  const guestCode = await codeFor(8);
  const { status, body } = await approve({ code: await codeFor(7), owner: true });
  expect({ status, body }).toEqual({ status: 200, body: { success: true, senderId: "7", owner: true } });
  expect(bot.sent(7).at(-1)?.text).toContain("You are my owner here now");
  await fixture.inState(id, "connected");
  expect(await says(7, "/pair")).toContain(guestCode);
  bot.userSays(9, "hello");
  expect(await says(7, "What is 6 * 7?")).toContain("42");
  expect(bot.sent(9)).toEqual([]);
  expect(await fixture.rows("SELECT owner_id FROM channel_connections WHERE agent_id = ?", id)).toEqual([
    { owner_id: "7" },
  ]);
});

test("an unknown code makes nobody the owner", async () => {
  const { id, approve } = await unowned();
  expectRefusal(await approve({ code: "WRONG2", owner: true }), 404, "PAIRING_NOT_FOUND");
  expectRefusal(await approve({ code: "WRONG2", owner: "yes" }), 400);
  expect(await fixture.rows("SELECT owner_id FROM channel_connections WHERE agent_id = ?", id)).toEqual([
    { owner_id: null },
  ]);
});
