// Plays a platform outage: every bot of a platform is cut off while users keep writing, then the platform comes back.
// Reports for every message whether it was answered once, in order, and how fast.

import { SLOW_REPLY } from "../../plugins/runtime/outbox/slow-replies.ts";
import { type Berth, startBerth } from "./berth.ts";
import { eventually, type Seeded } from "./eventually.ts";
import { member, provision } from "./members.ts";
import { startUpstream } from "./upstream.ts";

/** How a platform fails: 5xx responses, or reset connections. */
export type Outage = "broken" | "cut";

export interface StormMessage {
  /** Index of the bot. */
  bot: number;
  chat: number;
  text: string;
}

/** A platform fake with bots and users that can be switched off. */
export interface StormPlatform extends AsyncDisposable {
  readonly name: string;
  /** Whether bots hold connections, which they have to open again after the outage. */
  readonly connects: boolean;
  readonly channel: "channel_a" | "channel_b" | "channel_c" | "channel_d";
  readonly env: Record<string, string>;
  /** Adds bots and returns what each is connected with, as `PUT /api/agents/:id/channels/:channel` takes it. */
  addBots(count: number): Promise<object[]>;
  send(sayings: readonly StormMessage[]): Promise<void>;
  /** The bots' messages in all chats, oldest first. */
  replies(): Promise<StormMessage[]>;
  set(away: Outage | false): Promise<void>;
  /**
   * `sent`: messages of bots so far. `returned`: when each bot first connected after the outage, in epoch ms.
   * `limited`: calls refused by a rate limit. `turnedAway`: calls during the outage. `overlaps`: connections or polls that a bot
   * began while it had another one; left out where a bot may have several, or has none.
   */
  stats(): Promise<{
    sent: number;
    limited: number;
    turnedAway: number;
    returned: number[];
    overlaps?: number;
    resumes?: number;
  }>;
}

export interface Storm {
  platforms: readonly StormPlatform[];
  /** Number of bots of each platform. */
  bots: number;
  /** Number of chats of the busiest bot, whose replies all wait when the platform is back. */
  busyChats: number;
  /** The outages one after the other: kind, and duration in ms. */
  outages: readonly (readonly [Outage, number])[];
  random: Seeded;
  /** Time limit for all replies after the outage, in ms. */
  timeoutMs: number;
}

/** The result for one platform. Times are ms since the end of the outage. */
export interface StormResult {
  platform: string;
  connects: boolean;
  messages: number;
  /** Messages without a reply, replies that were repeated, and chats with replies in the wrong order. */
  lost: number;
  repeated: number;
  disordered: number;
  limited: number;
  /** Calls during the outage. */
  turnedAway: number;
  bots: number;
  firstBack: number;
  lastBack: number;
  /** The largest number of bots that came back within 100 ms. */
  largestGroup: number;
  allAnswered: number;
}

/** Plays the outage against the whole service with a model that takes up to 0.8 s. Throws only if the test could not run. */
export async function runStorm(storm: Storm, binary?: string): Promise<StormResult[]> {
  const { platforms, bots, busyChats, random } = storm;
  await using upstream = await startUpstream();
  upstream.script(({ lastUser }) => ({ text: `echo: ${lastUser}`, delayMs: random.integer(0, 800) }));
  const env = { PROVIDER_3_BASE_URL: upstream.url, MODEL_A: "provider_3:fake-small", RATE_LIMITS: "off" };
  const all = Object.assign(env, ...platforms.map((platform) => platform.env)) as Record<string, string>;
  await using berth = await startBerth({ env: all, ...(binary === undefined ? {} : { binary }) });
  for (const platform of platforms) await connect(berth, platform, bots);

  // In each phase every bot has one chat, and the busiest bot has many more.
  const sayings = (when: string, first: number): StormMessage[] => [
    ...Array.from({ length: bots }, (_, bot) => ({ bot, chat: first, text: `${when} ${bot}` })),
    ...Array.from({ length: busyChats }, (_, n) => ({ bot: 0, chat: first + 1 + n, text: `${when} busy ${n}` })),
  ];
  const lasting = [1, 2, 3].map((n) => ({ bot: 1, chat: 9_000, text: `goes on ${n}` }));
  const [before, during] = [[...sayings("before", 1_000), ...lasting.slice(0, 1)], sayings("during", 5_000)];
  const sentMessages = [...before, ...during, ...lasting.slice(1)];
  await Promise.all(platforms.map((platform) => platform.send(before)));
  // The outage begins when the model has got half of the messages, so that replies are in progress.
  await eventually(() => upstream.total >= (platforms.length * before.length) / 2, { timeoutMs: 30_000 });
  for (const [n, [away, ms]] of storm.outages.entries()) {
    await Promise.all(platforms.map((platform) => platform.set(away)));
    const share = [...during, ...lasting.slice(1)].filter((_, at) => at % storm.outages.length === n);
    await Promise.all(platforms.map((platform) => platform.send(share)));
    await Bun.sleep(ms);
  }
  const back = Date.now();
  await Promise.all(platforms.map((platform) => platform.set(false)));
  const found = await Promise.all(platforms.map((platform) => resultOf(platform, sentMessages, back, storm)));
  if ((await berth.stop()) !== 0) throw new Error("The service did not stop with exit code 0.");
  return found;
}

