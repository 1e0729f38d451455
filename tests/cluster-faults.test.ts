// A cluster under load while machines and servers of NATS are killed, stopped and moved: see docs/cluster.md.
import { expect, test } from "bun:test";
import { runFaults } from "./cluster/fault-run.ts";

const SECONDS = 180;
const CELLS = 3;

test("each message is answered once and in order, nothing is lost, and all copies are equal", async () => {
  const seed = Number(process.env.CLUSTER_SEED ?? Math.floor(Math.random() * 1e9));
  console.log(
    `cluster test: CLUSTER_SEED=${seed}, or npm run cluster-test -- --cells ${CELLS} --seed ${seed} --minutes ${SECONDS / 60}`,
  );
  const { messages, faults, shownTwice } = await runFaults({
    seed,
    cells: CELLS,
    seconds: SECONDS,
    print: (line) => console.log(line),
  });
  console.log(
    `cluster test: ${messages} messages, ${Object.keys(faults).length} kinds of faults, ${shownTwice} shown twice`,
  );
  expect(messages).toBeGreaterThan(200);
}, 800_000);
