// Measures an outage of all platforms for a minute: lost messages, and how the bots reconnect.

import { seeded } from "../tests/support/eventually.ts";
import { runStorm, type StormResult } from "../tests/support/storm.ts";
import {
  startDiscordPlatform,
  startPlatforms,
  startTelegramPlatform,
  startWhatsAppPlatform,
} from "../tests/support/storm-platforms.ts";
import type { Benchmark, Figure } from "./support/figures.ts";
import { binary } from "./support/service.ts";

const BOTS = 100;
const BUSY_CHATS = 50;

const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`;

export const storm: Benchmark = {
  name: "storm",
  summary: "all platforms down for 60 s, 100 bots each, then back",
  async run() {
    await using platforms = new AsyncDisposableStack();
    const starts = [startTelegramPlatform, startDiscordPlatform, startWhatsAppPlatform];
    const all = await startPlatforms(platforms, starts);
    const outages = [
      ["broken", 30_000],
      ["cut", 30_000],
    ] as const;
    const found = await runStorm(
      { platforms: all, bots: BOTS, busyChats: BUSY_CHATS, outages, random: seeded(1), timeoutMs: 180_000 },
      binary,
    );
    return found.flatMap(figures);
  },
};

function figures(one: StormResult): Figure[] {
  const wrong = one.lost + one.repeated + one.disordered;
  const all: Figure[] = [
    {
      what: `${one.platform}: messages answered once, of ${one.messages}`,
      figure: `${one.messages - one.lost - one.repeated}, all by ${seconds(one.allAnswered)}`,
      baseline: `${one.turnedAway} calls in vain`,
      goal: "all, in order",
      met: wrong === 0,
    },
    {
      what: `${one.platform}: calls refused for being too many`,
      figure: String(one.limited),
      baseline: "the platform's own limits",
      goal: "0",
      met: one.limited === 0,
    },
  ];
  if (one.connects) {
    all.push({
      what: `${one.platform}: bots that came back within 100 ms, at most`,
      figure: `${one.largestGroup} of ${one.bots}`,
      baseline: `first after ${seconds(one.firstBack)}, last after ${seconds(one.lastBack)}`,
      goal: `≤ ${BOTS / 5}`,
      met: one.bots === BOTS && one.largestGroup <= BOTS / 5,
    });
  }
  return all;
}
