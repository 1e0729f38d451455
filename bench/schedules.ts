// Measures schedules: what 100,000 of them cost a service that has nothing to do, and a minute at which many are due at once.
import { eventually } from "../tests/support/eventually.ts";
import { temporaryDir } from "../tests/support/process.ts";
import { type Benchmark, mib, ms, perSecond } from "./support/figures.ts";
import { cpuOfMainThread, memoryOf } from "./support/process-usage.ts";
import { seed, seedSchedules } from "./support/seed.ts";
import { count, startService, startUpstream } from "./support/service.ts";
import { watchStalls } from "./support/stalls.ts";

const AGENTS = 1_000;
const EACH = 100;
/** Schedules that are due when the service has started. */
const DUE = 2_000;
const IDLE_MS = 10_000;
const RUNS = "SELECT count(*) FROM schedule_runs WHERE status = 'done'";

export const schedules: Benchmark = {
  name: "schedules",
  summary: `${(AGENTS * EACH).toLocaleString("en")} schedules that wait, and ${DUE.toLocaleString("en")} that are due at once`,
  async run() {
    const [full, none] = [temporaryDir(), temporaryDir()];
    try {
      await using upstream = await startUpstream();
      const later = Date.now() + 300 * 24 * 3_600_000;
      const ids = await seed(full.path, { agents: AGENTS, bots: false });
      await seed(none.path, { agents: AGENTS, bots: false });
      seedSchedules(full.path, ids, { each: EACH, at: later });

      const idleOf = async (dir: string) => {
        await using berth = await startService(upstream, { dir });
        await Bun.sleep(3_000);
        const before = cpuOfMainThread(berth.pid);
        await Bun.sleep(IDLE_MS);
        const used = { cpu: cpuOfMainThread(berth.pid) - before, own: memoryOf(berth.pid).own };
        await berth.stop();
        return used;
      };
      const without = await idleOf(none.path);
      const waiting = await idleOf(full.path);

      const at = Date.now() + 6_000;
      seedSchedules(full.path, ids, { each: DUE / AGENTS, at });
      await using berth = await startService(upstream, { dir: full.path });
      using watch = await watchStalls(berth);
      const done = () => count(full.path, RUNS) >= DUE;
      await eventually(async () => done(), {
        timeoutMs: 120_000,
        everyMs: 100,
        what: "every schedule that is due to run",
      });
      const seconds = (Date.now() - at) / 1000;
      const stalled = watch.figure("worst /healthz while they run", await watch.longest());
      const runs = count(full.path, "SELECT count(*) FROM schedule_runs");
      const once = count(full.path, "SELECT count(DISTINCT schedule_id) FROM schedule_runs");
      if (runs !== DUE || once !== DUE) throw new Error(`${runs} runs of ${once} schedules are stored, not of ${DUE}.`);
      return [
        {
          what: `main thread's processor time in ${IDLE_MS / 1000} s in which none is due`,
          ratio: waiting.cpu / without.cpu,
          figure: ms(waiting.cpu),
          baseline: `${ms(without.cpu)} without schedules`,
          goal: "≤ 1.5×",
          met: waiting.cpu <= 1.5 * without.cpu,
        },
        {
          what: "memory of its own",
          ratio: waiting.own / without.own,
          figure: mib(waiting.own),
          baseline: `${mib(without.own)} without schedules`,
          goal: "≤ 1.1×",
          met: waiting.own <= 1.1 * without.own,
        },
        {
          what: "from due to answered, all that are due at once",
          figure: perSecond(DUE / seconds),
          baseline: `${seconds.toFixed(1)} s`,
          goal: "",
        },
        stalled,
      ];
    } finally {
      for (const { remove } of [full, none]) remove();
    }
  },
};
