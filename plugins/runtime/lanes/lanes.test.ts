// Tests lanes: order, fairness and limits, and that no entry is lost or run twice between memory and database.
import { describe, expect, test } from "bun:test";
import { eventually, type Seeded, seeded } from "../../../tests/support/eventually.ts";
import { createLanes, LANE_LIMITS, type LaneEntry, type LaneLimits, type RunResult } from "./lanes.ts";

interface Entry extends LaneEntry {
  lane: string;
}

const entry = (id: string, lane = "one", agentId = "a"): Entry => ({ id, lane, agentId });
/** Waits for one turn of the event loop. */
const tick = () => new Promise<void>((resolve) => void setImmediate(resolve));
const ids = (count: number, prefix = "") => Array.from({ length: count }, (_, n) => `${prefix}${1_000 + n}`);

/** Lanes over a table of waiting entries, with runs that the test ends. */
function openLanes(limits: Partial<LaneLimits> = {}, load?: (agentId: string, limit: number) => Promise<Entry[]>) {
  const table: Entry[] = [];
  const started: string[] = [];
  const running = new Map<string, (ran: RunResult) => void>();
  const failures: unknown[] = [];
  let loads = 0;
  let automatic = false;

  const oldest = (agentId: string, limit: number) =>
    table
      .filter((waiting) => waiting.agentId === agentId)
      .sort((a, b) => (a.id < b.id ? -1 : 1))
      .slice(0, limit);
  const settle = (id: string) => {
    const at = table.findIndex((waiting) => waiting.id === id);
    if (at >= 0) table.splice(at, 1);
  };

  const lanes = createLanes<Entry>({
    async run({ id }) {
      started.push(id);
      const ran = automatic ? undefined : await new Promise<RunResult>((resolve) => void running.set(id, resolve));
      running.delete(id);
      if (ran === undefined) settle(id);
      return ran;
    },
    async load(agentId, limit) {
      loads++;
      return load ? load(agentId, limit) : oldest(agentId, limit);
    },
    laneOf: ({ lane }) => lane,
    onError: (error) => void failures.push(error),
    limits: { ...LANE_LIMITS, reloadAfter: 5, cooldownMs: 0, ...limits },
  });

  return {
    lanes,
    table,
    started,
    failures,
    oldest,
    settle,
    loads: () => loads,
    running: () => [...running.keys()],
    /** Commits, then pushes. */
    add(...entries: Entry[]) {
      table.push(...entries);
      for (const one of entries) lanes.push(one);
    },
    async end(id: string, ran?: RunResult) {
      const finish = running.get(id) ?? (await eventually(() => running.get(id), { what: `${id} runs` }));
      finish(ran);
      await tick();
    },
    /** Ends all runs, and from now on every run at once. */
    endAll() {
      automatic = true;
      for (const finish of [...running.values()]) finish(undefined);
    },
    idle: () =>
      eventually(() => lanes.size() === 0 && running.size === 0 && table.length === 0, { what: "everything is idle" }),
  };
}

describe("one lane", () => {
  test("runs its entries one after the other, in order", async () => {
    const { add, started, running, end, idle } = openLanes();
    add(entry("1"), entry("2"), entry("3"));
    expect(running()).toEqual(["1"]);
    await end("1");
    await eventually(() => running().includes("2"));
    expect(started).toEqual(["1", "2"]);
    await end("2");
    await end("3");
    await idle();
    expect(started).toEqual(["1", "2", "3"]);
  });

  test("retries its head before the entries behind it, while other lanes go on", async () => {
    const { add, started, end, idle } = openLanes();
    add(entry("1", "one"), entry("2", "one"), entry("3", "two"), entry("4", "two"));
    await end("1", { retryInMs: 50 });
    await end("3");
    await end("4");
    expect(started).toEqual(["1", "3", "4"]);
    await end("1");
    await end("2");
    await idle();
    expect(started).toEqual(["1", "3", "4", "1", "2"]);
  });

  test("runs an entry once that is pushed several times", async () => {
    const { add, lanes, started, end, idle } = openLanes();
    add(entry("1"));
    lanes.push(entry("1"));
    lanes.resume("a");
    await end("1");
    await idle();
    expect(started).toEqual(["1"]);
  });

  test("reports and retries a run that rejects", async () => {
    const failures: unknown[] = [];
    let tries = 0;
    const lanes = createLanes<Entry>({
      run: () => (++tries === 1 ? Promise.reject(new Error("broken")) : Promise.resolve(undefined)),
      load: () => Promise.resolve([]),
      laneOf: ({ lane }) => lane,
      onError: (error) => void failures.push(error),
      limits: { ...LANE_LIMITS, reloadAfter: 1, cooldownMs: 0 },
    });
    lanes.push(entry("1"));
    await eventually(() => lanes.size() === 0);
    expect(tries).toBe(2);
    expect(failures).toEqual([new Error("broken")]);
  });
});

