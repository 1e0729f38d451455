// Takes the README's pictures of the console, into docs/screenshots: `npm run screenshots`. The service, the browser and what is
// on the pages are real; a fake provider says what a model would say, and a fake Telegram stands for the platform.

import { resolve } from "node:path";
import type { Page } from "playwright-core";
import { startBerth } from "../../support/berth.ts";
import { type Client, createClient } from "../../support/client.ts";
import { eventually } from "../../support/eventually.ts";
import { provision } from "../../support/members.ts";
import { type FakeBot, startTelegram } from "../../support/telegram.ts";
import { type ChatRequest, type Reply, startUpstream } from "../../support/upstream.ts";
import { addAudit, ready } from "./audit.ts";
import { openConsole } from "./console.ts";
import { closeBrowser } from "./windows.ts";

const FOLDER = resolve(import.meta.dir, "../../../docs/screenshots");
const SIZE = { width: 1280, height: 900 };
const ASK = { approvals: { remind_me: "ask" } };

await using telegram = await startTelegram();
await using upstream = await startUpstream();
await using berth = await startBerth({
  env: {
    PROVIDER_5_BASE_URL: upstream.url,
    PROVIDER_5_API_KEY: "sk-of-the-pictures",
    MODEL_A: "provider_5:gpt-5-mini",
    MODEL_B: "provider_5:gpt-5",
    CHANNEL_A_API_ROOT: telegram.url,
    CHANNEL_A_MODE: "polling",
    RATE_LIMITS: "off",
  },
});

upstream.script(answer);
const ada = createClient(berth);
await ada.join({ name: "Ada Lindqvist" });
await ada.grant("enterprise");
const desk = await makeAgents(ada);

await using console = await openConsole(berth, ada, { theme: "light", width: 1280, language: "en" });
const { page } = console;
await page.setViewportSize(SIZE);
await addAudit(page);

await console.open(`/agents/${desk}/chat/new`);
await say(page, "When does the last ferry to Saltholm leave on Sunday?");
await page.locator("p", { hasText: "The last one leaves at" }).first().waitFor();
await page.getByText(/^Used 1 tool/).click();
await say(page, "Remind me at five, please.");
await page.getByRole("button", { name: "Approve once" }).waitFor();
await take(page, "chat");

await console.open("/");
await take(page, "agents");
if (console.complaints().length > 0) throw new Error(console.complaints().join("\n"));
await closeBrowser();

async function take(from: Page, name: string): Promise<void> {
  await ready(from);
  // Neither a caret nor a pointer.
  await from.evaluate("document.activeElement?.blur()");
  await from.mouse.move(0, 0);
  await from.screenshot({ path: resolve(FOLDER, `${name}.png`), caret: "hide", animations: "disabled" });
}

async function say(to: Page, text: string): Promise<void> {
  const field = to.getByRole("textbox", { name: /^Message to/ });
  await field.fill(text);
  await field.press("Enter");
}

/** Returns the id of the one that is talked to. */
async function makeAgents(client: Client): Promise<string> {
  const names = [
    ...["Storm Warnings", "Crew Handbook", "Berth Booking", "Pilot Rota", "Tide Almanac"],
    ...["Chandlery Orders", "Ferry Times", "Night Watch", "Harbour Desk"],
  ];
  const ids: Record<string, string> = {};
  for (const name of names) ids[name] = (await provision(client, name, ASK)).id;
  const idOf = (name: string) => ids[name] ?? "";

  const bots = await Promise.all(
    ["Harbour Desk", "Ferry Times", "Pilot Rota"].map((name, n) => connect(client, idOf(name), name, n)),
  );
  for (const bot of bots) {
    bot.userSays(42, "When does the next ferry leave?");
    await telegram.waitFor(() => bot.sent(42).length > 0);
  }
  await talk(client, idOf("Tide Almanac"), "How high is the tide tonight?");
  await talk(client, idOf("Night Watch"), "Was it quiet?");
  await talk(
    client,
    idOf("Storm Warnings"),
    "Which way does the wind turn on Thursday, and how strong will it be at sea?",
  );
  await talk(client, idOf("Berth Booking"), "Is berth twelve free from Friday on?");
  await client.post(`/api/agents/${idOf("Tide Almanac")}/stop`, {});
  await talk(client, idOf("Chandlery Orders"), "Remind me to order rope.");
  await eventually(async () => (await client.get<{ count: number }>("/api/approvals?status=pending")).body.count > 0);
  return idOf("Harbour Desk");
}

async function connect(client: Client, id: string, name: string, n: number): Promise<FakeBot> {
  const token = `${700_001 + n}:${"telegram-token-of-the-pictures".padEnd(35, "x")}`;
  const bot = telegram.addBot(token, { username: `${name.toLowerCase().replace(" ", "_")}_bot` });
  const { status, text } = await client.put(`/api/agents/${id}/channels/channel_a`, { token, ownerId: 42 });
  if (status !== 200) throw new Error(`${name}: ${status} ${text}`);
  return bot;
}

async function talk(client: Client, id: string, message: string): Promise<void> {
  const { status, text } = await client.post(`/api/agents/${id}/conversations`, { message });
  if (status >= 300) throw new Error(`${status} ${text}`);
}

/** What a model says here. */
function answer({ lastUser, toolResults }: ChatRequest): Reply {
  // Each agent has another cost.
  const usage = { prompt: 2_000 + lastUser.length * 977, completion: 10 * lastUser.length };
  if (/remind me/i.test(lastUser) && toolResults.length === 0)
    return {
      toolCalls: [{ name: "remind_me", arguments: { text: "The last ferry leaves at 18:40.", inMinutes: 90 } }],
      usage,
    };
  if (/last ferry/i.test(lastUser) && toolResults.length === 0)
    return { toolCalls: [{ name: "recall", arguments: { query: "ferry to Saltholm on Sundays" } }], usage };
  if (/last ferry/i.test(lastUser))
    return {
      text: "The last one leaves at **18:40** from the north quay. On Sundays bicycles travel free.",
      usage,
    };
  return { text: "Quiet so far: wind from the west, 4 m/s, and nothing waits at the gate.", usage };
}
