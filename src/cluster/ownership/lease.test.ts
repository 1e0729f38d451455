// Tests what a lease knows of the other nodes, on an engine in memory.
import { afterEach, describe, expect, test } from "bun:test";
import { eventually } from "../../../tests/support/eventually.ts";
import { EngineUnavailable } from "../engine.ts";
import { createMemoryEngine } from "../memory-engine.ts";
import { createLease, type Lease } from "./lease.ts";

const TIMES = { renewMs: 50, deadMs: 200, trustMs: 150 };

const started: Lease[] = [];
afterEach(async () => {
  for (const lease of started.splice(0)) await lease.stop();
});

async function startNode(
  cluster: ReturnType<typeof createMemoryEngine>,
  number: number,
  onChange: () => void = () => undefined,
) {
  const engine = cluster.connect();
  const node = { applied: 0, aheadMs: 0 };
  const address = `http://node-${number}`;
  const lease = createLease({
    table: await engine.table("nodes"),
    state: () => ({
      ...{ address, instance: address, version: "1", at: Date.now() + node.aheadMs, isDraining: false },
      copies: { 0: node.applied },
      load: { agents: 0, turnsPerSecond: 0 },
    }),
    onChange,
    onError: () => undefined,
    times: TIMES,
  });
  started.push(lease);
  return { node, engine, lease, address };
}

const appliedBy = (lease: Lease, of: string) => lease.alive().find(({ address }) => address === of)?.copies[0];

async function startTwo() {
  const cluster = createMemoryEngine();
  const [first, second] = [await startNode(cluster, 1), await startNode(cluster, 2)];
  await eventually(() => first.lease.alive().length === 2 && second.lease.alive().length === 2);
  return [first, second] as const;
}

describe("seeing all nodes", () => {
  test("waits for what they say from now on", async () => {
    const [{ lease }, { node, address }] = await startTwo();
    node.applied = 7;
    await lease.seeAll();
    expect(appliedBy(lease, address)).toBe(7);
  });

  test("waits until those could be seen that have been there before", async () => {
    const [first] = await startTwo();
    expect(first.lease.isSettled()).toBe(false);
    await first.lease.seeAll();
    expect(first.lease.isSettled()).toBe(true);
  });

  test("does not wait for one that is dead", async () => {
    const [{ lease }, { engine, address }] = await startTwo();
    engine.isAway = true;
    await lease.seeAll();
    expect(appliedBy(lease, address)).toBeUndefined();
  });

  test("fails when the own lease runs out meanwhile", async () => {
    const [{ lease, engine }] = await startTwo();
    engine.isAway = true;
    await expect(lease.seeAll()).rejects.toBeInstanceOf(EngineUnavailable);
  });
});

test("a node that has given its lease back is dead at once for the others, and goes on seeing them", async () => {
  const [first, second] = await startTwo();
  await first.lease.release();
  expect(first.lease.isTrusted()).toBe(false);
  await eventually(() => second.lease.alive().length === 1);
  second.node.applied = 7;
  await eventually(() => appliedBy(first.lease, second.address) === 7);
  await second.lease.stop();
  await eventually(() => first.lease.alive().length === 0);
});

test("a node knows the clocks of the others, also after one was set, and of one that has stopped", async () => {
  const [{ lease, node, address }, second] = await startTwo();
  const offOf = (of: string) => Math.abs((lease.clockOf(of) ?? 0) - Date.now());
  expect(offOf(second.address)).toBeLessThan(2_000);
  second.node.aheadMs = 3_600_000;
  await eventually(() => Math.abs(offOf(second.address) - 3_600_000) < 2_000);
  node.aheadMs = -3_600_000;
  await eventually(() => Math.abs((second.lease.clockOf(address) ?? 0) - Date.now() + 3_600_000) < 2_000);
  await second.lease.stop();
  expect(Math.abs(offOf(second.address) - 3_600_000)).toBeLessThan(2_000);
  expect(lease.clockOf("http://node-9")).toBeUndefined();
});

test("a node that has died stays dead while nothing can be seen, and lives again with its next renewal", async () => {
  const [first, second] = await startTwo();
  const seesSecond = () => first.lease.alive().some(({ address }) => address === second.address);
  second.engine.isAway = true;
  await eventually(() => !seesSecond() && first.lease.isSettled());
  const shown: boolean[] = [];
  first.engine.isSilent = true;
  await eventually(() => {
    shown.push(seesSecond());
    return !first.lease.isSettled();
  });
  first.engine.isSilent = false;
  await eventually(() => {
    shown.push(seesSecond());
    return first.lease.isSettled();
  });
  expect(shown).not.toContain(true);
  second.engine.isAway = false;
  await eventually(seesSecond);
});

test("a listener that throws ends neither the renewals nor what is seen of others", async () => {
  const cluster = createMemoryEngine();
  let thrown = 0;
  const first = await startNode(cluster, 1, () => {
    thrown++;
    throw new Error("no process can be started");
  });
  const second = await startNode(cluster, 2);
  await eventually(() => thrown >= 2 && first.lease.isSettled() && first.lease.alive().length === 2);
  await second.lease.seeAll();
  expect(second.lease.alive().map(({ address }) => address)).toContain(first.address);
});