describe("one agent", () => {
  test("runs at most four lanes", async () => {
    const { add, running, end, endAll, idle } = openLanes();
    add(...ids(10).map((id) => entry(id, `lane ${id}`)));
    expect(running()).toEqual(ids(4));
    await end("1002");
    await eventually(() => running().length === 4);
    expect(running().sort()).toEqual(["1000", "1001", "1003", "1004"]);
    endAll();
    await idle();
  });

  test("runs other lanes beside one with many entries", async () => {
    const { add, started, end, endAll, idle } = openLanes({ perAgent: 1 });
    add(entry("1", "long"), entry("2", "long"), entry("3", "long"), entry("4", "short"));
    await end("1");
    await end("4");
    expect(started.slice(0, 2)).toEqual(["1", "4"]);
    endAll();
    await idle();
  });
});

describe("all agents", () => {
  test("take turns: ten thousand entries of one agent delay another's entry by one turn", async () => {
    const { add, started, end, endAll, idle } = openLanes({ inFlight: 1 });
    add(...ids(10_000, "a").map((id) => entry(id, id, "a")));
    add(entry("b1", "one", "b"), entry("b2", "one", "b"));
    for (const id of ["a1000", "a1001", "b1", "a1002", "b2"]) await end(id);
    expect(started.slice(0, 5)).toEqual(["a1000", "a1001", "b1", "a1002", "b2"]);
    endAll();
    await idle();
    expect(started.length).toBe(10_002);
  });

  test("a long queue has a cooldown after each entry, a short one does not", async () => {
    const { add, started, end, idle, endAll } = openLanes({ perAgent: 1, cooldownMs: 20 });
    add(...ids(66, "a").map((id) => entry(id, id, "a")));
    const began = performance.now();
    await end("a1000");
    await eventually(() => started.length === 2);
    expect(performance.now() - began).toBeGreaterThanOrEqual(19);
    await end("a1001");
    expect(started.length).toBe(3);
    endAll();
    await idle();
  });

  test("never have more in flight than the limit", async () => {
    const { add, running, endAll, idle } = openLanes({ inFlight: 5 });
    for (let n = 0; n < 4; n++) add(...ids(2, `${n}-`).map((id) => entry(id, id, `agent ${n}`)));
    expect(running()).toEqual(["0-1000", "0-1001", "1-1000", "1-1001", "2-1000"]);
    endAll();
    await idle();
  });
});

