// Tests who may talk to an agent: the rules by platform ids, and pairing by codes that the owner approves.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { IncomingMessage } from "../../../channels/port.ts";
import { eventually } from "../../../tests/support/eventually.ts";
import { type ChannelsFixture, openChannelsFixture } from "../support.test.ts";
import { decideAccess } from "./access-decision.ts";

const incoming = (more: Partial<IncomingMessage> = {}): IncomingMessage => ({
  platformMessageId: "1",
  peer: "7",
  sender: { id: "7", name: "42" },
  text: "hi",
  group: false,
  addressed: true,
  sentAt: 0,
  ...more,
});
const owner = { sender: { id: "42", name: "Ada" } };
const allowed = { kind: "allowed", byOwner: false } as const;

describe("the rules", () => {
  test("an owner may always talk, by id and never by name", () => {
    expect(decideAccess(incoming(owner), {}, "42")).toEqual({ kind: "allowed", byOwner: true });
    expect(decideAccess(incoming(owner), { access: "allowlist", owners: ["42"] }, null)).toEqual({
      kind: "allowed",
      byOwner: true,
    });
    expect(decideAccess(incoming(), { access: "owner" }, "42").kind).toBe("refused");
  });

  test("a second id that the platform guarantees counts on both lists", () => {
    const known = incoming({ sender: { id: "US.1", name: "Ada", alternateId: "42" } });
    expect(decideAccess(known, {}, "42")).toEqual({ kind: "allowed", byOwner: true });
    expect(decideAccess(known, { access: "allowlist", allow: ["42"] }, null)).toEqual(allowed);
    expect(decideAccess(incoming(), { access: "owner" }, null).kind).toBe("refused");
  });

  test("by default only the owner may talk; without an owner anyone can pair", () => {
    expect(decideAccess(incoming(), {}, "42").kind).toBe("refused");
    expect(decideAccess(incoming(), { owners: ["42"] }, null).kind).toBe("refused");
    expect(decideAccess(incoming(), {}, null).kind).toBe("needs-pairing");
    expect(decideAccess(incoming(), { access: "pairing" }, "42").kind).toBe("needs-pairing");
  });

  test("an allow-list holds ids, not names", () => {
    expect(decideAccess(incoming(), { access: "allowlist", allow: ["7"] }, null)).toEqual(allowed);
    expect(decideAccess(incoming(), { access: "allowlist", allow: ["42"] }, null).kind).toBe("refused");
    expect(decideAccess(incoming(), { access: "allowlist" }, null).kind).toBe("refused");
    expect(decideAccess(incoming(), { access: "open" }, "42")).toEqual(allowed);
  });

  test("in a group the bot must be addressed, unless the settings say otherwise", () => {
    const open = { access: "open" } as const;
    const unaddressed = incoming({ group: true, addressed: false });
    expect(decideAccess(unaddressed, open, null).kind).toBe("refused");
    expect(decideAccess(incoming({ group: true }), open, null)).toEqual(allowed);
    expect(decideAccess(unaddressed, { ...open, groups: "all" }, null)).toEqual(allowed);
    expect(decideAccess(incoming({ group: true, ...owner }), { ...open, groups: "off" }, "42").kind).toBe("refused");
  });
});

