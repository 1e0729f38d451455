// Measures the memory of an idle service, five seconds after it is ready.

import { temporaryDir } from "../tests/support/process.ts";
import { buildBare } from "./support/bare-binary.ts";
import { type Benchmark, median, mib, ratioOf } from "./support/figures.ts";
import { memoryOf } from "./support/process-usage.ts";
import { binary } from "./support/service.ts";
import { freePort, timeStart } from "./support/starting.ts";

const IDLE_MS = 5_000;
/** Memory hardly differs between starts. */
const MOST_ROUNDS = 5;
/** A multiple of the bare binary's, and bytes that are the process's own. */
const GOAL = { ratio: 2.8, own: 19 * 1024 * 1024 };

export const rss: Benchmark = {
  name: "rss",
  summary: "memory of an idle service, five seconds after it is ready",
  async run({ rounds }) {
    const bare = await buildBare();
    const folder = temporaryDir();
    try {
      const found: { service: Memory[]; baseline: Memory[] } = { service: [], baseline: [] };
      // The first start makes the database.
      for (let n = 0; n <= Math.min(rounds, MOST_ROUNDS); n++) {
        const { service, baseline } = await measure(bare, folder.path);
        if (n === 0) continue;
        found.service.push(service);
        found.baseline.push(baseline);
      }
      const of = (side: keyof typeof found, field: keyof Memory) => found[side].map((memory) => memory[field]);
      const all = ratioOf(of("service", "rss"), of("baseline", "rss"));
      const own = median(of("service", "own"));
      return [
        {
          what: "RSS, idle",
          ...all,
          figure: mib(median(of("service", "rss"))),
          baseline: `${mib(median(of("baseline", "rss")))} bare binary`,
          goal: `≤ ${GOAL.ratio}×`,
          met: all.ratio <= GOAL.ratio,
        },
        {
          what: "of it its own (not mapped from files)",
          ...ratioOf(of("service", "own"), of("baseline", "own")),
          figure: mib(own),
          baseline: `${mib(median(of("baseline", "own")))} bare binary`,
          goal: `≤ ${mib(GOAL.own)}`,
          met: own <= GOAL.own,
        },
      ];
    } finally {
      for (const { remove } of [folder, bare]) remove();
    }
  },
};

type Memory = ReturnType<typeof memoryOf>;

/** Starts both, and reads their memory once they are idle. */
async function measure(bare: Awaited<ReturnType<typeof buildBare>>, dir: string) {
  const ports = [await freePort(), await freePort(), await freePort()] as const;
  const env = { PORT: String(ports[1]), BACKEND_PORT: String(ports[2]) };
  const [plain, berth] = await Promise.all([
    timeStart(bare.command(ports[0]), { dir: bare.dir, port: ports[0], paths: ["/healthz"] }),
    timeStart([binary, "serve"], { env, dir, port: ports[1], paths: ["/healthz", "/readyz"] }),
  ]);
  try {
    await Bun.sleep(IDLE_MS);
    return { service: memoryOf(berth.pid), baseline: memoryOf(plain.pid) };
  } finally {
    await Promise.all([plain.stop(), berth.stop()]);
  }
}