describe("entries beyond the memory limit", () => {
  const small = { inMemory: 8, perAgent: 2 };

  test("wait in the database and are loaded as memory becomes free", async () => {
    const { add, lanes, started, loads, endAll, idle } = openLanes(small);
    const all = ids(100).map((id, n) => entry(id, `lane ${n % 3}`));
    add(...all);
    expect(lanes.size()).toBe(8);
    endAll();
    await idle();
    expect(started.toSorted()).toEqual(ids(100));
    for (const lane of ["lane 0", "lane 1", "lane 2"]) {
      const expected = all.filter((one) => one.lane === lane).map(({ id }) => id);
      expect(started.filter((id) => expected.includes(id))).toEqual(expected);
    }
    expect(loads()).toBeLessThan(30);
  });

  test("are found also with an earlier id than those in memory", async () => {
    const { add, started, endAll, idle } = openLanes(small);
    add(...ids(8).map((id) => entry(id, id)));
    add(entry("0001", "early"));
    endAll();
    await idle();
    expect(started).toContain("0001");
    expect(started.length).toBe(9);
  });

  test("pushed during a load come with the next page, after the earlier ones", async () => {
    const pendingLoads: (() => void)[] = [];
    const { add, table, started, end, endAll, idle, oldest } = openLanes(
      { inMemory: 4, perAgent: 1 },
      async (agent, limit) => {
        const page = oldest(agent, limit);
        await new Promise<void>((resolve) => void pendingLoads.push(resolve));
        return page;
      },
    );
    add(...ids(6).map((id) => entry(id)));
    for (const id of ids(4)) await end(id);
    await eventually(() => pendingLoads.length === 1);
    add(entry("2000"), entry("2001"));
    expect(table.length).toBe(4);
    endAll();
    pendingLoads[0]?.();
    await eventually(() => pendingLoads.length === 2);
    pendingLoads[1]?.();
    await idle();
    expect(started).toEqual([...ids(6), "2000", "2001"]);
  });

  test("an entry that ends during a load is not run again", async () => {
    const pendingLoads: (() => void)[] = [];
    const { add, started, end, endAll, idle, oldest } = openLanes(
      { inMemory: 8, perAgent: 2 },
      async (agent, limit) => {
        const page = oldest(agent, limit);
        await new Promise<void>((resolve) => void pendingLoads.push(resolve));
        return page;
      },
    );
    add(...ids(9).map((id, n) => entry(id, n % 2 ? "odd" : "even")));
    for (const id of ids(7)) await end(id);
    // 1007 is in memory, and in the page whose load began before it ended.
    await eventually(() => pendingLoads.length === 1);
    await end("1007");
    endAll();
    pendingLoads[0]?.();
    await eventually(() => started.includes("1008"));
    for (const answer of pendingLoads.slice(1)) answer();
    await idle();
    expect(started.toSorted()).toEqual(ids(9));
  });

  test("a page that can't be read is reported and read again", async () => {
    let failing = 3;
    const { add, started, failures, endAll, idle, oldest } = openLanes(small, async (agent, limit) => {
      if (failing-- > 0) throw new Error("no database");
      return oldest(agent, limit);
    });
    add(...ids(20).map((id) => entry(id)));
    endAll();
    await idle();
    expect(started).toEqual(ids(20));
    expect(failures).toEqual(Array(3).fill(new Error("no database")));
  });

  test("resume loads all pages, not only the first", async () => {
    const { lanes, table, started, endAll, idle } = openLanes(small);
    table.push(...ids(50).map((id) => entry(id)));
    lanes.resume("a");
    endAll();
    await eventually(() => started.length === 50);
    await idle();
    expect(started).toEqual(ids(50));
  });
});

