// The gateway and the live stream of an agent in Chromium: secrets on request, a live connection, a stream that is made.

import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { type Berth, startBerth } from "../support/berth.ts";
import type { Client } from "../support/client.ts";
import { member, provision } from "../support/members.ts";
import { expectAccessible, openConsole } from "./support/console.ts";

let berth: Berth;
let ada: Client;
let id: string;
beforeAll(async () => {
  berth = await startBerth();
  ada = await member(berth, "enterprise");
  ({ id } = await provision(ada, "Harbour"));
});
afterAll(() => berth?.[Symbol.asyncDispose]());

test("the gateway's token is shown on request only, and replaced", async () => {
  await using console = await openConsole(berth, ada);
  const { page } = console;
  await console.open(`/agents/${id}/gateway`);
  const tokenOf = async () => (await ada.get<{ token: string }>(`/api/agents/${id}/token`)).body.token;
  const old = await tokenOf();
  expect(await page.content()).not.toContain(old);
  await page.getByRole("button", { name: "Show Token of the gateway" }).click();
  await page.getByText(old).waitFor();
  await page.getByRole("button", { name: "Replace the token" }).click();
  await page.getByRole("button", { name: "Replace it" }).click();
  await page.getByText(old).waitFor({ state: "detached" });
  const replaced = await tokenOf();
  expect(replaced).not.toBe(old);
  await page.getByText(replaced).waitFor();
  await page.getByRole("button", { name: "Hide Token of the gateway" }).click();
  expect(await page.content()).not.toContain(replaced);
  await page.getByText("Python").click();
  await page.getByText("import websockets").waitFor();
  await page.reload();
  await page.getByText("import websockets").waitFor();
  expect(console.complaints()).toEqual([]);
});

test("the live console talks with the session, and shows hostile frames as text", async () => {
  await using console = await openConsole(berth, ada);
  const { page } = console;
  await console.open(`/agents/${id}/gateway`);
  await page.getByRole("button", { name: "Connect" }).click();
  await page.getByText('"type":"status"').waitFor();
  await page.getByLabel("Message to the agent").fill("<img src=x onerror=alert(1)>");
  await page.getByLabel("Message to the agent").press("Enter");
  await page.getByText('"type":"reply"').waitFor();
  expect(await page.locator("main img").count()).toBe(0);
  await page.getByRole("button", { name: "Ping" }).click();
  await page.getByText('{"type":"pong"}').waitFor();
  await ada.post(`/api/agents/${id}/token/rotate`, {});
  await page.getByRole("button", { name: "Disconnect" }).click();
  await page.getByText("Not connected").waitFor();
  expect(console.complaints()).toEqual([]);
});

test("a live stream is made, its key is hidden, and it is removed with undo", async () => {
  await using console = await openConsole(berth, ada);
  const { page } = console;
  await console.open(`/agents/${id}/stream`);
  await page.getByRole("button", { name: "Make a live stream" }).click();
  await page.getByRole("heading", { name: "Send video" }).waitFor();
  const { body } = await ada.get<{ streamKey: string; liveStreamId: string }>(`/api/agents/${id}/stream`);
  expect(await page.locator("main").textContent()).not.toContain(body.streamKey);
  await page.getByRole("button", { name: "Show Stream key" }).click();
  await page.getByText(body.streamKey).waitFor();
  await page.frameLocator("iframe").getByText("Off the air").first().waitFor();
  await page.getByRole("button", { name: "Replace the key" }).click();
  await page.getByRole("button", { name: "Replace it" }).click();
  await page.getByText(body.streamKey).waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Remove the live stream" }).click();
  await page.getByText("No live stream yet").waitFor();
  await page.getByRole("button", { name: "Undo" }).click();
  await page.getByRole("heading", { name: "Send video" }).waitFor();
  expect((await ada.get(`/api/agents/${id}/stream`)).status).toBe(200);
  expect(console.complaints()).toEqual([]);
});

const loaded = (page: Page) => page.locator("main h2").first().waitFor();

test("are accessible, with dialogs open", async () => {
  await expectAccessible(berth, ada, `/agents/${id}/gateway`, { name: "gateway", prepare: loaded });
  await expectAccessible(berth, ada, `/agents/${id}/gateway`, {
    name: "gateway-dialog",
    async prepare(page, { language }) {
      await page.getByRole("button", { name: language === "de" ? "Token ersetzen" : "Replace the token" }).click();
      await page.getByRole("dialog").waitFor();
    },
  });
  const empty = await provision(ada, "Quiet");
  await expectAccessible(berth, ada, `/agents/${empty.id}/stream`, {
    name: "stream-empty",
    prepare: (page) => page.locator("main .border-dashed").waitFor(),
  });
  await ada.put(`/api/agents/${id}/stream`, {});
  await expectAccessible(berth, ada, `/agents/${id}/stream`, {
    name: "stream",
    async prepare(page, { language }) {
      await loaded(page);
      const off = language === "de" ? "Nicht auf Sendung" : "Off the air";
      await page.frameLocator("iframe").getByText(off).first().waitFor();
    },
  });
});
