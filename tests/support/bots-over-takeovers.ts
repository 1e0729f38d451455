// Moves a cell with many bots of each platform to another machine while people write to them, as planned and by a kill, and reports for
// each platform whether every message was answered, and how soon.
import { type Cluster, nameOf, startCluster } from "./cluster.ts";
import { eventually, type Seeded } from "./eventually.ts";
import { answered, connect, type StormMessage, type StormPlatform, wrongReplies } from "./storm.ts";
import { startUpstream } from "./upstream.ts";

export interface BotsOptions {
  platforms: readonly StormPlatform[];
  /** Number of bots of each platform. */
  bots: number;
  random: Seeded;
  binary?: string;
}

/** Of a platform. */
export interface TakeoverResult {
  platform: string;
  messages: number;
  lost: number;
  /** Replies that were shown twice, and of them those to messages of the second before the kill, which were on their way then. */
  repeated: number;
  repeatedOnTheirWay: number;
  disordered: number;
  /** Calls refused by a rate limit. */
  limited: number;
  /** Connections or polls that a bot began while it had another one. */
  overlaps: number;
  /** Milliseconds from the command or the kill until each bot has answered what it was sent then. */
  answeredMs: { move: number; kill: number };
}

const TIMEOUT_MS = 60_000;
const WAITING = { timeoutMs: TIMEOUT_MS, everyMs: 100 };

export async function runTakeovers({ platforms, bots, random, binary }: BotsOptions): Promise<TakeoverResult[]> {
  await using upstream = await startUpstream();
  upstream.script(({ lastUser }) => ({ text: `echo: ${lastUser}`, delayMs: random.integer(0, 300) }));
  const env = { PROVIDER_3_BASE_URL: upstream.url, MODEL_A: "provider_3:fake-small", RATE_LIMITS: "off" };
  const all = Object.assign(env, ...platforms.map((platform) => platform.env)) as Record<string, string>;
  await using cluster = await startCluster({ nodes: 2, env: all, ...(binary !== undefined && { binary }) });
  for (const platform of platforms) await connect(cluster, platform, bots);
  await cluster.followed();

  /** Each bot has one chat. */
  const sayings = (when: string): StormMessage[] =>
    Array.from({ length: bots }, (_, bot) => ({ bot, chat: 1_000, text: `${when} ${bot}` }));
  const [first, atMove, before, atKill] = ["first", "at the move", "before the kill", "at the kill"].map(sayings) as [
    StormMessage[],
    StormMessage[],
    StormMessage[],
    StormMessage[],
  ];
  const say = (messages: readonly StormMessage[]) => Promise.all(platforms.map((platform) => platform.send(messages)));
  /** Milliseconds until all these have a reply, by platform. */
  const untilAnswered = (messages: readonly StormMessage[], began: number) =>
    Promise.all(
      platforms.map(async (platform) => {
        await answered(platform, messages, WAITING);
        return performance.now() - began;
      }),
    );

  await say(first);
  await untilAnswered(first, 0);
  const movedAt = performance.now();
  const moving = moveFirstCell(cluster);
  await say(atMove);
  const [moves] = await Promise.all([untilAnswered([...first, ...atMove], movedAt), moving]);

  await say(before);
  const asked = upstream.total;
  await eventually(() => upstream.total >= asked + (platforms.length * bots) / 2, { timeoutMs: TIMEOUT_MS });
  const owner = await cluster.owner();
  const sent = [...first, ...atMove, ...before];
  const killedAt = performance.now();
  await owner.kill();
  await say(atKill);
  const kills = await untilAnswered([...sent, ...atKill], killedAt);

  return Promise.all(
    platforms.map(async (platform, n) => {
      const { limited, overlaps } = await platform.stats();
      return {
        platform: platform.name,
        messages: sent.length + atKill.length,
        ...(await wrongReplies(platform, [...sent, ...atKill])),
        limited,
        overlaps,
        answeredMs: { move: moves[n] ?? Number.NaN, kill: kills[n] ?? Number.NaN },
        repeatedOnTheirWay: await repeatedOf(platform, before),
      };
    }),
  );
}

async function repeatedOf(platform: StormPlatform, messages: readonly StormMessage[]): Promise<number> {
  const wanted = new Set(messages.map(({ text }) => `echo: ${text}`));
  const replies = (await platform.replies()).map(({ text }) => text).filter((text) => wanted.has(text));
  return replies.length - new Set(replies).size;
}

async function moveFirstCell(cluster: Cluster): Promise<void> {
  const owner = await cluster.owner();
  const target = cluster.nodes.find((node) => node !== owner);
  if (!target) throw new Error("There is one node only.");
  const { exitCode, stderr } = await cluster.command("cluster", "move", "0", nameOf(target));
  if (exitCode !== 0) throw new Error(stderr);
}
