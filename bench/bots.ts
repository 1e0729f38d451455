// Measures a process with 300 Telegram long polls, 200 Discord gateway connections and 200 Slack sockets: start time, memory
// per bot, and the latency of AI calls meanwhile.

import { discordControl } from "../tests/support/discord-control.ts";
import { eventually } from "../tests/support/eventually.ts";
import { temporaryDir } from "../tests/support/process.ts";
import { slackControl } from "../tests/support/slack-control.ts";
import { telegramControl } from "../tests/support/telegram-control.ts";
import { type Benchmark, type Figure, kib, median, mib, ms, quantile } from "./support/figures.ts";
import { memoryOf } from "./support/process-usage.ts";
import { discordTokenOf, seed, slackAppOf, tokenOf } from "./support/seed.ts";
import { MODEL, type Program, startProgram, startService, startUpstream } from "./support/service.ts";

const TELEGRAM = 300;
const DISCORD = 200;
const SLACK = 200;
/** The first bots load the libraries, so the memory per bot is measured over the others. */
const FIRST = 2;
const REST_MS = 8_000;
/** AI calls of a run with calls. */
const CALLS = 2_000;
const BETWEEN_CALLS_MS = 2;
const GOALS = { seconds: 60, addedMs: 50, telegram: 40 * 1024, discord: 120 * 1024, slack: 60 * 1024 };

/** Bots of each platform. */
interface Bots {
  telegram: number;
  discord: number;
  slack: number;
}

interface Run {
  /** Seconds from the start of the program until all bots are connected. */
  seconds: number;
  /** Without what is mapped from files: a bot maps none, and how much of the program is resident depends on when it was last used. */
  own: number;
  /** Latencies of AI calls, in ms. */
  calls: { meanwhile: number[]; after: number[] };
}

export const bots: Benchmark = {
  name: "bots",
  summary: `${TELEGRAM} Telegram bots on long polling, ${DISCORD} Discord and ${SLACK} Slack bots in one process`,
  isLong: true,
  async run() {
    await using upstream = await startUpstream();
    const none: Bots = { telegram: 0, discord: 0, slack: 0 };
    const few: Bots = { telegram: FIRST, discord: FIRST, slack: FIRST };
    const all: Bots = { telegram: TELEGRAM, discord: DISCORD, slack: SLACK };
    const alone = await hosting(upstream, none, CALLS);
    const busy = await hosting(upstream, all, CALLS);

    // Without calls: they grow the heap by more than some bots do, and by another amount in each run.
    const ownOf = async (bots: Bots) => (await hosting(upstream, bots, 0)).own;
    const [ownNone, ownFew, ownAll] = [await ownOf(none), await ownOf(few), await ownOf(all)];
    const ownOfMore = async (name: keyof Bots) =>
      ((await ownOf({ ...few, [name]: all[name] })) - ownFew) / (all[name] - FIRST);
    const [perTelegram, perDiscord, perSlack] = [
      await ownOfMore("telegram"),
      await ownOfMore("discord"),
      await ownOfMore("slack"),
    ];
    const added = (calls: number[], of: (values: readonly number[]) => number) => of(calls) - of(alone.calls.after);
    const ninetyFive = (values: readonly number[]) => quantile(values, 0.95);
    const call = (what: string, calls: number[], of: (values: readonly number[]) => number): Figure => ({
      what,
      ratio: of(calls) / of(alone.calls.after),
      figure: ms(of(calls)),
      baseline: `${ms(of(alone.calls.after))} alone`,
      goal: `≤ +${GOALS.addedMs} ms`,
      met: added(calls, of) <= GOALS.addedMs,
    });
    const perBot = (what: string, bytes: number, goal: number): Figure => ({
      what,
      figure: kib(bytes),
      baseline: "",
      goal: `≤ ${kib(goal)}`,
      met: bytes <= goal,
    });
    return [
      {
        what: "from the start until all are connected",
        figure: `${busy.seconds.toFixed(1)} s`,
        baseline: `${alone.seconds.toFixed(1)} s without any`,
        goal: `< ${GOALS.seconds} s`,
        met: busy.seconds < GOALS.seconds,
      },
      call("an AI call while they connect, median", busy.calls.meanwhile, median),
      call("an AI call while they connect, 95 of 100", busy.calls.meanwhile, ninetyFive),
      call("an AI call when all are connected, 95 of 100", busy.calls.after, ninetyFive),
      perBot("own memory per Telegram bot", perTelegram, GOALS.telegram),
      perBot("own memory per Discord bot", perDiscord, GOALS.discord),
      perBot("own memory per Slack bot", perSlack, GOALS.slack),
      {
        what: `own memory of the libraries with ${FIRST} bots each`,
        figure: mib(ownFew - ownNone),
        baseline: `${mib(ownNone)} without, ${mib(ownAll)} with all`,
        goal: "",
      },
    ];
  },
};

