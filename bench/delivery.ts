// Measures messages to bots by webhook (accepted, answered by a 0 ms model, delivered) against a minimal loop that does the same.

import { join } from "node:path";
import { temporaryDir } from "../tests/support/process.ts";
import { type Benchmark, type Figure, median, perSecond, ratioOf, timeFigure } from "./support/figures.ts";
import { cpuOf } from "./support/process-usage.ts";
import {
  count,
  type Owner,
  ownerOf,
  type Program,
  startBare,
  startProgram,
  startService,
  startUpstream,
} from "./support/service.ts";
import { untilCompiled } from "./support/warm-up.ts";

const BOTS = 100;
const CHATS = 50;
const SECONDS = 1;
/** The share of the bare loop's rate. */
const GOAL = 0.45;

interface Conversed {
  answered: number;
  lost: number;
  seconds: number;
  /** Milliseconds. */
  p50: number;
  p99: number;
}

interface Measured extends Conversed {
  /** Processor time for a message, in ms. */
  cpu: number;
}

/** Gives each agent a WhatsApp bot that anybody may write to. */
export async function connectBots({ client, agentIds }: Owner): Promise<void> {
  for (const [n, id] of agentIds.entries()) {
    await client.put(`/api/agents/${id}/config`, { channels: { channel_c: { access: "open" } } });
    const token = `bench-${1_000_000 + n}`;
    const { status, text } = await client.put(`/api/agents/${id}/channels/channel_c`, { token });
    if (status !== 200) throw new Error(`A bot was not connected: ${status} ${text}`);
  }
}

/** Lets `chats` people write to the bots of the service at `to` for some seconds, each waiting for the reply. */
export async function converse(platform: Program, to: string, chats: number, seconds: number): Promise<Conversed> {
  const body = JSON.stringify({ to, chats, seconds });
  const answer = await fetch(`${platform.origin}/_control/converse`, { method: "POST", body });
  return (await answer.json()) as Conversed;
}

export const delivery: Benchmark = {
  name: "delivery",
  summary: "messages accepted, answered and delivered, 100 bots by webhook, 50 chats at a time",
  async run({ rounds }) {
    const folder = temporaryDir();
    const plainFolder = temporaryDir();
    try {
      await using upstream = await startUpstream();
      // WhatsApp, since its adapter has no rate limiter of its own, which would be measured instead.
      await using platform = await startProgram("bench/support/whatsapp-sink.ts");
      const address = `${upstream.origin}/v1/chat/completions`;
      await using bare = await startBare("bots", address, join(plainFolder.path, "turns.db"), platform.origin);
      await using berth = await startService(upstream, {
        env: { CHANNEL_C_API_ROOT: `${platform.origin}/v25.0` },
        dir: folder.path,
      });
      await connectBots(await ownerOf(berth, BOTS));
      const talk = (to: string) => converse(platform, to, CHATS, SECONDS);
      const sides = [
        { origin: berth.web, pid: berth.pid, found: [] as Measured[] },
        { origin: bare.origin, pid: bare.pid, found: [] as Measured[] },
      ] as const;
      for (const { pid, origin } of sides)
        await untilCompiled(pid, () => talk(origin), origin === berth.web ? "berth" : "bare");
      for (let n = 0; n < rounds; n++) {
        for (const { origin, pid, found } of n % 2 === 0 ? sides : sides.toReversed()) {
          const before = cpuOf(pid);
          const conversed = await talk(origin);
          found.push({ ...conversed, cpu: (cpuOf(pid) - before) / conversed.answered });
        }
      }
      const [own, plain] = [sides[0].found, sides[1].found];
      const lost = own.reduce((sum, round) => sum + round.lost, 0);
      const unsettled = count(folder.path, "SELECT count(*) FROM outbox WHERE status = 'failed'");
      if (lost + unsettled > 0) throw new Error(`${lost} messages got no reply, and ${unsettled} replies failed.`);
      return figures(own, plain);
    } finally {
      for (const { remove } of [folder, plainFolder]) remove();
    }
  },
};

function figures(own: Measured[], plain: Measured[]): Figure[] {
  const rates = (rounds: Measured[]) => rounds.map(({ answered, seconds }) => answered / seconds);
  const gain = ratioOf(rates(own), rates(plain));
  const times = (rounds: Measured[], name: "cpu" | "p50") => rounds.map((round) => round[name]);
  return [
    {
      what: `delivered at ${CHATS} chats`,
      ...gain,
      figure: perSecond(median(rates(own))),
      baseline: `${perSecond(median(rates(plain)))} a bare loop (insert, fetch, send, update)`,
      goal: `≥ ${GOAL}×`,
      met: gain.ratio >= GOAL,
    },
    timeFigure("processor time of a message", times(own, "cpu"), times(plain, "cpu")),
    timeFigure("from post to delivered reply, median", times(own, "p50"), times(plain, "p50"), "a bare loop"),
  ];
}
