// Tests access, pairing in the chat, and commands, which work alike on every platform.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { startDiscord, tokenFor } from "../../tests/support/discord.ts";
import { eventually } from "../../tests/support/eventually.ts";
import { startWhatsApp } from "../../tests/support/whatsapp.ts";
import { type ChannelsFixture, openChannelsFixture } from "./support.test.ts";

/** A bot of a fake platform, and the people who write to it in private. */
interface Wire {
  token: string;
  says(person: string, text: string): void;
  /** The texts that the bot sent to a person, oldest first. */
  textsTo(person: string): string[];
}

let fixture: ChannelsFixture;
let discord: Awaited<ReturnType<typeof startDiscord>>;
let whatsapp: Awaited<ReturnType<typeof startWhatsApp>>;
let next = 0;

beforeAll(async () => {
  const webhookAddress = (url: string) => url.replace("https://berth.example", fixture.origin);
  discord = await startDiscord({ identifyMs: 0 });
  whatsapp = await startWhatsApp({ webhookAddress, https: true });
  fixture = await openChannelsFixture({ env: { CHANNEL_B_API_ROOT: discord.url, CHANNEL_C_API_ROOT: whatsapp.url } });
});
afterAll(async () => {
  await fixture?.[Symbol.asyncDispose]();
  await Promise.all([discord?.stop(), whatsapp?.stop()]);
});

const wires: Record<"channel_a" | "channel_b" | "channel_c", () => Wire> = {
  channel_a() {
    const token = `${8_000 + ++next}:secret-part-of-the-token`;
    const bot = fixture.telegram.addBot(token);
    return {
      token,
      says: (person, text) => void bot.userSays(Number(person), text),
      textsTo: (person) => bot.sent(Number(person)).map(({ text }) => text),
    };
  },
  channel_b() {
    const token = tokenFor(String(515_151_515_151_600_000n + BigInt(++next)));
    const bot = discord.addBot(token, { username: "harbour" });
    return {
      token,
      says: (person, text) => void bot.userSays(bot.dm(person), text, { from: person }),
      textsTo: (person) => bot.sent(bot.dm(person)).map(({ text }) => text),
    };
  },
  channel_c() {
    const token = `EAAtokenOfAccount${++next}`;
    const account = whatsapp.addAccount(token, { waba: String(102_290_129_350_000 + next) });
    return {
      token,
      says: (person, text) => void account.says(text, { from: person }),
      textsTo: (person) => account.sent(person).map(({ text }) => text),
    };
  },
};

/** Ids of the length that each platform uses. */
const PEOPLE = {
  channel_a: ["501111", "502222", "503333"],
  channel_b: ["801111111111111111", "802222222222222222", "803333333333333333"],
  channel_c: ["15550001111", "15550002222", "15550003333"],
} as const;

describe.each(["channel_a", "channel_b", "channel_c"] as const)("%s", (channel) => {
  const [OWNER, GUEST, OTHER] = PEOPLE[channel];

  async function agentWith(settings: object, more: object = { ownerId: OWNER }) {
    const wire = wires[channel]();
    const id = await fixture.provision({ channels: { [channel]: settings } });
    const { status, text } = await fixture.connect(id, wire.token, more, channel);
    expect({ status, text }).toMatchObject({ status: 200 });
    await fixture.inState(id, "connected");
    /** Writes to the bot and returns the next text that it sends to this person. */
    const asks = async (person: string, words: string) => {
      const before = wire.textsTo(person).length;
      wire.says(person, words);
      return (await eventually(() => wire.textsTo(person)[before], { timeoutMs: 10_000 })) ?? "";
    };
    const inbox = async () =>
      (await fixture.rows("SELECT sender_id, by_owner FROM inbox WHERE agent_id = ? ORDER BY id", id)).map(
        ({ sender_id, by_owner }) => `${sender_id}${by_owner === 1 ? " (owner)" : ""}`,
      );
    return { id, wire, asks, inbox };
  }

  test("owner: only the owner may talk", async () => {
    const { wire, asks, inbox } = await agentWith({ access: "owner" });
    wire.says(GUEST, "hello");
    expect(await asks(OWNER, "hello")).toContain("Hello");
    expect(await inbox()).toEqual([`${OWNER} (owner)`]);
    expect(wire.textsTo(GUEST)).toEqual([]);
  });

  test("allowlist: people on the list may talk, but are no owners", async () => {
    const { wire, asks, inbox } = await agentWith({ access: "allowlist", allow: [GUEST] });
    wire.says(OTHER, "hello");
    expect(await asks(GUEST, "hello")).toContain("Hello");
    expect(await inbox()).toEqual([GUEST]);
    expect(wire.textsTo(OTHER)).toEqual([]);
  });

  test("open: anyone may talk, and commands answer by the sender's role", async () => {
    const { asks, inbox } = await agentWith({ access: "open" });
    expect(await asks(GUEST, "/help")).not.toContain("/approve");
    expect(await asks(OWNER, "/help")).toContain("/approve");
    expect(await asks(GUEST, "/status")).toContain("Harbour is running");
    expect(await asks(GUEST, "/pair")).toContain("Only my owner");
    expect(await inbox()).toEqual([GUEST, `${OWNER} (owner)`, GUEST, GUEST]);
  });

  test("pairing: a stranger gets a code, which the owner approves or denies in the chat", async () => {
    const { wire, asks } = await agentWith({ access: "pairing" });
    const codeIn = (text: string) => /\b[A-HJ-NP-Z2-9]{6}\b/.exec(text)?.[0] ?? "";
    const [first, second] = [codeIn(await asks(GUEST, "hello")), codeIn(await asks(OTHER, "hello"))];
    expect(await asks(OWNER, "/pair")).toContain(second);
    expect(await asks(OWNER, `/approve ${first}`)).toContain("can talk to me now");
    await eventually(() => wire.textsTo(GUEST).at(-1) === "You can talk to me now.");
    expect(await asks(GUEST, "hello again")).toContain("Hello");
    expect(await asks(OWNER, `/deny ${second}`)).toContain("refused for a week");
    wire.says(OTHER, "hello?");
    expect(await asks(OWNER, "/pair")).toContain("No one is waiting");
    expect(wire.textsTo(OTHER)).toHaveLength(1);
  });
});
