// Measures the console in Chromium: size and time of the first load, changes of page, long lists and chats, and its memory.

import { Database } from "bun:sqlite";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { type Console, openConsole } from "../tests/console/support/console.ts";
import { closeBrowser, startBrowser } from "../tests/console/support/windows.ts";
import type { Berth } from "../tests/support/berth.ts";
import { temporaryDir } from "../tests/support/process.ts";
import { type Benchmark, type Figure, median, ms, quantile } from "./support/figures.ts";
import { type Owner, ownerOf, startService, startUpstream } from "./support/service.ts";

const AGENTS = 10_000;
const MESSAGES = 5_000;
const ROUNDS = 5;
/** As many as come in eight hours, one every seven seconds. */
const EVENTS = 4_000;

export const consolePages: Benchmark = {
  name: "console",
  summary: `the console in Chromium, with ${AGENTS} agents and a chat of ${MESSAGES} messages`,
  isLong: true,
  async run() {
    const dir = temporaryDir();
    await using upstream = await startUpstream();
    await using berth = await startService(upstream, { env: { BOT_DETECTION: "off" }, dir: dir.path });
    try {
      await startBrowser({ asPeopleHaveIt: true });
      const owner = await ownerOf(berth, 1);
      const chatPath = await seedRows(berth, owner);
      return [
        ...(await firstLoads(berth, owner)),
        ...(await pageChanges(berth, owner, chatPath)),
        await scrolling(berth, owner),
        await memory(berth, owner, chatPath),
      ];
    } finally {
      await closeBrowser();
      dir.remove();
    }
  },
};

/** A window without anything of an earlier round. */
const openCold = (berth: Berth, { client }: Owner) => openConsole(berth, client, undefined, { isCold: true });

/** Copies the owner's agent and its conversation many times. Returns the address of the long chat. */
async function seedRows(berth: Berth, { client, agentIds: [agentId = ""] }: Owner): Promise<string> {
  const { body } = await client.post<{ sessionId: string }>("/api/agent", { agentId, message: "Hello" });
  await berth.stop();
  const database = new Database(join(berth.dir, "data/berth.db"));
  const columns = (table: string) =>
    database
      .query<{ name: string }, []>(`SELECT name FROM pragma_table_info('${table}')`)
      .all()
      .map(({ name }) => name);
  /** Inserts `count` copies of one row, with other values for the given columns; `n` is the number of the copy. */
  const copy = (table: string, where: string, count: number, values: Record<string, string>) => {
    const names = columns(table);
    const select = names.map((name) => values[name] ?? `source.${name}`).join(", ");
    database.run(`WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${count})
      INSERT INTO ${table} (${names.join(", ")})
      SELECT ${select} FROM numbers, (SELECT * FROM ${table} WHERE ${where} LIMIT 1) AS source`);
  };
  const newId = "substr(source.id, 1, 24) || printf('%012x', n + 1000000)";
  const agent = `id = '${agentId}'`;
  copy("agents", agent, AGENTS - 1, { id: newId, name: "'Agent ' || n", subdomain: "source.subdomain || n" });
  copy("messages", `session_id = '${body.sessionId}'`, MESSAGES - 2, {
    seq: "(SELECT max(seq) FROM messages) + n",
    id: "source.id || n",
    role: "iif(n % 2, 'user', 'assistant')",
    content: "'Message ' || n || ' with **bold** words, `code` and a [link](https://example.com/).'",
  });
  database.run(`UPDATE sessions SET message_count = ${MESSAGES} WHERE id = '${body.sessionId}'`);
  database.close();
  await berth.restart({ keepPorts: true });
  return `/agents/${agentId}/chat/${body.sessionId}`;
}

async function firstLoads(berth: Berth, owner: Owner): Promise<Figure[]> {
  const [cold, warm, bytes]: [number[], number[], number[]] = [[], [], []];
  for (let round = 0; round < ROUNDS; round++) {
    await using console = await openCold(berth, owner);
    bytes.push(await scriptBytes(console, () => console.open("/")));
    cold.push(await largestPaint(console.page));
    await console.open("/");
    warm.push(await largestPaint(console.page));
  }
  return [
    { ...goal("scripts of the first page", median(bytes), 90_000, (value) => `${(value / 1000).toFixed(1)} kB`) },
    goal("largest paint, nothing cached", median(cold), 500),
    goal("largest paint, files cached", median(warm), 200),
  ];
}

