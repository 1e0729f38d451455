// A short outage of a whole platform with all its bots: no message is lost, no reply is repeated, and reconnects are spread out.

import { expect, test } from "bun:test";
import { seeded } from "./support/eventually.ts";
import { runStorm } from "./support/storm.ts";
import { startDiscordPlatform, startTelegramPlatform, startWhatsAppPlatform } from "./support/storm-platforms.ts";

const BOTS = 100;
const BUSY_CHATS = 50;

test.each([
  ["Telegram", startTelegramPlatform],
  ["Discord", startDiscordPlatform],
  ["WhatsApp", startWhatsAppPlatform],
] as const)(
  "%s is down for 4 s with 100 bots: each message is answered once, no limit is hit, and they come back spread out",
  async (_, start) => {
    const random = seeded(process.env.STORM_SEED === undefined ? undefined : Number(process.env.STORM_SEED));
    console.log(`storm test: STORM_SEED=${random.seed}`);
    await using platform = await start();
    const [found] = await runStorm({
      platforms: [platform],
      bots: BOTS,
      busyChats: BUSY_CHATS,
      outages: [
        ["broken", 2_000],
        ["cut", 2_000],
      ],
      random,
      timeoutMs: 60_000,
    });
    console.log(`storm test: ${JSON.stringify(found)}`);
    expect(found).toMatchObject({ lost: 0, repeated: 0, disordered: 0, limited: 0, bots: BOTS });
    expect(found?.turnedAway).toBeGreaterThan(BOTS);
    if (!platform.connects) return;
    // A bot retries after 0.5 to 1 s, and doubles the delay each time.
    expect((found?.lastBack ?? 0) - (found?.firstBack ?? 0)).toBeGreaterThan(1_000);
    expect(found?.largestGroup).toBeLessThan(BOTS / 2);
  },
);
