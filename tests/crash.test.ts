// Kills the service ten times while 500 messages from 50 chats arrive: every message is answered once.

import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { join } from "node:path";
import { startBerth } from "./support/berth.ts";
import { eventually, seeded } from "./support/eventually.ts";
import { member, provision } from "./support/members.ts";
import { spawnTelegram } from "./support/telegram-control.ts";
import { startUpstream } from "./support/upstream.ts";

const AGENTS = 5;
const CHATS = 50;
const MESSAGES = 500;
const KILLS = 10;
/** How long, in ms, the platform's response to a send can be in transit on an idle machine. */
const IN_FLIGHT = 1_000;
/** Factor on the machine's longest pause, for a busy machine. */
const HELD_UP = 4;

/** Measures the longest delay of a timer since the last reading, in ms: other processes may have waited as long. */
function watchMachine() {
  let [last, worst] = [performance.now(), 0];
  const timer = setInterval(() => {
    const now = performance.now();
    worst = Math.max(worst, now - last - 5);
    last = now;
  }, 5);
  return {
    late() {
      const found = worst;
      worst = 0;
      return found;
    },
    [Symbol.dispose]: () => clearInterval(timer),
  };
}

/** Texts are unique and the upstream echoes them, so a reply identifies its message. */
const textOf = (chat: number, n: number) => `message ${n} of chat ${chat}`;

test("500 messages, 10 kills: each message is settled once; a reply appears twice only if its send was in flight", async () => {
  const random = seeded(process.env.CRASH_SEED === undefined ? undefined : Number(process.env.CRASH_SEED));
  console.log(`crash test: CRASH_SEED=${random.seed}`);
  const upstream = await startUpstream();
  upstream.script(({ lastUser }) => ({ text: `echo: ${lastUser}`, delayMs: random.integer(0, 40) }));
  await using telegram = await spawnTelegram("--latency-ms", "5");
  const tokens = Array.from(
    { length: AGENTS },
    (_, n) => `${100_000 + n}:${"crash-test-token-of-a-bot".padEnd(35, "x")}`,
  );
  await telegram.addBots(tokens.map((token) => ({ token })));

  await using berth = await startBerth({
    env: {
      CHANNEL_A_API_ROOT: telegram.url,
      PROVIDER_3_BASE_URL: upstream.url,
      MODEL_A: "provider_3:fake-small",
      RATE_LIMITS: "off",
    },
  });
  const owner = await member(berth, "enterprise");
  const open = { channels: { channel_a: { access: "open" } } };
  for (const [n, token] of tokens.entries()) {
    const { id } = await provision(owner, `Agent ${n}`, open);
    const { status } = await owner.put(`/api/agents/${id}/channels/channel_a`, { token });
    expect(status).toBe(200);
  }

  const queue = Array.from({ length: MESSAGES }, (_, n) => {
    const chat = n % CHATS;
    return { token: tokens[chat % AGENTS] ?? "", chatId: 1_000 + chat, text: textOf(chat, Math.floor(n / CHATS)) };
  });
  const answered = async () => (await telegram.stats()).calls.sendMessage ?? 0;

  // Kills happen at random points of the work; messages keep arriving while the service is down.
  const points = Array.from({ length: KILLS }, () => random.integer(1, MESSAGES - 50)).sort((a, b) => a - b);
  const kills: { at: number; inFlight: number }[] = [];
  using machine = watchMachine();
  const share = Math.ceil(MESSAGES / (KILLS + 1));
  for (const point of points) {
    await telegram.usersSay(queue.splice(0, share));
    await eventually(async () => (await answered()) >= Math.min(point, MESSAGES - queue.length - 5), {
      timeoutMs: 30_000,
    });
    await berth.kill();
    kills.push({ at: Date.now(), inFlight: IN_FLIGHT + HELD_UP * machine.late() });
    if (random.chance(0.5)) await telegram.usersSay(queue.splice(0, 5));
    await berth.restart({ keepPorts: true });
  }
  await telegram.usersSay(queue.splice(0));

  const repliesOf = async (chat: number) => telegram.sent(tokens[chat % AGENTS] ?? "", 1_000 + chat);
  const chats = Array.from({ length: CHATS }, (_, chat) => chat);
  await eventually(
    async () => {
      const replies = await Promise.all(chats.map(repliesOf));
      return replies.every((sent) => new Set(sent.map(({ text }) => text)).size === MESSAGES / CHATS);
    },
    { timeoutMs: 60_000, everyMs: 100, what: "every message is answered" },
  );
  expect(await berth.stop()).toBe(0);
  await upstream.stop();

  const database = new Database(join(berth.dir, "data/berth.db"), { readonly: true });
  const count = (sql: string) => Number((database.query(sql).get() as { n: number }).n);
  expect(count("SELECT count(*) AS n FROM inbox")).toBe(MESSAGES);
  expect(count("SELECT count(*) AS n FROM inbox WHERE status = 'done'")).toBe(MESSAGES);
  expect(count("SELECT count(*) AS n FROM messages WHERE role = 'assistant'")).toBe(MESSAGES);
  expect(count("SELECT count(DISTINCT content) AS n FROM messages WHERE role = 'assistant'")).toBe(MESSAGES);
  expect(count("SELECT count(*) AS n FROM outbox WHERE status = 'sent'")).toBe(MESSAGES);
  database.close();

  let twice = 0;
  let oldest = 0;
  for (const chat of chats) {
    const sent = await repliesOf(chat);
    const firsts = sent.filter(({ text }, at) => sent.findIndex((other) => other.text === text) === at);
    // Replies are in order, and only to this chat's messages.
    expect(firsts.map(({ text }) => text)).toEqual(
      Array.from({ length: MESSAGES / CHATS }, (_, n) => `echo: ${textOf(chat, n)}`),
    );
    for (const again of sent.filter((message) => !firsts.includes(message))) {
      twice++;
      const first = firsts.find(({ text }) => text === again.text);
      const kill = kills.find(({ at }) => at >= (first?.at ?? 0));
      const age = (kill?.at ?? Number.POSITIVE_INFINITY) - (first?.at ?? 0);
      oldest = Math.max(oldest, age);
      const inFlight = age <= (kill?.inFlight ?? 0);
      expect({ text: again.text, age, inFlight }).toMatchObject({ text: again.text, inFlight: true });
    }
  }
  console.log(
    `crash test: ${KILLS} kills, ${MESSAGES} messages settled once, ${twice} shown twice, taken by the platform at most ${oldest} ms before a kill`,
  );
});

