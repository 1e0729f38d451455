// Moves a cell with many bots of each platform to another machine while people write to them, as planned and by a kill, and reports for
// each platform whether every message was answered, and how soon.
import { type Cluster, nameOf, startCluster } from "./cluster.ts";
import { eventually, type Seeded } from "./eventually.ts";
import { answered, connect, type StormMessage, type StormPlatform, wrongReplies } from "./storm.ts";
import { startUpstream } from "./upstream.ts";

interface BotsOptions {
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
  /** Replies that were shown twice, and of them those to messages of the moment before the kill, which may have been on their way then. */
  repeated: number;
  repeatedOnTheirWay: number;
  disordered: number;
  /** Calls refused by a rate limit. */
  limited: number;
  /** Connections or polls that a bot began while it had another one; left out where several are allowed, or there are none. */
  overlaps?: number;
  /** Sessions that went on, where a platform has them. */
  resumes?: number;
  /** Milliseconds from the command until each bot has answered on the new machine, and from the kill until it has answered what it was sent then. */
  answeredMs: { move: number; kill: number };
}

/** Of each wait; a test waits six times as long (`patient`), and has to end within its own limit. */
const TIMEOUT_MS = 6_000;
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
  const [first, atMove, afterMove] = [sayings("first"), sayings("at the move"), sayings("after the move")];
  const [before, atKill] = [sayings("before the kill"), sayings("at the kill")];
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
  await moving;
  await say(afterMove);
  const moves = await untilAnswered([...first, ...atMove, ...afterMove], movedAt);

  const asked = upstream.total;
  const saying = say(before);
  await eventually(() => upstream.total >= asked + (platforms.length * bots) / 2, { timeoutMs: TIMEOUT_MS });
  const owner = await cluster.owner();
  const sent = [...first, ...atMove, ...afterMove, ...before];
  const killedAt = performance.now();
  await owner.kill();
  await saying;
  await say(atKill);
  const kills = await untilAnswered([...sent, ...atKill], killedAt);

  return Promise.all(
    platforms.map(async (platform, n) => {
      const { limited, overlaps, resumes } = await platform.stats();
      return {
        platform: platform.name,
        messages: sent.length + atKill.length,
        ...(await wrongReplies(platform, [...sent, ...atKill])),
        limited,
        ...(overlaps !== undefined && { overlaps }),
        ...(resumes !== undefined && { resumes }),
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
