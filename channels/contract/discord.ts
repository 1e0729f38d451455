// Discord's side of the contract: the strict fake, played as any platform is.
import { startDiscord, tokenFor } from "../../tests/support/discord.ts";
import type { Binding, Channel, Sink } from "../channel.ts";
import { createDiscord } from "../discord.ts";
import type { Place, Platform } from "./platform.ts";

const FAST = { every: 0, burst: 1 };
const quiet = { debug: () => undefined, warn: () => undefined };

export async function discord(): Promise<Platform> {
  const fake = await startDiscord({ identifyMs: 0 });
  const id = "424242424242424242";
  const token = tokenFor(id);
  const bot = fake.addBot(token, { username: "contract_bot" });
  const channels: Record<Place, string> = { private: bot.dm(), group: bot.channel() };
  const binding: Binding = { agentId: "agent", token, bot: { id, username: "contract_bot" } };
  const adapter = createDiscord({
    apiRoot: fake.url,
    commands: {},
    log: quiet,
    fileHosts: [new URL(fake.url).origin],
    rules: { edit: FAST, typing: FAST, session: FAST },
  });
  const accidents = {
    busy: { status: 429, retryAfter: 2 },
    broken: { status: 502 },
    cut: "cut",
    silent: "hang",
  } as const;
  const said: string[] = [];
  const keptSeq = () =>
    binding.resume === undefined ? 0 : Number((JSON.parse(binding.resume) as { seq: number }).seq);
  /** Keeps where it is, as whoever hosts a channel does. */
  const listening = {
    silentAfter: adapter.listening.silentAfter,
    listen: (given: Binding, sink: Sink, signal: AbortSignal) =>
      adapter.listening.listen(
        given,
        {
          ...sink,
          keep(resume) {
            given.resume = resume;
            sink.keep(resume);
          },
        },
        signal,
      ),
  };
  const channel: Channel = { ...adapter, listening };
  // Discord tells only what happened since a session began.
  const stop = new AbortController();
  const sink: Sink = {
    accept: () => Promise.resolve(),
    alive: () => undefined,
    keep: () => stop.abort(),
    undelivered: () => Promise.resolve(),
  };
  await listening.listen(binding, sink, stop.signal);
  await fake.waitFor(() => bot.connected === 0);
  const say = (text: string, place: Place, naming: boolean) => {
    const message = bot.userSays(channels[place], text, { mention: naming });
    said.push(message);
    return message;
  };
  const last = () => said.at(-1) ?? "";
  return {
    channel,
    binding,
    strangeToken: tokenFor("434343434343434343"),
    peers: channels,
    limit: 2000,
    idempotent: true,
    says: (text, place = "private", naming = false) => say(text, place, naming),
    pictures(bytes, words) {
      const files = [{ name: "picture.jpg", type: "image/jpeg", bytes }];
      said.push(bot.userSays(channels.private, words, { files }));
      return last();
    },
    deletes: () => bot.userDeletes(last()),
    disorders(texts) {
      bot.hold();
      const ids = texts.map((text) => say(text, "private", false));
      bot.release(true);
      return ids;
    },
    removes: (id) => bot.userDeletes(id),
    repeats: () => bot.repeats(last()),
    edits: (text) => bot.userEdits(last(), text),
    shown: (place = "private") =>
      bot.sent(channels[place]).map(({ id, text, replyTo }) => ({
        id,
        text,
        ...(replyTo === undefined ? {} : { replyTo }),
      })),
    grew: (place = "private") =>
      bot.sent(channels[place]).flatMap(({ edits }) => ["", ...edits.map(({ text }) => text)]),
    typing: (place = "private") => bot.typing(channels[place]).length,
    sendFails: (accident) =>
      accident === "lost"
        ? fake.fail("createMessage", "cut", { when: "after" })
        : fake.fail("createMessage", accidents[accident]),
    receiveFails: (accident) =>
      accident === "broken" ? fake.fail("gateway", accidents.broken) : bot.nextConnection("cut"),
    blocks: () => bot.closes(channels.private),
    revokes: () => fake.revoke(token),
    unconfirmed: () => said.filter((message) => bot.sequenceOf(message) > keptSeq()).length,
    [Symbol.asyncDispose]: () => fake.stop(),
  };
}
