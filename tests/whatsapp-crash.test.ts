// Kills the service repeatedly while users write on WhatsApp: statuses show which replies were sent, so each message is answered exactly once.

import { expect, test } from "bun:test";
import { startBerth } from "./support/berth.ts";
import { eventually, seeded } from "./support/eventually.ts";
import { member, provision } from "./support/members.ts";
import { startUpstream } from "./support/upstream.ts";
import { startWhatsApp } from "./support/whatsapp.ts";

const PEOPLE = 12;
const MESSAGES = 120;
const KILLS = 4;
const TOKEN = "EAAcrashTestToken";

test("120 messages, 4 kills: each is answered, and no reply appears twice", async () => {
  const random = seeded(process.env.CRASH_SEED === undefined ? undefined : Number(process.env.CRASH_SEED));
  console.log(`crash test on WhatsApp: CRASH_SEED=${random.seed}`);
  await using upstream = await startUpstream();
  upstream.script(({ lastUser }) => ({ text: `echo: ${lastUser}`, delayMs: random.integer(0, 40) }));
  let web = "";
  const webhookAddress = (url: string) => `${web}${new URL(url).pathname}${new URL(url).search}`;
  await using whatsapp = await startWhatsApp({ webhookAddress, latencyMs: 10, webhookRetryMs: 20 });
  const account = whatsapp.addAccount(TOKEN, { waba: "102290129340398" });
  await using berth = await startBerth({
    env: {
      BASE_URL: "https://berth.example",
      CHANNEL_C_API_ROOT: whatsapp.url,
      PROVIDER_3_BASE_URL: upstream.url,
      MODEL_A: "provider_3:fake-small",
      RATE_LIMITS: "off",
    },
  });
  web = berth.web;
  const owner = await member(berth);
  const { id } = await provision(owner, "Harbour", { channels: { channel_c: { access: "open" } } });
  expect((await owner.put(`/api/agents/${id}/channels/channel_c`, { token: TOKEN })).status).toBe(200);

  const queue = Array.from({ length: MESSAGES }, (_, n) => ({
    from: `1555000${1000 + (n % PEOPLE)}`,
    text: `message ${n}`,
  }));
  const say = (count: number) => {
    for (const { from, text } of queue.splice(0, count)) account.says(text, { from });
  };
  const share = Math.ceil(MESSAGES / (KILLS + 1));
  for (let kill = 1; kill <= KILLS; kill += 1) {
    say(share);
    const point = random.integer((kill - 1) * share + 1, kill * share - 3);
    await whatsapp.waitFor(() => account.sent().length >= point, 30_000);
    await berth.kill();
    await berth.restart({ keepPorts: true });
  }
  say(MESSAGES);
  const shown = () => account.sent().map(({ text }) => text);
  await eventually(() => new Set(shown()).size === MESSAGES && account.pending() === 0, {
    timeoutMs: 60_000,
    everyMs: 50,
  });
  // A duplicate would be sent before the reply to the next message of its conversation.
  for (let n = 0; n < PEOPLE; n += 1) account.says(`last ${n}`, { from: `1555000${1000 + n}` });
  await whatsapp.waitFor(() => shown().filter((text) => text.includes("last")).length === PEOPLE, 30_000);
  expect(shown().length).toBe(MESSAGES + PEOPLE);
});
