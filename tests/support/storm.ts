// A storm: a platform is away with all its bots, while people go on writing, and comes back. What then became of every message.

import { type Berth, startBerth } from "./berth.ts";
import { eventually, type Seeded } from "./eventually.ts";
import { member, provision } from "./scene.ts";
import { startUpstream } from "./upstream.ts";

/** How a platform can be away. */
export type Away = "broken" | "cut";

export interface StormSaying {
  /** Index of the bot. */
  bot: number;
  chat: number;
  text: string;
}

/** A platform as a storm plays it: its bots, its people, its limits, and whether it is there at all. */
export interface StormPlatform extends AsyncDisposable {
  readonly name: string;
  /** Bots hold connections that they have to make anew. */
  readonly connects: boolean;
  readonly channel: "channel_a" | "channel_b" | "channel_c";
  readonly env: Record<string, string>;
  /** Tokens of so many new bots. Its limits count from the start. */
  addBots(count: number): Promise<string[]>;
  says(sayings: readonly StormSaying[]): Promise<void>;
  /** What stands in all chats, oldest first. */
  replies(): Promise<StormSaying[]>;
  set(away: Away | false): Promise<void>;
  /**
   * `sent`: messages of bots so far. `returned`: when each bot connected first since the platform came back; epoch ms.
   * `limited`: calls refused for their number.
   */
  stats(): Promise<{ sent: number; limited: number; turnedAway: number; returned: number[] }>;
}

export interface Storm {
  platforms: readonly StormPlatform[];
  /** Bots of each platform. */
  bots: number;
  /** Chats of the busiest bot, whose replies all wait when the platform is back. */
  busyChats: number;
  /** How long it is away each way, in ms. */
  away: readonly (readonly [Away, number])[];
  random: Seeded;
  /** How long all may take to be answered once it is back, in ms. */
  patience: number;
}

/** Of one platform. Times are ms since it came back. */
export interface Aftermath {
  platform: string;
  connects: boolean;
  messages: number;
  /** Messages answered not at all, more than once, or before an earlier one of their chat. */
  lost: number;
  twice: number;
  disordered: number;
  limited: number;
  /** Calls that were made in vain. */
  turnedAway: number;
  bots: number;
  firstBack: number;
  lastBack: number;
  /** The most bots that came back within 100 ms. */
  crowd: number;
  allAnswered: number;
}

/** Plays it against the whole service with a model that takes up to 0.8 s. Throws only where it could not be played. */
export async function weather(storm: Storm, binary?: string): Promise<Aftermath[]> {
  const { platforms, bots, busyChats, random } = storm;
  await using upstream = await startUpstream();
  upstream.script(({ lastUser }) => ({ text: `echo: ${lastUser}`, delayMs: random.integer(0, 800) }));
  const env = { PROVIDER_3_BASE_URL: upstream.url, MODEL_A: "provider_3:fake-small", RATE_LIMITS: "off" };
  const all = Object.assign(env, ...platforms.map((platform) => platform.env)) as Record<string, string>;
  await using berth = await startBerth({ env: all, ...(binary === undefined ? {} : { binary }) });
  for (const platform of platforms) await connect(berth, platform, bots);

  // Of each kind every bot has a chat, and the busiest one many.
  const sayings = (when: string, first: number): StormSaying[] => [
    ...Array.from({ length: bots }, (_, bot) => ({ bot, chat: first, text: `${when} ${bot}` })),
    ...Array.from({ length: busyChats }, (_, n) => ({ bot: 0, chat: first + 1 + n, text: `${when} busy ${n}` })),
  ];
  const lasting = [1, 2, 3].map((n) => ({ bot: 1, chat: 9_000, text: `goes on ${n}` }));
  const [before, during] = [[...sayings("before", 1_000), ...lasting.slice(0, 1)], sayings("during", 5_000)];
  const said = [...before, ...during, ...lasting.slice(1)];
  await Promise.all(platforms.map((platform) => platform.says(before)));
  // Most of what was asked before is being answered when the platform goes.
  await eventually(() => upstream.total >= (platforms.length * before.length) / 2, { timeoutMs: 30_000 });
  for (const [n, [away, ms]] of storm.away.entries()) {
    await Promise.all(platforms.map((platform) => platform.set(away)));
    const share = [...during, ...lasting.slice(1)].filter((_, at) => at % storm.away.length === n);
    await Promise.all(platforms.map((platform) => platform.says(share)));
    await Bun.sleep(ms);
  }
  const back = Date.now();
  await Promise.all(platforms.map((platform) => platform.set(false)));
  const found = await Promise.all(platforms.map((platform) => aftermath(platform, said, back, storm)));
  if ((await berth.stop()) !== 0) throw new Error("The service did not stop well.");
  return found;
}

async function connect(berth: Berth, { channel, addBots, stats }: StormPlatform, bots: number): Promise<void> {
  const owner = await member(berth, "enterprise");
  for (const [n, token] of (await addBots(bots)).entries()) {
    const { id } = await provision(owner, `Agent ${n}`, { channels: { [channel]: { access: "open" } } });
    const { status, text } = await owner.put(`/api/agents/${id}/channels/${channel}`, { token });
    if (status !== 200) throw new Error(`A bot was not connected: ${status} ${text}`);
  }
  await eventually(async () => (await stats()).returned.length === bots, { timeoutMs: 30_000 });
}

async function aftermath(
  platform: StormPlatform,
  said: readonly StormSaying[],
  back: number,
  { bots, patience }: Storm,
): Promise<Aftermath> {
  const wanted = new Set(said.map(({ text }) => `echo: ${text}`));
  const missing = async () => wanted.difference(new Set((await platform.replies()).map(({ text }) => text))).size;
  const waiting = { timeoutMs: patience, everyMs: 200 };
  // What is missing then is told, with everything else.
  const enough = async () => (await platform.stats()).sent >= wanted.size;
  await eventually(async () => (await enough()) && (await missing()) === 0, waiting).catch(() => undefined);
  const allAnswered = Date.now() - back;
  await eventually(async () => (await platform.stats()).returned.length === bots, waiting).catch(() => undefined);
  const replies = await platform.replies();
  const { limited, turnedAway, returned } = await platform.stats();
  const times = returned.map((at) => at - back).sort((a, b) => a - b);
  const order = (one: { chat: number; bot: number }) => `${one.bot} ${one.chat}`;
  const asked = Map.groupBy(said, order);
  const disordered = [...Map.groupBy(replies, order)].filter(([chat, shown]) => {
    const expected = asked.get(chat)?.map(({ text }) => `echo: ${text}`) ?? [];
    const firsts = [...new Set(shown.map(({ text }) => text))];
    return firsts.join("\n") !== expected.filter((text) => firsts.includes(text)).join("\n");
  });
  return {
    platform: platform.name,
    connects: platform.connects,
    messages: said.length,
    lost: await missing(),
    twice: replies.length - new Set(replies.map(({ text }) => text)).size,
    disordered: disordered.length,
    limited,
    turnedAway,
    bots: times.length,
    firstBack: times[0] ?? 0,
    lastBack: times.at(-1) ?? 0,
    crowd: Math.max(...times.map((time, n) => times.findLastIndex((other) => other <= time + 100) - n + 1)),
    allAnswered,
  };
}