describe("drop, pause and resume", () => {
  test("drop removes waiting entries; running ones go on and keep their slots", async () => {
    const { lanes, add, settle, started, running, end, idle } = openLanes({ perAgent: 2 });
    add(entry("1", "one"), entry("2", "one"), entry("3", "two"), entry("4", "three"));
    lanes.drop("a");
    expect(lanes.size()).toBe(2);
    settle("2");
    settle("4");
    add(entry("5", "four"), entry("6", "one"));
    // Both slots are in use.
    expect(running()).toEqual(["1", "3"]);
    await end("3");
    await end("5");
    expect(started).toEqual(["1", "3", "5"]);
    await end("1");
    await end("6");
    await idle();
    expect(started).toEqual(["1", "3", "5", "6"]);
  });

  test("an entry pushed after a drop stays when an earlier run ends", async () => {
    const { lanes, add, started, end, idle } = openLanes({ perAgent: 1 });
    add(entry("1"));
    lanes.drop("a");
    add(entry("2"), entry("3", "other"));
    await end("1");
    await end("3");
    await end("2");
    await idle();
    expect(started).toEqual(["1", "3", "2"]);
  });

  test("drop cancels the retry of an entry", async () => {
    const { lanes, add, table, started, end, idle } = openLanes();
    add(entry("1"), entry("2", "other"));
    await end("1", { retryInMs: 1 });
    lanes.drop("a");
    table.shift();
    const later = Promise.withResolvers<void>();
    setTimeout(later.resolve, 5);
    await later.promise;
    expect(started).toEqual(["1", "2"]);
    await end("2");
    await idle();
  });

  test("a paused agent keeps its entries in the database until it is resumed, then runs them in order", async () => {
    const { lanes, add, table, started, end, endAll, idle } = openLanes({ inMemory: 4, perAgent: 1 });
    add(...ids(10).map((id) => entry(id)));
    await end("1000", "pause");
    expect(lanes.size()).toBe(0);
    expect(table.length).toBe(10);
    expect(started).toEqual(["1000"]);
    endAll();
    lanes.wake("a");
    await idle();
    expect(started).toEqual(["1000", ...ids(10)]);
    lanes.wake("a");
    await tick();
    expect(started.length).toBe(11);
  });

  test("a new entry of a paused agent resumes it with its oldest entries", async () => {
    const { add, started, running, end, endAll, idle } = openLanes({ perAgent: 2 });
    add(entry("1"), entry("2"));
    await end("1", "pause");
    add(entry("3"), entry("4", "other"));
    await eventually(() => running().length === 2);
    expect(running()).toEqual(["1", "4"]);
    await end("1", "pause");
    await end("4", "pause");
    add(entry("5"));
    endAll();
    await idle();
    expect(started).toEqual(["1", "1", "4", ...started.slice(3)]);
    expect(started.slice(3).filter((id) => id !== "4")).toEqual(["1", "2", "3", "5"]);
  });

  test("an agent resumed during a run that pauses it runs again", async () => {
    const { lanes, add, started, end, endAll, idle } = openLanes({ perAgent: 1 });
    add(entry("1"), entry("2"));
    lanes.resume("a");
    await end("1", "pause");
    endAll();
    await idle();
    expect(started).toEqual(["1", "1", "2"]);
  });

  test("resuming while entries run does not run them twice", async () => {
    const { lanes, add, started, end, endAll, idle } = openLanes({ perAgent: 2 });
    add(entry("1", "one"), entry("2", "one"), entry("3", "two"));
    lanes.drop("a");
    lanes.resume("a");
    lanes.resume("a");
    await end("1");
    endAll();
    await idle();
    expect(started.toSorted()).toEqual(["1", "2", "3"]);
  });
});

describe("quiesce", () => {
  test("waits for running entries and starts nothing more until it is released", async () => {
    const { lanes, add, started, end, idle, endAll } = openLanes();
    add(entry("1"), entry("2"), entry("other", "one", "b"));
    const { idle: quiet, release } = lanes.quiesce("a");
    let isQuiet = false;
    void quiet.then(() => {
      isQuiet = true;
    });
    await tick();
    expect({ isQuiet, started }).toEqual({ isQuiet: false, started: ["1", "other"] });
    await end("1");
    await quiet;
    add(entry("3", "two"));
    await tick();
    expect(started).toEqual(["1", "other"]);
    release();
    endAll();
    await idle();
    expect(started.slice(2).sort()).toEqual(["2", "3"]);
  });

  test("is idle at once when nothing runs, and lasts until every caller has released it", async () => {
    const { lanes, add, started, endAll } = openLanes();
    const [first, second] = [lanes.quiesce("a"), lanes.quiesce("a")];
    await Promise.all([first.idle, second.idle]);
    add(entry("1"));
    first.release();
    await tick();
    expect(started).toEqual([]);
    second.release();
    await tick();
    expect(started).toEqual(["1"]);
    endAll();
  });
});

describe("drain", () => {
  test("waits for running entries and starts nothing more", async () => {
    const { lanes, add, started, end } = openLanes();
    add(entry("1"), entry("2"), entry("3", "two"));
    let drained = 0;
    const both = [lanes.drain(), lanes.drain()].map((drain) => drain.then(() => drained++));
    add(entry("4", "three"));
    await end("1");
    expect(drained).toBe(0);
    await end("3", { retryInMs: 0 });
    await Promise.all(both);
    expect(started).toEqual(["1", "3"]);
    await lanes.drain();
  });

  test("resolves at once when nothing runs", () => openLanes().lanes.drain());
});

