// Measures the memory of an idle service, five seconds after it is ready.

import { temporaryDir } from "../tests/support/process.ts";
import { buildBare } from "./support/bare-binary.ts";
import { type Benchmark, mib } from "./support/figures.ts";
import { binary, memoryOf } from "./support/service.ts";
import { freePort, timeStart } from "./support/starting.ts";

const IDLE_MS = 5_000;
const GOAL = 64 * 1024 * 1024;

export const rss: Benchmark = {
  name: "rss",
  summary: "memory of an idle service, five seconds after it is ready",
  async run() {
    const bare = await buildBare();
    const folder = temporaryDir();
    const ports = [await freePort(), await freePort(), await freePort()] as const;
    const env = { PORT: String(ports[1]), BACKEND_PORT: String(ports[2]) };
    const [plain, berth] = await Promise.all([
      timeStart(bare.command(ports[0]), { dir: bare.dir, port: ports[0], paths: ["/healthz"] }),
      timeStart([binary, "serve"], { env, dir: folder.path, port: ports[1], paths: ["/healthz", "/readyz"] }),
    ]);
    try {
      await Bun.sleep(IDLE_MS);
      const [service, baseline] = [memoryOf(berth.pid), memoryOf(plain.pid)];
      return [
        {
          what: "RSS, idle",
          ratio: service.rss / baseline.rss,
          figure: mib(service.rss),
          baseline: `${mib(baseline.rss)} bare binary`,
          goal: "≤ 64 MiB",
          met: service.rss <= GOAL,
        },
        {
          what: "of it its own (not mapped from files)",
          ratio: service.own / baseline.own,
          figure: mib(service.own),
          baseline: `${mib(baseline.own)} bare binary`,
          goal: "",
        },
      ];
    } finally {
      await Promise.all([plain.stop(), berth.stop()]);
      for (const { remove } of [folder, bare]) remove();
    }
  },
};
