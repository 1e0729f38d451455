// Measures messages to bots by webhook (accepted, answered by a 0 ms model, delivered) against a minimal loop that does the same.

import { join } from "node:path";
import { temporaryDir } from "../tests/support/process.ts";
import { type Benchmark, cpuFigure, ms, perSecond } from "./support/figures.ts";
import {
  count,
  cpuDuring,
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
const ROUNDS = 3;
const SECONDS = 2;

interface Conversed {
  answered: number;
  lost: number;
  seconds: number;
  /** Milliseconds. */
  p50: number;
  p99: number;
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
  async run() {
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
      const talk = (to: string, seconds = SECONDS) => converse(platform, to, CHATS, seconds);
      await untilCompiled(berth.pid, () => talk(berth.web));
      await talk(bare.origin, 1);
      const rounds: { own: Conversed; plain: Conversed }[] = [];
      const cpu = await cpuDuring([berth.pid, bare.pid], async () => {
        for (let n = 0; n < ROUNDS; n++) {
          rounds.push({ own: await talk(berth.web), plain: await talk(bare.origin) });
        }
      });
      const sum = (values: number[]) => values.reduce((total, value) => total + value, 0);
      const rateOf = (all: Conversed[]) => sum(all.map((one) => one.answered)) / sum(all.map((one) => one.seconds));
      const [own, plain] = [rounds.map((round) => round.own), rounds.map((round) => round.plain)];
      const [rate, bareRate] = [rateOf(own), rateOf(plain)];
      const lost = sum(own.map((one) => one.lost));
      const unsettled = count(folder.path, "SELECT count(*) FROM outbox WHERE status = 'failed'");
      if (lost + unsettled > 0) throw new Error(`${lost} messages got no reply, and ${unsettled} replies failed.`);
      return [
        {
          what: `delivered at ${CHATS} chats`,
          ratio: rate / bareRate,
          figure: perSecond(rate),
          baseline: `${perSecond(bareRate)} a bare loop (insert, fetch, send, update)`,
          goal: "≥ 3,000/s, ≥ 0.7×",
          met: rate >= 3_000 && rate >= 0.7 * bareRate,
        },
        cpuFigure(
          "processor time of a message",
          cpu.service / sum(own.map((one) => one.answered)),
          cpu.baseline / sum(plain.map((one) => one.answered)),
        ),
        {
          what: "from post to delivered reply, median",
          figure: ms(own[0]?.p50 ?? 0),
          baseline: `${ms(plain[0]?.p50 ?? 0)} a bare loop`,
          goal: "",
        },
      ];
    } finally {
      for (const { remove } of [folder, plainFolder]) remove();
    }
  },
};