test("a REST message whose turn the kill interrupted is answered once after the start", async () => {
  const upstream = await startUpstream();
  upstream.script(() => ({ hang: true }));
  await using berth = await startBerth({
    env: { PROVIDER_3_BASE_URL: upstream.url, MODEL_A: "provider_3:fake-small" },
  });
  const owner = await member(berth);
  await provision(owner);

  const pending = owner.post("/api/agent", { message: "are you there?" }).then(
    () => "answered",
    () => "cut off",
  );
  await eventually(() => upstream.open === 1);
  await berth.kill();
  expect(await pending).toBe("cut off");
  upstream.script(({ lastUser }) => `echo: ${lastUser}`);
  await berth.restart({ keepPorts: true });

  type Sessions = { sessions: { id: string }[] };
  type Whole = { messages: { role: string; content: string }[] };
  const messages = await eventually(async () => {
    const { sessions } = (await owner.get<Sessions>("/api/agent?action=sessions")).body;
    const whole = await owner.get<Whole>(`/api/agent?action=session&sessionId=${sessions[0]?.id}`);
    return whole.body.messages.length > 0 && whole.body.messages;
  });
  expect(messages).toMatchObject([
    { role: "user", content: "are you there?" },
    { role: "assistant", content: "echo: are you there?" },
  ]);
  expect(upstream.chats.length).toBe(2);
  await upstream.stop();
});