/** Runs random operations of a few agents and compares the runs with a table. */
async function live(chance: Seeded): Promise<void> {
  const limits = {
    perAgent: chance.integer(1, 3),
    inFlight: chance.integer(1, 5),
    inMemory: 8,
    reloadAfter: 0,
    cooldownMs: 0,
  };
  const agents = ["a", "b", "c"];
  const table = new Map<string, Entry>();
  const done: string[] = [];
  const running = new Set<Entry>();
  const problems: string[] = [];
  const down = new Set<string>();
  const committed = new Map<string, string[]>();
  const deleted = new Set<string>();
  let now = 1_000;

  const later = async () => {
    for (let n = chance.integer(0, 3); n > 0; n--) await new Promise<void>((resolve) => void setImmediate(resolve));
  };
  const lanes = createLanes<Entry>({
    async run(one) {
      const mine = [...running].filter(({ agentId }) => agentId === one.agentId);
      if (mine.some(({ lane }) => lane === one.lane)) problems.push(`${one.id} runs beside one of its own lane`);
      if (mine.length >= limits.perAgent) problems.push(`${one.agentId} has too many at once`);
      if (running.size >= limits.inFlight) problems.push("too many in flight");
      if (done.includes(one.id)) problems.push(`${one.id} was done before`);
      running.add(one);
      const isDown = down.has(one.agentId);
      await later();
      running.delete(one);
      if (isDown) return "pause";
      if (chance.chance(0.1)) return { retryInMs: chance.integer(0, 2) };
      table.delete(one.id);
      if (!deleted.has(one.agentId)) done.push(one.id);
      return undefined;
    },
    async load(agentId, limit) {
      await later();
      if (chance.chance(0.1)) throw new Error("no database");
      const page = [...table.values()].filter((one) => one.agentId === agentId).sort((x, y) => (x.id < y.id ? -1 : 1));
      await later();
      return page.slice(0, limit);
    },
    laneOf: ({ lane }) => lane,
    onError: () => undefined,
    limits,
  });

  for (let step = 0; step < 120; step++) {
    const agentId = chance.pick(agents);
    const what = chance.next();
    if (what < 0.75) {
      // Some get an earlier id than the entries of other lanes.
      for (let n = chance.integer(1, 4); n > 0; n--) {
        const lane = chance.pick(["one", "two", "three"]);
        const before = committed.get(`${agentId} ${lane}`) ?? [];
        const early = Number(before.at(-1) ?? 1_000) + 1;
        now += 10;
        const id = String(chance.chance(0.2) && !table.has(String(early)) ? early : now);
        if (committed.values().some((known) => known.includes(id))) continue;
        const one = { id, lane, agentId };
        committed.set(`${agentId} ${lane}`, [...before, id]);
        table.set(id, one);
        if (chance.chance(0.3)) await Promise.resolve();
        lanes.push(one);
      }
    } else if (what < 0.8) down.add(agentId);
    else if (what < 0.9) {
      down.delete(agentId);
      lanes.resume(agentId);
    } else await later();
  }
  if (chance.chance(0.3)) {
    const agentId = chance.pick(agents);
    deleted.add(agentId);
    for (const one of table.values()) if (one.agentId === agentId) table.delete(one.id);
    lanes.drop(agentId);
  }
  for (const agentId of agents) {
    if (!down.delete(agentId)) continue;
    lanes.resume(agentId);
  }
  await eventually(() => table.size === 0 && running.size === 0 && lanes.size() === 0, {
    what: "all that was committed is done",
  });
  expect(problems).toEqual([]);
  for (const [lane, order] of committed) {
    if (deleted.has(lane.split(" ")[0] ?? "")) continue;
    expect({ lane, order: done.filter((id) => order.includes(id)) }).toEqual({ lane, order });
  }
}

test("random operations run each lane's entries once and in order", async () => {
  const first = Math.floor(Math.random() * 2 ** 31);
  for (let seed = first; seed < first + 40; seed++) {
    try {
      await live(seeded(seed));
    } catch (error) {
      throw new Error(`seed ${seed}`, { cause: error });
    }
  }
});