export async function connect(
  berth: Pick<Berth, "web" | "command">,
  { channel, addBots, stats }: StormPlatform,
  bots: number,
): Promise<void> {
  const owner = await member(berth, "enterprise");
  for (const [n, body] of (await addBots(bots)).entries()) {
    const { id } = await provision(owner, `Agent ${n}`, { channels: { [channel]: { access: "open" } } });
    const { status, text } = await owner.put(`/api/agents/${id}/channels/${channel}`, body);
    if (status !== 200) throw new Error(`A bot was not connected: ${status} ${text}`);
  }
  await eventually(async () => (await stats()).returned.length === bots, { timeoutMs: 30_000 });
}

async function resultOf(
  platform: StormPlatform,
  sentMessages: readonly StormMessage[],
  back: number,
  { bots, timeoutMs }: Storm,
): Promise<StormResult> {
  const waiting = { timeoutMs, everyMs: 200 };
  await answered(platform, sentMessages, waiting);
  const allAnswered = Date.now() - back;
  await eventually(async () => (await platform.stats()).returned.length === bots, waiting).catch(() => undefined);
  const { limited, turnedAway, returned } = await platform.stats();
  const times = returned.map((at) => at - back).sort((a, b) => a - b);
  return {
    platform: platform.name,
    connects: platform.connects,
    messages: sentMessages.length,
    ...(await wrongReplies(platform, sentMessages)),
    limited,
    turnedAway,
    bots: times.length,
    firstBack: times[0] ?? 0,
    lastBack: times.at(-1) ?? 0,
    largestGroup: Math.max(...times.map((time, n) => times.findLastIndex((other) => other <= time + 100) - n + 1)),
    allAnswered,
  };
}

async function unanswered(platform: StormPlatform, sentMessages: readonly StormMessage[]): Promise<number> {
  const wanted = new Set(sentMessages.map(({ text }) => `echo: ${text}`));
  return wanted.difference(new Set((await platform.replies()).map(({ text }) => text))).size;
}

/** Until all have a reply. After the time limit the result reports those that are missing; this must not throw. */
export async function answered(
  platform: StormPlatform,
  sentMessages: readonly StormMessage[],
  waiting: { timeoutMs: number; everyMs: number },
): Promise<void> {
  const enough = async () => (await platform.stats()).sent >= sentMessages.length;
  const areAll = async () => (await enough()) && (await unanswered(platform, sentMessages)) === 0;
  await eventually(areAll, waiting).catch(() => undefined);
}

/** How many messages have no reply, replies were repeated, and chats have theirs in the wrong order. */
export async function wrongReplies(
  platform: StormPlatform,
  sentMessages: readonly StormMessage[],
): Promise<Pick<StormResult, "lost" | "repeated" | "disordered">> {
  // A busy machine tells people after a while that their reply is under way.
  const replies = (await platform.replies()).filter(({ text }) => text !== SLOW_REPLY);
  const order = (one: { chat: number; bot: number }) => `${one.bot} ${one.chat}`;
  const messagesByChat = Map.groupBy(sentMessages, order);
  const disordered = [...Map.groupBy(replies, order)].filter(([chat, shown]) => {
    const expected = messagesByChat.get(chat)?.map(({ text }) => `echo: ${text}`) ?? [];
    const firsts = [...new Set(shown.map(({ text }) => text))];
    return firsts.join("\n") !== expected.filter((text) => firsts.includes(text)).join("\n");
  });
  return {
    lost: await unanswered(platform, sentMessages),
    repeated: replies.length - new Set(replies.map(({ text }) => text)).size,
    disordered: disordered.length,
  };
}
