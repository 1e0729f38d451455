// The live stream's page with real video: ffmpeg sends what the page says to enter, and the picture moves in the page.

import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Page, Response } from "playwright-core";
import { type Berth, startBerth } from "../support/berth.ts";
import type { Client } from "../support/client.ts";
import { eventually } from "../support/eventually.ts";
import { publish } from "../support/ffmpeg.ts";
import { member, provision } from "../support/members.ts";
import { expectAccessible, openConsole } from "./support/console.ts";

let berth: Berth;
let ada: Client;

beforeAll(async () => {
  berth = await startBerth({ env: { RATE_LIMITS: "off" } });
  ada = await member(berth, "enterprise");
});
afterAll(() => berth?.[Symbol.asyncDispose]());

/** What a person copies from the page into OBS. */
async function readEncoderFields(page: Page): Promise<string> {
  const section = page.locator("dl").filter({ hasText: "Stream key" });
  const server = ((await section.locator(".font-mono").first().textContent()) ?? "").trim();
  await section.getByRole("button", { name: "Show Stream key" }).click();
  const key = ((await section.locator("dd").nth(1).locator(".font-mono").textContent()) ?? "").trim();
  await section.getByRole("button", { name: "Hide Stream key" }).click();
  expect(await page.content()).not.toContain(key);
  return `${server}/${key}`;
}

/** The player in the page, as it is now. */
const player = async (page: Page) => {
  const frame = page.frames().find((one) => one.url().includes("/live/"));
  return frame?.evaluate<{ frames: number; width: number; time: number } | null>(`(() => {
    const video = document.querySelector("video");
    return video && { frames: video.getVideoPlaybackQuality().totalVideoFrames, width: video.videoWidth, time: video.currentTime };
  })()`);
};

/** Waits until the picture moves: more frames were drawn than before. */
async function expectMoving(page: Page) {
  const plays = async () => {
    const seen = await player(page);
    return seen && seen.frames > 0 && seen.width === 320 ? seen : undefined;
  };
  const before = await eventually(plays, { timeoutMs: 20_000, everyMs: 100, what: "the player draws a frame" });
  const moves = async () => ((await player(page))?.frames ?? 0) > before.frames + 5;
  await eventually(moves, { timeoutMs: 10_000, everyMs: 100, what: "the picture moves" });
}

test("what the page says to enter puts the agent on the air, again after a stop, and a wrong or replaced key does not", async () => {
  const { id } = await provision(ada, "Lookout");
  await using console = await openConsole(berth, ada);
  const { page } = console;
  const refusals: string[] = [];
  const isRefused = (response: Response) => response.status() >= 400 && response.url().includes("/api/");
  page.on("response", (response) => void (isRefused(response) && refusals.push(response.url())));
  await console.open(`/agents/${id}/stream`);
  await page.getByRole("button", { name: "Make a live stream" }).click();
  await page.getByText("Off the air").waitFor();
  expect(refusals).toEqual([]);
  const address = await readEncoderFields(page);

  const wrong = publish(`${address.slice(0, -8)}00000000`, { seconds: 5 });
  expect(await wrong.exited).not.toBe(0);
  expect(await page.getByText("On the air since", { exact: false }).count()).toBe(0);

  const first = publish(address, { keySeconds: 1 });
  await page.getByText("On the air since", { exact: false }).waitFor();
  await expectMoving(page);
  await page.getByText(/· \d+\.\d Mbit\/s/).waitFor();
  await console.shoot("stream-live");
  await using phone = await openConsole(berth, ada, { theme: "dark", width: 390 });
  await phone.open(`/agents/${id}/stream`);
  await expectMoving(phone.page);
  await phone.shoot("stream-live");
  expect(await phone.page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);

  first.signal("SIGTERM");
  await first.exited;
  await page.getByText("Off the air since", { exact: false }).waitFor();
  const second = publish(address, { keySeconds: 1 });
  await page.getByText("On the air since", { exact: false }).waitFor();
  await expectMoving(page);

  await page.getByRole("button", { name: "Replace the key" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Replace it" }).click();
  await page.getByText("The key is replaced.", { exact: false }).waitFor();
  expect(await second.exited).not.toBe(0);
  await page.getByText("Off the air since", { exact: false }).waitFor();
  expect(await readEncoderFields(page)).not.toBe(address);
  expect([...console.complaints(), ...phone.complaints()]).toEqual([]);
});

test("the page with a stream is accessible", async () => {
  const { id } = await provision(ada, "Watch");
  expect((await ada.put(`/api/agents/${id}/stream`, {})).status).toBe(200);
  await expectAccessible(berth, ada, `/agents/${id}/stream`, {
    name: "stream",
    prepare: (page) => page.locator("iframe").waitFor(),
  });
});
