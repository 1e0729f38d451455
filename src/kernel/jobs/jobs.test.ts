// Tests jobs: run once, retried, and kept over crashes.

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { fileDatabase, serverDatabase, silent, type TestDatabase } from "../../../tests/support/database.ts";
import { createWatch, eventually } from "../../../tests/support/eventually.ts";
import type { Database } from "../database/database.ts";
import { createJobs, type Jobs } from "./jobs.ts";

describe.each([
  ["a local file", fileDatabase],
  ["a libSQL server", serverDatabase],
] as const)("jobs in %s", (_, open) => {
  let opened: TestDatabase;
  let database: Database;
  let jobs: Jobs;
  let done: unknown[];
  let watch: ReturnType<typeof createWatch>;
  const remember = async (payload: unknown) => {
    done.push(payload);
    watch.changed();
  };
  const rows = async () =>
    (await database.read("SELECT * FROM jobs ORDER BY created_at, id")).rows.map((row) => ({ ...row }));
  const gone = () => eventually(async () => (await rows()).length === 0);

  beforeEach(async () => {
    opened = await open();
    database = opened.database;
    jobs = createJobs({ database, log: silent });
    done = [];
    watch = createWatch();
  });
  afterEach(async () => {
    await jobs.stop(0);
    await opened.remove();
  });

  test("a job runs once after the commit that enqueued it, and is deleted", async () => {
    jobs.handle("mail", remember);
    await jobs.start();
    await database.write([jobs.enqueueStatement("mail", { to: "a" }), jobs.enqueueStatement("mail", { to: "b" })]);
    await watch.waitFor(() => done.length === 2);
    await gone();
    expect(done).toEqual(expect.arrayContaining([{ to: "a" }, { to: "b" }]));
  });

  test("a job runs when the clock is set to its time", async () => {
    let ahead = 0;
    const clocked = createJobs({ database, log: silent, now: () => Date.now() + ahead, clockCheckMs: 5 });
    clocked.handle("mail", remember);
    await clocked.start();
    await database.write([clocked.enqueueStatement("mail", "later", { runAt: Date.now() + 3_600_000 })]);
    ahead = 3_600_001;
    await watch.waitFor(() => done.length === 1);
    await clocked.stop(0);
  });

  test("a job of a failed batch never runs", async () => {
    jobs.handle("mail", remember);
    await jobs.start();
    const failing = { sql: "INSERT INTO nowhere VALUES (1)", args: [] };
    await database.write([jobs.enqueueStatement("mail", "never"), failing]).catch(() => undefined);
    await database.write([jobs.enqueueStatement("mail", "after")]);
    await watch.waitFor(() => done.length > 0);
    await gone();
    expect(done).toEqual(["after"]);
  });

  test("a job waits for its time and for its handler", async () => {
    await jobs.start();
    const runAt = Date.now() + 120;
    await database.write([jobs.enqueueStatement("later", "x", { runAt }), jobs.enqueueStatement("later", "now")]);
    expect(done).toEqual([]);
    jobs.handle("later", (payload) => remember([payload, payload === "now" || Date.now() >= runAt]));
    await watch.waitFor(() => done.length === 2);
    // On a busy machine both may be due when the handler comes.
    expect(done.toSorted()).toEqual([
      ["now", true],
      ["x", true],
    ]);
  });

  test("statements that a handler returns are committed with the job's completion, or not at all", async () => {
    const fact = (key: string) => ({ sql: "INSERT INTO meta VALUES (?, 'x')", args: [key] });
    jobs.handle("good", async () => [fact("a")]);
    jobs.handle("bad", async () => [fact("b"), fact("a")]);
    await jobs.start();
    await database.write([jobs.enqueueStatement("good", null)]);
    await gone();
    await database.write([jobs.enqueueStatement("bad", null, { maxAttempts: 1 })]);
    await eventually(async () => (await rows())[0]?.state === "failed");
    const { rows: facts } = await database.read("SELECT key FROM meta");
    expect(facts.map((row) => row.key)).toEqual(["a"]);
  });

  test("a failed job is retried later with its attempt counted, then parked with its error redacted", async () => {
    jobs.handle("flaky", async (_, { attempt }) => {
      await remember(attempt);
      throw new Error(`refused: Bearer abcdefghijklmnop`);
    });
    await jobs.start();
    await database.write([jobs.enqueueStatement("flaky", null, { maxAttempts: 2 })]);
    const [parked] = await eventually(async () => {
      const found = await rows();
      return found[0]?.state === "failed" ? found : undefined;
    });
    expect(done).toEqual([1, 2]);
    expect(parked).toMatchObject({ attempt: 2, lease: null });
    expect(parked?.last_error).toStartWith("refused: Bearer");
    expect(parked?.last_error).not.toContain("abcdefghijklmnop");
  });

  test("a handler that takes too long is aborted, and loses its slot even if it ignores the signal", async () => {
    let aborted = false;
    jobs.handle(
      "slow",
      (_, { signal }) =>
        new Promise<void>(() => {
          signal.addEventListener("abort", () => {
            aborted = true;
          });
        }),
      { timeoutMs: 20, concurrency: 1 },
    );
    await jobs.start();
    await database.write([jobs.enqueueStatement("slow", null, { maxAttempts: 1 })]);
    await eventually(async () => (await rows())[0]?.state === "failed");
    expect(aborted).toBe(true);
  });

  test("no more jobs run at a time than the concurrency allows", async () => {
    let running = 0;
    let most = 0;
    jobs.handle(
      "work",
      async () => {
        most = Math.max(most, ++running);
        await Bun.sleep(1);
        running--;
        await remember(null);
      },
      { concurrency: 3 },
    );
    await jobs.start();
    await database.write(Array.from({ length: 20 }, (_, n) => jobs.enqueueStatement("work", n)));
    await watch.waitFor(() => done.length === 20);
    expect(most).toBe(3);
  });

  test("one job per key waits; enqueued while it runs, it runs once more", async () => {
    const started = Promise.withResolvers<void>();
    const release = Promise.withResolvers<void>();
    jobs.handle("sync", async (payload) => {
      started.resolve();
      await release.promise;
      await remember(payload);
    });
    const ask = (payload: string) => database.write([jobs.enqueueStatement("sync", payload, { uniqueKey: "k" })]);
    await ask("first");
    await ask("second");
    expect(await rows()).toHaveLength(1);
    await jobs.start();
    await started.promise;
    await ask("third");
    await ask("fourth");
    release.resolve();
    await watch.waitFor(() => done.length === 2);
    await gone();
    expect(done).toEqual(["second", "fourth"]);
  });

  test("enqueuing it again revives a parked job", async () => {
    let broken = true;
    jobs.handle("sync", async (payload) => {
      if (broken) throw new Error("broken");
      await remember(payload);
    });
    await jobs.start();
    const ask = () => database.write([jobs.enqueueStatement("sync", "x", { uniqueKey: "k", maxAttempts: 1 })]);
    await ask();
    await eventually(async () => (await rows())[0]?.state === "failed");
    broken = false;
    await ask();
    await watch.waitFor(() => done.length === 1);
    await gone();
  });

  test("a job that runs beyond the grace period at shutdown is aborted and requeued", async () => {
    const started = Promise.withResolvers<void>();
    jobs.handle("long", (_, { signal }) => {
      started.resolve();
      return new Promise<void>((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    });
    await jobs.start();
    await database.write([jobs.enqueueStatement("long", "x")]);
    await started.promise;
    await jobs.stop(10);
    expect(await rows()).toMatchObject([{ state: "queued", attempt: 0, lease: null }]);
  });

  test("a recurring job runs at intervals, and is scheduled once however often the service starts", async () => {
    jobs.every("tidy", 15, () => remember("tidy"));
    await jobs.start();
    await watch.waitFor(() => done.length >= 3);
    await jobs.stop();
    const later = createJobs({ database, log: silent });
    later.every("tidy", 3_600_000, () => remember("never"));
    await later.start();
    expect(await rows()).toHaveLength(1);
    await later.stop();
  });

  test("it is ready while it runs", async () => {
    expect(jobs.ready()).toBe(false);
    await jobs.start();
    expect(jobs.ready()).toBe(true);
    await jobs.stop();
    expect(jobs.ready()).toBe(false);
  });
});

test("on a local file, a job that a crash interrupted runs at the next start", async () => {
  const { database, remove } = await fileDatabase();
  const jobs = createJobs({ database, log: silent });
  const done = Promise.withResolvers<unknown>();
  jobs.handle("mail", async (payload) => done.resolve(payload));
  await database.write([jobs.enqueueStatement("mail", "x")]);
  await database.write([{ sql: "UPDATE jobs SET state = 'running', lease = 'dead'", args: [] }]);
  await jobs.start();
  expect(await done.promise).toBe("x");
  await jobs.stop();
  await remove();
});

test("the outcome of a run changes nothing once the next start has released its job", async () => {
  const { database, remove } = await fileDatabase();
  const first = createJobs({ database, log: silent });
  const second = createJobs({ database, log: silent });
  const started = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  const taken = Promise.withResolvers<void>();
  const fact = (key: string) => ({ sql: "INSERT INTO meta VALUES (?, 'x')", args: [key] });
  const work = async () => {
    started.resolve();
    await release.promise;
    return [fact("first")];
  };
  first.handle("work", work, { concurrency: 1 });
  second.handle("work", async () => {
    taken.resolve();
    return [fact("second")];
  });
  await first.start();
  await database.write([first.enqueueStatement("work", null)]);
  await started.promise;
  await second.start();
  await taken.promise;
  await eventually(async () => (await database.read("SELECT 1 FROM jobs")).rows.length === 0);
  release.resolve();
  await first.stop();
  await second.stop();
  const { rows } = await database.read("SELECT key FROM meta");
  expect(rows.map((row) => row.key)).toEqual(["second"]);
  await remove();
});
