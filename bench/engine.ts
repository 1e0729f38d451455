// Measures what three servers of NATS on this machine do with the logs of many cells: the paper plan of docs/cluster.md rests on it.
import type { LogEngine } from "../src/cluster/engine.ts";
import { openNatsEngine } from "../src/cluster/nats/nats-engine.ts";
import { startNats } from "../tests/support/nats.ts";
import { type Benchmark, type Figure, median, mib, ms, perSecond, quantile } from "./support/figures.ts";
import { settleTurns } from "./support/settling.ts";

const CELLS = 500;
/** About what a settled turn is. */
const ENTRY = crypto.getRandomValues(new Uint8Array(800));
/** Logs that are written at the same time. */
const WRITERS = 50;
const WRITING_MS = 20_000;
/** Turns that the owner of a busy cell settles with one entry; it waits for each before the next. */
const GROUP = 64;
const GROUPS_MS = 10_000;
const GROUP_GOAL = 5_000;

export const engine: Benchmark = {
  name: "engine",
  summary: `the logs of ${CELLS} cells on three servers of NATS: appends, a lost server, a restart of all`,
  isLong: true,
  async run() {
    await using nats = await startNats(3);
    const engine = await openNatsEngine({ address: nats.address, name: "bench" });
    try {
      // Before there are other logs, whose leaders and followers talk to each other all the time.
      const { throughLog, onFile, appendMs } = await settleTurns({
        ...{ engine: await engine.log(CELLS), address: nats.address, cell: CELLS, group: GROUP, ms: GROUPS_MS },
      });
      const before = await memoryOf(nats.servers);
      const began = performance.now();
      const logs: LogEngine[] = [];
      for (let cell = 0; cell < CELLS; cell++) logs.push(await engine.log(cell));
      const made = performance.now() - began;
      const last = await Promise.all(logs.map((log) => log.append(0, ENTRY)));
      const after = await memoryOf(nats.servers);

      const waits: number[] = [];
      const until = performance.now() + WRITING_MS;
      await Promise.all(
        Array.from({ length: WRITERS }, async (_, writer) => {
          for (let cell = writer; performance.now() < until; cell = cell + WRITERS < CELLS ? cell + WRITERS : writer) {
            const asked = performance.now();
            last[cell] = await append(logs, cell, last);
            waits.push(performance.now() - asked);
          }
        }),
      );

      const [server] = nats.servers;
      if (!server) throw new Error("There is no server.");
      await server.kill();
      const lost = await untilAllAppend(logs, last);
      await server.start();
      await untilAllAppend(logs, last);
      await Promise.all(nats.servers.map((one) => one.kill()));
      const restarted = performance.now();
      await Promise.all(nats.servers.map((one) => one.start()));
      await untilAllAppend(logs, last);
      const back = performance.now() - restarted;
      const figure = (what: string, shown: string, baseline = ""): Figure => ({
        what,
        figure: shown,
        baseline,
        goal: "",
      });
      return [
        figure(`making the logs of ${CELLS} cells, three copies each`, ms(made)),
        figure("memory of a server of NATS for them", mib((after - before) / 3), `${mib(before / 3)} without`),
        figure(`appends of 800 bytes to all, ${WRITERS} at a time`, perSecond(waits.length / (WRITING_MS / 1_000))),
        figure("an append, median", ms(median(waits)), `99 %: ${ms(quantile(waits, 0.99))}`),
        {
          what: `turns settled through the log of one cell, with a copy that follows, ${GROUP} in an entry, an entry after the other`,
          ratio: throughLog / onFile,
          figure: perSecond(throughLog),
          baseline: `${perSecond(onFile)} on a file alone`,
          goal: `≥ ${perSecond(GROUP_GOAL)}`,
          met: throughLog >= GROUP_GOAL,
        },
        figure(`until an entry of ${GROUP} such turns is in the log, median`, ms(appendMs)),
        figure(
          "one of three servers lost: until every log was appended to",
          ms(Math.max(...lost)),
          `half of them: ${ms(median(lost))}`,
        ),
        figure("all three servers killed and started: until every log was appended to", ms(back)),
      ];
    } finally {
      await engine.close();
    }
  },
};

type Servers = Awaited<ReturnType<typeof startNats>>["servers"];

async function memoryOf(servers: Servers): Promise<number> {
  return (await Promise.all(servers.map((one) => one.figures()))).reduce((sum, { mem }) => sum + mem, 0);
}

const append = (logs: readonly LogEngine[], cell: number, last: readonly number[]): Promise<number> => {
  const log = logs[cell];
  if (!log) throw new Error(`There is no cell ${cell}.`);
  return log.append(last[cell] ?? 0, ENTRY);
};

/** Milliseconds from the call until an entry was in the log, for each cell. */
async function untilAllAppend(logs: readonly LogEngine[], last: number[]): Promise<number[]> {
  const began = performance.now();
  return Promise.all(
    logs.map(async (log, cell) => {
      for (;;) {
        try {
          last[cell] = await append(logs, cell, last);
          return performance.now() - began;
        } catch {
          // An answer that was lost may have been of an entry that is there.
          last[cell] = await log.bounds().then(
            ({ last: end }) => end,
            () => last[cell] ?? 0,
          );
          await Bun.sleep(50);
        }
      }
    }),
  );
}