/** The bytes of scripts that come over the network during `work`, compressed. */
async function scriptBytes({ context, page }: Console, work: () => Promise<void>): Promise<number> {
  const session = await context.newCDPSession(page);
  await session.send("Network.enable");
  const scripts = new Set<string>();
  let bytes = 0;
  session.on("Network.responseReceived", ({ requestId, type }) => void (type === "Script" && scripts.add(requestId)));
  session.on("Network.loadingFinished", ({ requestId, encodedDataLength }) => {
    if (scripts.has(requestId)) bytes += encodedDataLength;
  });
  await work();
  await session.detach();
  return bytes;
}

const largestPaint = (page: Page): Promise<number> =>
  page.evaluate<number>(`new Promise((resolve) => {
    new PerformanceObserver((list) => resolve(list.getEntries().at(-1).startTime)).observe({ type: "largest-contentful-paint", buffered: true });
  })`);

async function pageChanges(berth: Berth, owner: Owner, chatPath: string): Promise<Figure[]> {
  await using console = await openCold(berth, owner);
  const { page } = console;
  const agentPath = chatPath.split("/").slice(0, 3).join("/");
  const [changes, chats]: [number[], number[]] = [[], []];
  for (let round = 0; round < ROUNDS; round++) {
    await console.open("/usage");
    await go(page, "/agents", "main h1");
    changes.push(await go(page, `${agentPath}/logs`, "main h1"), await go(page, "/usage", "main h1"));
    await go(page, `${agentPath}/memory`, "main h1");
    chats.push(await go(page, chatPath, `text=Message ${MESSAGES - 2} with`));
  }
  return [
    goal("change of page", median(changes), 100),
    goal(`opening a chat of ${MESSAGES} messages`, median(chats), 300),
  ];
}

/** Milliseconds until the page at `path` shows the element, by the console's own navigation. */
async function go(page: Page, path: string, element: string): Promise<number> {
  const began = performance.now();
  await page.evaluate(`history.pushState(null, "", ${JSON.stringify(path)})`);
  await page.locator(element).first().waitFor();
  return performance.now() - began;
}

async function scrolling(berth: Berth, owner: Owner): Promise<Figure> {
  await using console = await openCold(berth, owner);
  await console.open("/agents");
  const frames = await console.page.evaluate<number[]>(`new Promise((resolve) => {
    const times = [];
    const step = (now) => {
      times.push(now);
      scrollBy(0, 150);
      if (times.length < 240) requestAnimationFrame(step);
      else resolve(times.slice(1).map((time, index) => time - times[index]));
    };
    requestAnimationFrame(step);
  })`);
  return goal("a frame while scrolling the list, 95th percentile", quantile(frames, 0.95), 17.5);
}

/** How much the page's memory grows over the events of a working day. */
async function memory(berth: Berth, owner: Owner, chatPath: string): Promise<Figure> {
  await using console = await openCold(berth, owner);
  const { context, page } = console;
  await console.open(chatPath);
  const session = await context.newCDPSession(page);
  const heap = async () => {
    await session.send("HeapProfiler.collectGarbage");
    return (await session.send("Runtime.getHeapUsage")).usedSize;
  };
  const rename = async (from: number, to: number) => {
    for (let n = from; n < to; n++)
      await owner.client.patch(`/api/agents/${owner.agentIds[0]}`, { name: `Agent ${n}` });
  };
  await rename(0, EVENTS / 10);
  const before = await heap();
  await rename(EVENTS / 10, EVENTS);
  return goal(
    `memory after ${EVENTS} events, more than at a tenth of them`,
    (await heap()) - before,
    1_000_000,
    (value) => `${(value / 1e6).toFixed(2)} MB`,
  );
}

const goal = (what: string, value: number, limit: number, format = ms): Figure => ({
  what,
  figure: format(value),
  baseline: "",
  goal: `at most ${format(limit)}`,
  met: value <= limit,
});