/** Runs a service with these bots on its own platform fakes, and makes at least so many AI calls, beginning before they are connected. */
async function hosting(upstream: Program, bots: Bots, calls: number): Promise<Run> {
  const { telegram: telegrams, discord: discords, slack: slacks } = bots;
  const folder = temporaryDir();
  try {
    await using telegram = await startProgram("tests/support/telegram.ts");
    await using discord = await startProgram("tests/support/discord.ts");
    await using slack = await startProgram("tests/support/slack.ts");
    const [people, guild] = [telegramControl(telegram.origin), discordControl(discord.origin)];
    const workspace = slackControl(slack.origin);
    const numbers = (count: number) => Array.from({ length: count }, (_, n) => n);
    await people.addBots(numbers(telegrams).map((n) => ({ token: tokenOf(n), username: `bench_${n}_bot` })));
    await guild.addBots(numbers(discords).map((n) => ({ token: discordTokenOf(n), username: `bench_${n}` })));
    await workspace.addApps(numbers(slacks).map(slackAppOf));
    const agents = Math.max(TELEGRAM, DISCORD, SLACK);
    await seed(folder.path, { agents, bots: telegrams, discord: discords, slack: slacks });

    const env = {
      CHANNEL_A_API_ROOT: telegram.origin,
      CHANNEL_A_MODE: "polling",
      CHANNEL_B_API_ROOT: `${discord.origin}/api`,
      CHANNEL_D_API_ROOT: `${slack.origin}/api`,
    };
    const began = performance.now();
    await using berth = await startService(upstream, { env, dir: folder.path });
    let connected = false;
    const caller = (async () => {
      const times: number[] = [];
      while (!connected && calls > 0) {
        times.push(await aiCall(berth.backend));
        await Bun.sleep(BETWEEN_CALLS_MS);
      }
      return times;
    })();
    const watching = eventually(
      async () => {
        const [a, b, d] = await Promise.all([people.stats(), guild.stats(), workspace.stats()]);
        return a.polling >= telegrams && b.connected >= discords && d.connected >= slacks;
      },
      { timeoutMs: 120_000, everyMs: 100, what: "all bots to be connected" },
    ).finally(() => {
      connected = true;
    });
    const [meanwhile] = await Promise.all([caller, watching]);
    const seconds = (performance.now() - began) / 1000;
    const after: number[] = [];
    while (meanwhile.length + after.length < calls) after.push(await aiCall(berth.backend));
    await Bun.sleep(REST_MS);
    const { own } = memoryOf(berth.pid);
    return { seconds, own, calls: { meanwhile, after } };
  } finally {
    folder.remove();
  }
}

/** Makes one AI call; returns its latency in ms. */
async function aiCall(origin: string): Promise<number> {
  const began = performance.now();
  const response = await fetch(`${origin}/api/ai/chat`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: MODEL, messages: [{ role: "user", content: "Hello there" }] }),
  });
  await response.arrayBuffer();
  if (response.status !== 200) throw new Error(`An AI call was answered ${response.status}.`);
  return performance.now() - began;
}
