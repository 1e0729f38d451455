// Measures how commands (grant, backup) disturb a busy service, by a request every 5 ms.

import { join } from "node:path";
import { temporaryDir } from "../tests/support/process.ts";
import { type Benchmark, ms, perSecond } from "./support/figures.ts";
import { allGood, load, type Outcome, type Stage } from "./support/load.ts";
import { fill, seed } from "./support/seed.ts";
import { ownerOf, startService, startUpstream } from "./support/service.ts";
import { messages } from "./turns.ts";

/** Number of 1 KiB messages in the database that is backed up. */
const WEIGHT = 100_000;
const PHASES = 2;
const SECONDS = 4;
const GOAL_MS = 50;

interface Phase {
  turns: Outcome;
  settings: Outcome;
  probe: Outcome;
  /** Event loop lag from the service's metrics, in ms. */
  lag: number;
}

export const beside: Benchmark = {
  name: "beside",
  summary: "berth user grant and berth backup beside a busy service",
  async run() {
    const folder = temporaryDir();
    try {
      const [agentId = ""] = await seed(folder.path, { agents: 1, bots: false });
      fill(folder.path, agentId, WEIGHT);
      await using upstream = await startUpstream();
      await using berth = await startService(upstream, { dir: folder.path });
      const owner = await ownerOf(berth, 10);

      const phase = async (during: () => Promise<unknown>): Promise<Phase> => {
        const paced = (name: string, stage: Pick<Stage, "asks" | "connections" | "everyMs">) =>
          load({ stages: [{ name, origin: berth.web, seconds: SECONDS / 2, ...stage }], rounds: 1 });
        await lagOf(berth.backend);
        const [turns, settings, probe] = await Promise.all([
          paced("turns", { asks: messages(owner), connections: 10, everyMs: 12 }),
          paced("settings", {
            asks: [{ method: "GET", path: "/api/settings", headers: owner.headers }],
            connections: 10,
            everyMs: 6,
          }),
          paced("probe", { asks: [{ method: "GET", path: "/healthz" }], connections: 1, everyMs: 5 }),
          // Starts with the measured round, after the warm-up.
          Bun.sleep((SECONDS / 2) * 1000 + 200).then(during),
        ]);
        return {
          turns: allGood(turns, "turns"),
          settings: allGood(settings, "settings"),
          probe: allGood(probe, "probe"),
          lag: await lagOf(berth.backend),
        };
      };
      const command = async (...words: string[]) => {
        const { exitCode, stderr } = await berth.command(...words);
        if (exitCode !== 0) throw new Error(`berth ${words.join(" ")} ended with ${exitCode}: ${stderr}`);
      };
      const found: { quiet: Phase[]; busy: Phase[] } = { quiet: [], busy: [] };
      let backups = 0;
      for (let n = 0; n < PHASES; n++) {
        found.quiet.push(await phase(() => Promise.resolve()));
        const commands = async () => {
          await command("user", "grant", owner.client.account.email, "enterprise");
          await command("backup", join(folder.path, `backup-${backups++}.db`));
          await command("user", "grant", owner.client.account.email, "enterprise", "--days", "60");
        };
        found.busy.push(await phase(commands));
      }
      return figures(found);
    } finally {
      folder.remove();
    }
  },
};

function figures({ quiet, busy }: { quiet: Phase[]; busy: Phase[] }) {
  const worst = (phases: Phase[], of: (phase: Phase) => number) => Math.max(...phases.map(of));
  const stall = (what: string, of: (phase: Phase) => number) => ({
    what,
    ratio: worst(busy, of) / worst(quiet, of),
    figure: ms(worst(busy, of)),
    baseline: `${ms(worst(quiet, of))} under load alone`,
    goal: `≤ ${GOAL_MS} ms`,
    met: worst(busy, of) <= GOAL_MS,
  });
  const answers = busy.reduce(
    (sum, { turns, settings, probe }) => sum + turns.answers + settings.answers + probe.answers,
    0,
  );
  const rate = (phases: Phase[]) => phases.reduce((sum, { turns }) => sum + turns.rate, 0) / phases.length;
  return [
    stall("worst answer to a /healthz every 5 ms", ({ probe }) => probe.max),
    stall("worst event loop lag, by its own gauge", ({ lag }) => lag),
    {
      what: `answers other than 200 (${perSecond(rate(busy))} turns beside reads)`,
      figure: `0 of ${answers.toLocaleString("en")}`,
      baseline: `${perSecond(rate(quiet))} turns under load alone`,
      goal: "0",
      met: true,
    },
  ];
}

/** The largest event loop lag since the last reading, in ms. */
async function lagOf(backend: string): Promise<number> {
  const text = await (await fetch(`${backend}/metrics`)).text();
  const seconds = /^berth_event_loop_lag_seconds (\S+)$/m.exec(text)?.[1];
  if (seconds === undefined) throw new Error("The metrics have no event loop lag.");
  return Number(seconds) * 1000;
}
