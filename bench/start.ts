// Measures the time from the start of the process to the first response of /healthz, and until it is ready.

import { temporaryDir } from "../tests/support/process.ts";
import { buildBare } from "./support/bare-binary.ts";
import { type Benchmark, type Figure, median, ms, ratioOf } from "./support/figures.ts";
import { seed } from "./support/seed.ts";
import { binary, SECRET_KEY } from "./support/service.ts";
import { freePort, timeStart } from "./support/starting.ts";

/** Multiples of the bare binary's time. */
const GOAL = { healthz: 4, readyz: 12 };

export const start: Benchmark = {
  name: "start",
  summary: "from the start of the process to the first /healthz, and to ready",
  async run({ rounds }) {
    const bare = await buildBare();
    const empty = temporaryDir();
    const full = temporaryDir();
    const folders = [empty, full];
    const env = async (port: number) => ({ SECRET_KEY, PORT: String(port), BACKEND_PORT: String(await freePort()) });
    const paths = ["/healthz", "/readyz"];
    const took: Record<string, number[]> = {};
    const add = (name: string, time = Number.NaN) => {
      took[name] = [...(took[name] ?? []), time];
    };
    const startIn = async (name: string, dir: string) => {
      const port = await freePort();
      const started = await timeStart([binary, "serve"], { env: await env(port), dir, port, paths });
      await started.stop();
      add(name, started.took["/healthz"]);
      add(`${name} ready`, started.took["/readyz"]);
    };
    try {
      await seed(full.path, { agents: 1_000, bots: false });
      await startIn("unused", empty.path);
      for (let n = 0; n < rounds; n++) {
        const port = await freePort();
        const started = await timeStart(bare.command(port), { dir: bare.dir, port, paths: ["/healthz"] });
        await started.stop();
        add("bare", started.took["/healthz"]);
        const fresh = temporaryDir();
        folders.push(fresh);
        await startIn("first", fresh.path);
        await startIn("later", empty.path);
        await startIn("full", full.path);
      }
    } finally {
      for (const { remove } of [...folders, bare]) remove();
    }
    const times = (name: string) => took[name] ?? [];
    const figure = (what: string, name: string, goal?: number): Figure => {
      const gain = ratioOf(times(name), times("bare"));
      const text = (side: string) => `${ms(median(times(side)))} (best ${ms(Math.min(...times(side)))})`;
      return {
        what,
        ...gain,
        figure: text(name),
        baseline: `${text("bare")} bare binary`,
        goal: goal === undefined ? "" : `≤ ${goal}×`,
        ...(goal === undefined ? {} : { met: gain.ratio <= goal }),
      };
    };
    return [
      figure("/healthz, empty folder, a later start", "later", GOAL.healthz),
      figure("/healthz, empty folder, the first start", "first", GOAL.healthz),
      figure("/healthz, 1,000 agents", "full", GOAL.healthz),
      figure("/readyz, empty folder, a later start", "later ready", GOAL.readyz),
      // Makes the database, with a hundred and more migrations.
      figure("/readyz, empty folder, the first start", "first ready"),
      figure("/readyz, 1,000 agents", "full ready", GOAL.readyz),
    ];
  },
};
