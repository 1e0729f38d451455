// Measures memory per hosted agent: 20,000 agents, each with a Telegram bot in webhook mode, after one turn each.

import { eventually } from "../tests/support/eventually.ts";
import { run, temporaryDir } from "../tests/support/process.ts";
import { type Benchmark, kib, mib, perSecond } from "./support/figures.ts";
import { memoryOf } from "./support/process-usage.ts";
import { seed } from "./support/seed.ts";
import { count, root, startProgram, startService, startUpstream } from "./support/service.ts";

const AGENTS = 20_000;
const AT_ONCE = 32;
const IDLE_MS = 5_000;
const GOAL = 24 * 1024;

interface Stats {
  webhooks: number;
  calls: Record<string, number>;
  posted: Record<string, number>;
}

export const hosted: Benchmark = {
  name: "hosted",
  summary: "memory per agent with a Telegram bot, 20,000 of them, after one turn each",
  async run() {
    const [folder, empty] = [temporaryDir(), temporaryDir()];
    try {
      await using upstream = await startUpstream();
      await using telegram = await startProgram("bench/support/telegram-sink.ts");
      const env = { CHANNEL_A_API_ROOT: telegram.origin, CHANNEL_A_MODE: "webhook" };
      const control = async (verb: string, body?: unknown): Promise<Stats> => {
        const init = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) };
        return (await (await fetch(`${telegram.origin}/_control/${verb}`, init)).json()) as Stats;
      };

      const before = await idleMemory(() => startService(upstream, { env, dir: empty.path }));
      await seed(folder.path, { agents: AGENTS, bots: true });
      await using berth = await startService(upstream, { env, dir: folder.path });
      const patience = { timeoutMs: 120_000, everyMs: 250 };
      await eventually(async () => (await control("stats")).webhooks === AGENTS, {
        ...patience,
        what: "all webhooks to be set",
      });
      const began = performance.now();
      await control("post", { to: berth.web, atOnce: AT_ONCE });
      await eventually(async () => ((await control("stats")).calls.sendMessage ?? 0) >= AGENTS, {
        ...patience,
        what: "a reply of every bot",
      });
      const seconds = (performance.now() - began) / 1000;
      await Bun.sleep(IDLE_MS);
      const after = memoryOf(berth.pid).rss;
      const { posted } = await control("stats");
      await berth.stop();
      const settled = count(folder.path, "SELECT count(DISTINCT agent_id) FROM inbox WHERE status = 'done'");
      if (settled !== AGENTS || posted["200"] !== AGENTS) {
        throw new Error(
          `Only ${settled} agents have answered; the statuses of the posts are ${JSON.stringify(posted)}.`,
        );
      }
      const perAgent = (after - before) / AGENTS;
      const perBot = await memoryPerBot();
      return [
        {
          what: `RSS per agent (${mib(before)} idle and empty, ${mib(after)} with ${AGENTS.toLocaleString("en")})`,
          ratio: perAgent / perBot,
          figure: kib(perAgent),
          baseline: `${kib(perBot)} a bare grammY Bot object`,
          goal: "≤ 24 KiB",
          met: perAgent <= GOAL,
        },
        {
          what: "from update to delivered reply, all agents",
          figure: perSecond(AGENTS / seconds),
          baseline: `${AT_ONCE} updates at once`,
          goal: "",
        },
      ];
    } finally {
      for (const { remove } of [folder, empty]) remove();
    }
  },
};

async function idleMemory(start: () => ReturnType<typeof startService>): Promise<number> {
  await using service = await start();
  await Bun.sleep(IDLE_MS);
  return memoryOf(service.pid).rss;
}

async function memoryPerBot(): Promise<number> {
  const { exitCode, stdout, stderr } = await run(
    [process.execPath, `${root}/bench/support/bare-bots.ts`, String(AGENTS)],
    {},
    root,
  );
  if (exitCode !== 0) throw new Error(`The bare bots failed: ${stderr}`);
  const { bots, bytes } = JSON.parse(stdout) as { bots: number; bytes: number };
  return bytes / bots;
}
