// npm run cluster-test -- --cells N --seed S --minutes M: a cluster under load and faults, printed as it goes.
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { run } from "../support/process.ts";
import { faultsFor, runFaults } from "./fault-run.ts";
import { exchangeVersions, upgradeSteps, type Versions } from "./upgrades.ts";

const { values } = parseArgs({
  options: {
    seed: { type: "string" },
    minutes: { type: "string", default: "3" },
    cells: { type: "string", default: "1" },
    nodes: { type: "string", default: "3" },
    servers: { type: "string", default: "3" },
    only: { type: "string" },
    clocks: { type: "boolean", default: false },
    disks: { type: "boolean", default: false },
    from: { type: "string" },
    next: { type: "string" },
    mixed: { type: "boolean", default: false },
    help: { type: "boolean", short: "h" },
  },
});
if (values.help) {
  console.log(`npm run cluster-test -- [options]: a cluster under load and faults, and proof that nothing was lost.

  --cells N      cells of the service (default: 1)
  --seed S       chooses the faults; the same seed, the same faults (default: by chance)
  --minutes M    how long (default: 3)
  --nodes N      machines (default: 3)
  --servers N    servers of NATS (default: 3)
  --only TEXT    the faults whose names contain TEXT
  --clocks       machines' clocks are set by hours, too (needs libfaketime: apt-get install faketime)
  --disks        disks are slow and full, too (needs root, and strace: apt-get install strace)
  --from FILE    the program that all machines begin with (default: dist/berth)
  --next FILE    a later version, to which the machines are upgraded before the faults begin, one after the other
  --mixed        with --next: the machines have both versions all the time; these have to have the same migrations`);
  process.exit(0);
}
const seed = Number(values.seed ?? Math.floor(Math.random() * 1e9));
const cells = Number(values.cells);
const kinds = { hasClocks: values.clocks, hasDisks: values.disks };
const from = resolve(values.from ?? "dist/berth");
if (values.mixed && values.next === undefined) throw new Error("--mixed needs --next, the other version.");
const exchange = values.mixed && exchangeVersions({ present: from, next: resolve(values.next ?? "") });
const all = [...faultsFor({ cells, natsServers: Number(values.servers), ...kinds }), ...(exchange ? [exchange] : [])];
const faults = all.filter(({ name }) => values.only === undefined || name.includes(values.only));
if (faults.length === 0)
  throw new Error(`No fault's name has "${values.only}": ${all.map(({ name }) => name).join("; ")}`);
console.log(
  `cluster test: --cells ${cells} --seed ${seed} --minutes ${values.minutes} --nodes ${values.nodes} --servers ${values.servers}`,
);
const steps =
  values.next === undefined ? [] : exchange ? [exchange] : upgradeSteps(await versions(from, resolve(values.next)));
const report = await runFaults({
  seed,
  ...(values.from !== undefined && { binary: from }),
  steps,
  ...kinds,
  seconds: Number(values.minutes) * 60,
  cells,
  nodes: Number(values.nodes),
  natsServers: Number(values.servers),
  faults,
  print: (line) => console.log(`${new Date().toISOString().slice(11, 19)} ${line}`),
});
console.log(report);
process.exit(0);

async function versions(present: string, next: string): Promise<Versions> {
  const { stdout } = await run([next, "version"], {}, ".");
  return { present, next, nextVersion: /\d+\.\d+\.\d+\S*/.exec(stdout)?.[0] ?? "" };
}
