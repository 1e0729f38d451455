// npm run week: what happens to a service in a week, played in ten minutes against the compiled binary with a moved clock.
// Prints what the operator saw and did and what users noticed, and fails if something was lost.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { eventually } from "../support/eventually.ts";
import type { Account, Incident } from "./incident.ts";
import { deadProvider } from "./incidents/dead-provider.ts";
import { expiredCertificate } from "./incidents/expired-certificate.ts";
import { fullDisk } from "./incidents/full-disk.ts";
import { leakedKey } from "./incidents/leaked-key.ts";
import { leaver } from "./incidents/leaver.ts";
import { lostDisk } from "./incidents/lost-disk.ts";
import { failedUpgrade, upgrade } from "./incidents/upgrade.ts";
import { watch } from "./monitor.ts";
import { startWorld, type World } from "./world.ts";

const DAY = 24 * 60 * 60_000;
/** By day. */
const WEEK: readonly (readonly Incident[])[] = [
  [upgrade],
  [fullDisk],
  [deadProvider],
  [expiredCertificate],
  [failedUpgrade, leakedKey],
  [leaver],
  [lostDisk],
];

const { values } = parseArgs({ options: { only: { type: "string" } } });
const days = WEEK.map((day) =>
  day.filter(({ name }) => values.only === undefined || name.includes(values.only)),
).filter((day) => day.length > 0);
if (days.length === 0)
  throw new Error(
    `No incident has "${values.only}" in its name: ${WEEK.flat()
      .map(({ name }) => name)
      .join("; ")}`,
  );

const folder = mkdtempSync(join(tmpdir(), "berth-week-"));
const startedAt = performance.now();
const print = (line: string) =>
  console.log(`${((performance.now() - startedAt) / 1000).toFixed(0).padStart(4)} s  ${line}`);
const accounts: (Account & { name: string; day: string })[] = [];
{
  await using world = await startWorld(folder);
  try {
    for (const [n, incidents] of days.entries()) {
      if (n > 0) await night(world);
      const day = new Date(world.clock.now()).toUTCString().slice(0, 16);
      for (const incident of incidents) {
        print(`${day}: ${incident.name} …`);
        const account = await incident.play(world, await watch(() => world.berth.backend, folder));
        accounts.push({ name: incident.name, day, ...account });
        for (const [what, lines] of Object.entries(account)) print(`  ${what}: ${lines.join("; ")}`);
      }
    }
    await proven(world, ["ledger", "check"]);
    await proven(world, ["audit", "verify"]);
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

/** A day passes. The service has to notice it by itself, and make the night's backup. */
async function night({ berth, clock }: World): Promise<void> {
  const newest = async () => {
    const { stdout } = await berth.command("backups", "--json");
    const [first] = JSON.parse(stdout) as { name: string }[];
    return first?.name;
  };
  const before = await newest();
  await clock.forward(DAY);
  await eventually(async () => (await newest()) !== before, {
    timeoutMs: 120_000,
    everyMs: 2_000,
    what: "the night's backup",
  });
  print("a night; its backup was made");
}

/** Runs a command that proves something, and prints what it says. */
async function proven({ berth }: World, command: string[]): Promise<void> {
  const { exitCode, stdout, stderr } = await berth.command(...command);
  if (exitCode !== 0) throw new Error(`berth ${command.join(" ")}: ${stdout}${stderr}`);
  print(`berth ${command.join(" ")}: ${stdout.trim().split("\n")[0]}`);
}

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
