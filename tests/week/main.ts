// npm run week: what happens to a service in a week, played in ten minutes against the compiled binary with a moved clock.
// Prints what the operator saw and did and what users noticed, and fails if something was lost.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { Account, Incident } from "./incident.ts";
import { deadProvider } from "./incidents/dead-provider.ts";
import { expiredCertificate } from "./incidents/expired-certificate.ts";
import { fullDisk } from "./incidents/full-disk.ts";
import { leakedKey } from "./incidents/leaked-key.ts";
import { leaver } from "./incidents/leaver.ts";
import { lostDisk } from "./incidents/lost-disk.ts";
import { failedUpgrade, upgrade } from "./incidents/upgrade.ts";
import { watch } from "./monitor.ts";
import { startWorld } from "./world.ts";

const DAY = 24 * 60 * 60_000;
const INCIDENTS: readonly Incident[] = [
  upgrade,
  fullDisk,
  deadProvider,
  expiredCertificate,
  failedUpgrade,
  leakedKey,
  lostDisk,
  leaver,
];

const { values } = parseArgs({ options: { only: { type: "string" } } });
const incidents = INCIDENTS.filter(({ name }) => values.only === undefined || name.includes(values.only));
if (incidents.length === 0)
  throw new Error(`No incident has "${values.only}" in its name: ${INCIDENTS.map(({ name }) => name).join("; ")}`);

const folder = mkdtempSync(join(tmpdir(), "berth-week-"));
const startedAt = performance.now();
const print = (line: string) =>
  console.log(`${((performance.now() - startedAt) / 1000).toFixed(0).padStart(4)} s  ${line}`);
const accounts: (Account & { name: string; day: string })[] = [];
{
  await using world = await startWorld(folder);
  try {
    for (const incident of incidents) {
      const day = new Date(world.clock.now()).toUTCString().slice(0, 16);
      print(`${day}: ${incident.name} …`);
      const account = await incident.play(world, await watch(() => world.berth.backend, folder));
      accounts.push({ name: incident.name, day, ...account });
      for (const [what, lines] of Object.entries(account)) print(`  ${what}: ${lines.join("; ")}`);
      await world.clock.forward(DAY);
    }
    const twice = await world.talk.check();
    const { said } = await world.talk.counts();
    print(`${said} messages, each answered in the order of its chat; ${twice} answers were shown twice`);
  } catch (error) {
    print(`the service's last lines:\n${world.berth.output().stderr.slice(-3_000)}`);
    throw error;
  }
}
rmSync(folder, { recursive: true, force: true });
console.log(table(accounts));
process.exit(0);

function table(rows: readonly (Account & { name: string; day: string })[]): string {
  const cells = (lines: readonly string[]) => lines.join("<br>").replaceAll("|", "\\|");
  return [
    "| Day | What happened | The operator saw | and did | Users noticed |",
    "|---|---|---|---|---|",
    ...rows.map(
      ({ day, name, saw, did, noticed }) => `| ${day} | ${name} | ${cells(saw)} | ${cells(did)} | ${cells(noticed)} |`,
    ),
  ].join("\n");
}
