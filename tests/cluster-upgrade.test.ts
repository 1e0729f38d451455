// A cluster in use is upgraded to a version that changes the schema, one machine after the other: see docs/cluster.md.
import { afterAll, expect, test } from "bun:test";
import { join, resolve } from "node:path";
import { runFaults } from "./cluster/fault-run.ts";
import { makeNextVersion, NEXT_VERSION } from "./cluster/next-version.ts";
import { upgradeSteps } from "./cluster/upgrades.ts";
import { temporaryDir } from "./support/process.ts";

const present = resolve(import.meta.dir, "../dist/berth");
const copy = temporaryDir("berth-next-");
afterAll(() => copy.remove());

test("no message is lost while machines have different versions, and one that is too old says so", async () => {
  const steps = upgradeSteps({ present, next: makeNextVersion(join(copy.path, "next")), nextVersion: NEXT_VERSION });
  const { messages, faults, copies } = await runFaults({
    seed: 15,
    cells: 2,
    nodes: 3,
    natsServers: 1,
    seconds: 0,
    steps,
    print: (line) => console.log(line),
  });
  console.log(`cluster upgrade: ${messages} messages, ${copies} copies`);
  expect(Object.keys(faults)).toHaveLength(steps.length);
});
