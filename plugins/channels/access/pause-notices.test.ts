// Tests that people on channels are told once that an agent is frozen, and that their messages are answered when it goes on.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { eventually } from "../../../tests/support/eventually.ts";
import { type ChannelsFixture, openChannelsFixture } from "../support.test.ts";

let fixture: ChannelsFixture;
let next = 7_000;
beforeAll(async () => {
  fixture = await openChannelsFixture();
});
afterAll(() => fixture[Symbol.asyncDispose]());

const PAUSED = "I am paused at the moment. Your message is kept, and I answer when I go on.";
const PAUSED_IN_GERMAN = "Ich mache gerade Pause. Deine Nachricht bleibt, und ich antworte, wenn es weitergeht.";

async function open(access = "open") {
  const token = `${++next}:secret-part-of-the-token-${next}`;
  const bot = fixture.telegram.addBot(token);
  const id = await fixture.provision({ channels: { channel_a: { access } } });
  await fixture.connect(id, token);
  await fixture.inState(id, "connected");
  return { id, bot };
}
const freeze = (id: string) =>
  fixture.owner.post(`/api/admin/agents/${id}/freeze`, { reason: "It sends advertising." });
const unfreeze = (id: string) => fixture.owner.post(`/api/admin/agents/${id}/unfreeze`);
const waiting = async (id: string) =>
  (await fixture.rows("SELECT content FROM inbox WHERE agent_id = ? AND status = 'pending' ORDER BY id", id)).map(
    ({ content }) => content,
  );

test("whoever writes to a frozen agent is told once in their language, also after a restart, and answered when it goes on", async () => {
  const { id, bot } = await open();
  await freeze(id);
  bot.userSays(7, "Hello?");
  bot.userSays(8, "Hallo?", { from: { id: 8, first_name: "Jo", language_code: "de" } });
  await eventually(() => bot.sent(7).length === 1 && bot.sent(8).length === 1);
  expect([bot.sent(7)[0]?.text, bot.sent(8)[0]?.text]).toEqual([PAUSED, PAUSED_IN_GERMAN]);

  await fixture.restart();
  bot.userSays(7, "Still there?");
  await eventually(async () => (await waiting(id)).length === 3);
  expect(await waiting(id)).toEqual(["Hello?", "Hallo?", "Still there?"]);

  await unfreeze(id);
  await eventually(() => bot.sent(7).length === 3 && bot.sent(8).length === 2);
  expect(bot.sent(7).filter(({ text }) => text === PAUSED)).toHaveLength(1);
  expect(await waiting(id)).toEqual([]);
  // The next freeze is told again.
  await freeze(id);
  bot.userSays(7, "And now?");
  await eventually(() => bot.sent(7).length === 4);
  expect(bot.sent(7)[3]?.text).toBe(PAUSED);
});

test("whose message waits when it is frozen is told, too", async () => {
  const { id, bot } = await open();
  bot.userSays(9, "Hallo!");
  await eventually(() => bot.sent(9).length === 1);
  // A message whose turn is between two tries.
  await fixture.kernel.database.write([
    {
      sql: `INSERT INTO inbox (id, agent_id, session_id, platform, peer, sender_id, sender_name, language, by_owner, is_group, kind,
          content, taint, status, attempts, has_steps, received_at)
        SELECT ?1, ?2, id, 'channel_a', '9', '9', 'Jo', 'de', 0, 0, 'message', 'Wann?', 0, 'pending', 1, 0, 1
          FROM sessions WHERE agent_id = ?2`,
      args: [Bun.randomUUIDv7(), id],
    },
  ]);
  await freeze(id);
  await eventually(() => bot.sent(9).length === 2);
  expect(bot.sent(9)[1]?.text).toBe(PAUSED_IN_GERMAN);
});

test("strangers without access hear nothing, and get no code", async () => {
  const { id, bot } = await open("pairing");
  await freeze(id);
  bot.userSays(7, "Hello?");
  bot.userSays(8, "Hello?");
  await fixture.restart();
  await fixture.inState(id, "connected");
  expect([bot.sent(7), bot.sent(8), await waiting(id)]).toEqual([[], [], []]);
});
