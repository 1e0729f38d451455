// npm run cluster-test -- --cells N --seed S --minutes M: a cluster under load and faults, printed as it goes.
import { parseArgs } from "node:util";
import { faultsFor, runFaults } from "./fault-run.ts";

const { values } = parseArgs({
  options: {
    seed: { type: "string" },
    minutes: { type: "string", default: "3" },
    cells: { type: "string", default: "1" },
    nodes: { type: "string", default: "3" },
    servers: { type: "string", default: "3" },
    only: { type: "string" },
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
  --only TEXT    the faults whose names contain TEXT`);
  process.exit(0);
}
const seed = Number(values.seed ?? Math.floor(Math.random() * 1e9));
const cells = Number(values.cells);
const all = faultsFor(cells);
const faults = all.filter(({ name }) => values.only === undefined || name.includes(values.only));
if (faults.length === 0)
  throw new Error(`No fault's name has "${values.only}": ${all.map(({ name }) => name).join("; ")}`);
console.log(
  `cluster test: --cells ${cells} --seed ${seed} --minutes ${values.minutes} --nodes ${values.nodes} --servers ${values.servers}`,
);
const report = await runFaults({
  seed,
  seconds: Number(values.minutes) * 60,
  cells,
  nodes: Number(values.nodes),
  natsServers: Number(values.servers),
  faults,
  print: (line) => console.log(`${new Date().toISOString().slice(11, 19)} ${line}`),
});
console.log(report);
process.exit(0);
