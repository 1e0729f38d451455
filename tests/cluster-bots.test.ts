// Bots of all platforms whose machine changes, by a planned move and by a kill: each message is answered, in order, and no bot of Telegram and Discord is connected twice.
import { expect, test } from "bun:test";
import { runTakeovers } from "./support/bots-over-takeovers.ts";
import { seeded } from "./support/eventually.ts";
import { startPlatforms } from "./support/storm-platforms.ts";

const BOTS = 20;

test("20 bots of each platform answer all that they are sent while their cell moves and while its machine is killed", async () => {
  await using started = new AsyncDisposableStack();
  const platforms = await startPlatforms(started);
  const results = await runTakeovers({ platforms, bots: BOTS, random: seeded(1) });
  console.log(`bots over takeovers: ${JSON.stringify(results)}`);
  expect(results.map(({ platform, overlaps }) => [platform, overlaps])).toEqual([
    ["Telegram", 0],
    ["Discord", 0],
    ["WhatsApp", undefined],
    ["Slack", undefined],
  ]);
  // Sessions are resumed on the machine that the cell moves to, and again on the other one after the kill.
  expect(results.find(({ platform }) => platform === "Discord")?.resumes).toBeGreaterThanOrEqual(BOTS);
  for (const result of results) {
    expect(result).toMatchObject({ lost: 0, disordered: 0, limited: 0 });
    expect(result.repeated).toBe(result.repeatedOnTheirWay);
  }
});