describe("on a channel", () => {
  let fixture: ChannelsFixture;
  let next = 4_000;
  beforeAll(async () => {
    fixture = await openChannelsFixture();
  });
  afterAll(() => fixture[Symbol.asyncDispose]());

  async function connected(config: object = {}, more: object = {}) {
    const token = `${++next}:secret-part-of-the-token-${next}`;
    const bot = fixture.telegram.addBot(token);
    const id = await fixture.provision(config);
    await fixture.connect(id, token, more);
    const path = `/api/agents/${id}/channels/channel_a/pairings`;
    const pairings = async () =>
      (await fixture.owner.get<{ pairings: { senderId: string; status: string; code: string | null }[] }>(path)).body
        .pairings;
    return { id, bot, path, pairings };
  }
  const inbox = (agentId: string) =>
    fixture.rows("SELECT content, sender_id, by_owner FROM inbox WHERE agent_id = ?", agentId);

  test("a stranger gets one code and may talk once the owner has approved it", async () => {
    const { id, bot, path, pairings } = await connected();
    bot.userSays(7, "hello");
    await fixture.telegram.waitFor(() => bot.sent(7).length === 1);
    const code = /[A-Z2-9]{6}/.exec(bot.sent(7)[0]?.text ?? "")?.[0] ?? "";
    bot.userSays(7, "hello?");
    expect(await pairings()).toMatchObject([{ senderId: "7", status: "pending", code }]);
    expect(await fixture.owner.post(path, { code: "AAAAAA" })).toMatchObject({
      status: 404,
      body: { code: "PAIRING_NOT_FOUND" },
    });
    expect(await fixture.owner.post(path, { code: ` ${code.toLowerCase()} ` })).toMatchObject({
      status: 200,
      body: { success: true, senderId: "7" },
    });
    await fixture.telegram.waitFor(() => bot.sent(7).length === 2);
    // A code works once.
    expect((await fixture.owner.post(path, { code })).status).toBe(404);
    expect(await pairings()).toMatchObject([{ senderId: "7", status: "approved", code: null }]);
    bot.userSays(7, "hello!");
    await fixture.telegram.waitFor(() => bot.sent(7).length === 3);
    expect(await inbox(id)).toEqual([{ content: "hello!", sender_id: "7", by_owner: 0 }]);
    // A removed pairing no longer lets them talk.
    expect(await fixture.owner.delete(`${path}/7`)).toMatchObject({
      status: 200,
      body: { success: true, senderId: "7" },
    });
    expect((await fixture.owner.delete(`${path}/7`)).status).toBe(404);
    bot.userSays(7, "still there?");
    await fixture.telegram.waitFor(() => bot.sent(7).length === 4);
    expect(await inbox(id)).toHaveLength(1);
  });

  test("a code that could not be sent is sent at the next message", async () => {
    const { bot, pairings } = await connected();
    fixture.telegram.fail("sendMessage", { status: 502 });
    bot.userSays(8, "hello");
    await fixture.telegram.waitFor((telegram) => telegram.calls.at(-1)?.method === "sendMessage");
    await fixture.telegram.waitFor(() => bot.pending() === 0);
    await eventually(async () => (await pairings()).length === 0);
    bot.userSays(8, "hello");
    await fixture.telegram.waitFor(() => bot.sent(8).length === 1);
  });

  test("no code is sent in a group", async () => {
    const { id, bot, pairings } = await connected();
    bot.userSays(-100, `@${bot.username} hello`, { group: true, from: { id: 9 } });
    bot.userSays(10, "hello");
    await fixture.telegram.waitFor(() => bot.sent(10).length === 1);
    expect(bot.sent(-100)).toEqual([]);
    expect((await pairings()).map(({ senderId }) => senderId)).toEqual(["10"]);
    expect(await inbox(id)).toEqual([]);
  });

  test("the owner given when connecting stays the owner with another token, and others are ignored", async () => {
    const { id, bot } = await connected({}, { ownerId: 42 });
    bot.userSays(43, "let me in");
    bot.userSays(42, "hello");
    await fixture.telegram.waitFor(() => bot.sent(42).length === 1);
    expect(bot.sent(43)).toEqual([]);
    expect(await inbox(id)).toEqual([{ content: "hello", sender_id: "42", by_owner: 1 }]);
    const token = `${bot.id}:a-new-secret`;
    fixture.telegram.revoke(bot.token);
    const renewed = fixture.telegram.addBot(token);
    await fixture.connect(id, token);
    // The fake numbers a new token's messages from 1; the first three would count as known ones.
    for (const text of ["and", "now", "?"]) renewed.userSays(43, text);
    renewed.userSays(42, "hello again");
    await fixture.telegram.waitFor(() => renewed.sent(42).length === 1);
    expect(renewed.sent(43)).toEqual([]);
  });

  test("a changed configuration applies to the next message", async () => {
    const { id, bot } = await connected({}, { ownerId: 42 });
    await fixture.configure(id, { channels: { channel_a: { access: "open", groups: "all" } } });
    bot.userSays(7, "hello");
    bot.userSays(-5, "hello all", { group: true, from: { id: 7 } });
    await fixture.telegram.waitFor(() => bot.sent(7).length === 1 && bot.sent(-5).length === 1);
    await fixture.configure(id, { channels: { channel_a: { access: "allowlist", allow: ["8"] } } });
    bot.userSays(7, "and now?");
    bot.userSays(8, "hello");
    await fixture.telegram.waitFor(() => bot.sent(8).length === 1);
    expect(bot.sent(7)).toHaveLength(1);
  });
});
