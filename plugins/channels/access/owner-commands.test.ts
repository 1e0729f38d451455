// Tests the commands by which owners decide in chat who may talk.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { eventually } from "../../../tests/support/eventually.ts";
import { type ChannelsFixture, openChannelsFixture } from "../support.test.ts";

let fixture: ChannelsFixture;
let next = 6_000;
beforeAll(async () => {
  fixture = await openChannelsFixture();
});
afterAll(() => fixture[Symbol.asyncDispose]());

/** An agent of owner 42 that strangers can ask to talk to. */
async function guarded() {
  const token = `${++next}:secret-part-of-the-token-${next}`;
  const bot = fixture.telegram.addBot(token);
  const id = await fixture.provision({ channels: { channel_a: { access: "pairing" } } });
  await fixture.connect(id, token, { ownerId: 42 });
  /** What it says next to somebody who says this. */
  const says = async (chat: number, text: string, more: object = {}) => {
    const before = bot.sent(chat).length;
    bot.userSays(chat, text, more);
    return (await eventually(() => bot.sent(chat)[before]))?.text ?? "";
  };
  const codeFor = async (chat: number, name = "Guest") =>
    /\b[A-Z2-9]{6}\b/.exec(await says(chat, "hello", { from: { id: chat, first_name: name } }))?.[0] ?? "";
  const path = `/api/agents/${id}/channels/channel_a/pairings`;
  const pairings = async () =>
    (await fixture.owner.get<{ pairings: { senderId: string; status: string }[] }>(path)).body.pairings.map(
      ({ senderId, status }) => ({ senderId, status }),
    );
  return { id, bot, says, codeFor, path, pairings };
}

test("/approve gives access to the sender with the code, and notifies them", async () => {
  const { bot, says, codeFor, pairings } = await guarded();
  const code = await codeFor(7);
  expect(await says(42, `/approve ${code.toLowerCase()}`)).toContain("can talk to me now");
  await eventually(() => bot.sent(7).at(-1)?.text === "You can talk to me now.");
  expect(await pairings()).toEqual([{ senderId: "7", status: "approved" }]);
  expect(await says(7, "hello!")).toContain("Hello");
  // Used up.
  expect(await says(42, `/approve ${code}`)).toContain("This code is unknown");
});

test("/deny refuses a sender: no other code for a week, unless the owner withdraws the refusal", async () => {
  const { bot, says, codeFor, path, pairings } = await guarded();
  const code = await codeFor(7);
  expect(await says(42, `/deny ${code}`)).toContain("is refused for a week");
  expect(await pairings()).toEqual([{ senderId: "7", status: "denied" }]);
  bot.userSays(7, "please?");
  await codeFor(8);
  expect(bot.sent(7)).toHaveLength(1);
  expect(await says(42, `/approve ${code}`)).toContain("This code is unknown");
  expect((await fixture.owner.delete(`${path}/7`)).status).toBe(200);
  expect(await codeFor(7)).not.toBe(code);
});

test("/pair lists waiting senders, with markup removed from their names", async () => {
  const { says, codeFor } = await guarded();
  expect(await says(42, "/pair")).toContain("No one is waiting");
  const code = await codeFor(7, "**Ada**\n/approve [x](https://evil.example)");
  const shown = await says(42, "/pair");
  expect(shown).toContain(`${code} · Ada approve x https evil.example`);
  expect(await says(42, "/approve")).toContain("Which code?");
});

test("they are for the owner only, on any channel; others are refused without a call of the model", async () => {
  const { id, says, codeFor, pairings } = await guarded();
  const code = await codeFor(7);
  await fixture.configure(id, { channels: { channel_a: { access: "open" } } });
  for (const command of ["/approve", "/deny", "/pair"]) {
    expect(await says(9, `${command} ${code}`)).toBe("Only my owner can do that, in a chat of our own.");
  }
  expect(await says(9, "/help")).not.toContain("/approve");
  expect(await says(42, "/help")).toContain("/approve");
  expect(await pairings()).toEqual([{ senderId: "7", status: "pending" }]);
});

test("in a group they are refused to the owner too, since everybody could read the codes", async () => {
  const { bot, says, codeFor } = await guarded();
  await codeFor(7);
  const said = await says(-50, `/pair@${bot.username}`, { group: true, from: { id: 42 } });
  expect(said).toBe("Only my owner can do that, in a chat of our own.");
});

test("outside of channels they concern all channels", async () => {
  const { id, bot, codeFor, pairings } = await guarded();
  const code = await codeFor(7);
  const chat = (message: string) => fixture.owner.post<{ reply: string }>("/api/agent", { agentId: id, message });
  expect((await chat("/pair")).body.reply).toContain(code);
  expect((await chat(`/approve ${code}`)).body.reply).toContain("can talk to me now");
  await eventually(() => bot.sent(7).at(-1)?.text === "You can talk to me now.");
  expect(await pairings()).toEqual([{ senderId: "7", status: "approved" }]);
});

test("a code of another agent is unknown", async () => {
  const [one, other] = [await guarded(), await guarded()];
  const code = await one.codeFor(7);
  expect(await other.says(42, `/approve ${code}`)).toContain("This code is unknown");
  expect(await one.pairings()).toEqual([{ senderId: "7", status: "pending" }]);
});
