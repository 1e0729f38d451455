// Tests the outbox: order of conversations, retries, stopped agents, and pending replies after a restart.

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { fileDatabase, silent, type TestDatabase } from "../../../tests/support/database.ts";
import { eventually } from "../../../tests/support/eventually.ts";
import { insertAgent } from "../../../tests/support/records.ts";
import type { Deliver, Delivery } from "../platforms.ts";
import { createDeliveryFailureRecorder, type RecordDeliveryFailures } from "./delivery-failures.ts";
import { createOutbox, type Outbox } from "./outbox.ts";

let store: TestDatabase;
let agentId: string;
let outbox: Outbox;
let reports: string[];
let givenUp: string[];
const deliverers = new Map<string, Deliver>();
const deliverVia = (platform: string, deliver: Deliver) => void deliverers.set(platform, deliver);
beforeEach(async () => {
  store = await fileDatabase();
  agentId = await insertAgent(store.database);
  reports = [];
  givenUp = [];
  deliverers.clear();
  outbox = newOutbox();
});
afterEach(async () => {
  await outbox.stop(2_000);
  await store.remove();
});

const newOutbox = () =>
  createOutbox({
    database: store.database,
    log: silent,
    platforms: {
      of(id) {
        const deliver = deliverers.get(id);
        return deliver && { deliver };
      },
    },
    logToOwner: (_, level, message) => void reports.push(`${level}: ${message}`),
    onGivenUp: async ({ body }, reason) => [
      { sql: "SELECT 1", args: [], after: () => void givenUp.push(`${body}: ${reason}`) },
    ],
    firstDelay: 1,
  });

const reply = (body: string, more: Partial<Delivery> = {}) => {
  const {
    id: _,
    parts: __,
    attempts: ___,
    ...row
  } = {
    id: "",
    parts: [],
    attempts: 0,
    inboxId: "i",
    agentId,
    platform: "channel_a",
    peer: "one",
    body,
    replyTo: null,
    previewId: null,
    ...more,
  };
  return outbox.enqueueStatement(row);
};
const put = (...statements: ReturnType<typeof reply>[]) => store.database.write(statements);
const rows = async (): Promise<Record<string, unknown>[]> => {
  const { rows } = await store.database.read("SELECT body, status, attempts, parts, error FROM outbox ORDER BY id");
  return rows.map((row) => ({ ...row }));
};
const idle = () => eventually(() => outbox.size() === 0);

/** A platform that returns the given outcomes, one for each try, and then `sent`. */
function platform(outcomes: Awaited<ReturnType<Deliver>>[] = []) {
  const tries: string[] = [];
  const arrived: string[] = [];
  const deliver: Deliver = async ({ body }) => {
    tries.push(body);
    const outcome = outcomes.shift() ?? { kind: "sent" };
    if (outcome.kind === "sent") arrived.push(body);
    return outcome;
  };
  return { tries, arrived, deliver };
}

test("a reply is delivered only after its batch is committed", async () => {
  const { arrived, deliver } = platform();
  deliverVia("channel_a", deliver);
  await put(reply("yes"));
  await put(reply("no"), { sql: "INSERT INTO nowhere VALUES (1)", args: [] }).catch(() => undefined);
  await idle();
  expect(arrived).toEqual(["yes"]);
  expect(await rows()).toEqual([{ body: "yes", status: "sent", attempts: 1, parts: "[]", error: null }]);
});

describe("order", () => {
  test("replies of one conversation arrive in order, also when one is retried", async () => {
    const busy = { kind: "retry" as const, reason: "busy" };
    const { arrived, tries, deliver } = platform([busy, busy]);
    deliverVia("channel_a", deliver);
    await put(reply("1"), reply("2"), reply("3"));
    await idle();
    expect(arrived).toEqual(["1", "2", "3"]);
    expect(tries).toEqual(["1", "1", "1", "2", "3"]);
  });

  test("other conversations don't wait for a stuck one", async () => {
    const stuck = Promise.withResolvers<void>();
    const arrived: string[] = [];
    deliverVia("channel_a", async ({ body, peer }) => {
      if (peer === "one") await stuck.promise;
      arrived.push(body);
      return { kind: "sent" };
    });
    await put(reply("stuck"), reply("behind"), reply("free", { peer: "two" }));
    await eventually(() => arrived.length === 1);
    expect(arrived).toEqual(["free"]);
    stuck.resolve();
    await idle();
    expect(arrived).toEqual(["free", "stuck", "behind"]);
  });

  test("an agent whose platform hangs in a thousand chats does not delay others", async () => {
    const other = await insertAgent(store.database);
    const stuck = Promise.withResolvers<void>();
    const arrived: string[] = [];
    deliverVia("channel_a", async ({ body, agentId: of }) => {
      if (of === agentId) await stuck.promise;
      arrived.push(body);
      return { kind: "sent" };
    });
    await put(...Array.from({ length: 1_000 }, (_, n) => reply(`${n}`, { peer: `${n}` })));
    await put(reply("other", { agentId: other }));
    await eventually(() => arrived.includes("other"));
    expect(arrived).toEqual(["other"]);
    expect(outbox.size()).toBeLessThanOrEqual(257);
    stuck.resolve();
    await eventually(() => arrived.length === 1_001);
    await idle();
    expect((await rows()).every(({ status }) => status === "sent")).toBe(true);
  });
});

describe("failures", () => {
  test("are retried and logged for the owner, and the error is cleared when the reply arrives", async () => {
    const { deliver } = platform([{ kind: "retry", reason: "Telegram is away." }]);
    deliverVia("channel_a", deliver);
    await put(reply("hello"));
    await idle();
    expect(reports).toEqual(["warning: Delivery of a reply failed and will be retried: Telegram is away."]);
    expect(await rows()).toMatchObject([{ status: "sent", attempts: 2, error: null }]);
  });

  test("wait at least as long as the platform says", async () => {
    const at: number[] = [];
    deliverVia("channel_a", async () => {
      at.push(performance.now());
      return at.length === 1 ? { kind: "retry", reason: "slow down", after: 150 } : { kind: "sent" };
    });
    await put(reply("hello"));
    await idle();
    expect((at[1] ?? 0) - (at[0] ?? 0)).toBeGreaterThanOrEqual(149);
  });

  test("a refusal is final and logged, and the next reply is tried", async () => {
    const { tries, arrived, deliver } = platform([{ kind: "refused", reason: "The chat is gone." }]);
    deliverVia("channel_a", deliver);
    await put(reply("1"), reply("2"));
    await idle();
    expect(tries).toEqual(["1", "2"]);
    expect(arrived).toEqual(["2"]);
    expect(reports).toEqual(["error: A reply was not delivered: The chat is gone."]);
    expect(givenUp).toEqual(["1: The chat is gone."]);
    expect(await rows()).toMatchObject([{ status: "failed", error: "The chat is gone." }, { status: "sent" }]);
  });

  test("a delivery that throws, and a platform that is not registered, are retried", async () => {
    let tries = 0;
    deliverVia("channel_a", async () => {
      if (++tries === 1) throw new Error("a bug");
      return { kind: "sent" };
    });
    await put(reply("1"), reply("2", { platform: "channel_b" }));
    await eventually(async () => (await rows())[0]?.status === "sent");
    await eventually(() => reports.some((line) => line.includes("Nothing delivers for channel_b")));
    const { deliver, arrived } = platform();
    deliverVia("channel_b", deliver);
    await eventually(() => arrived.length === 1);
    expect(reports.join()).not.toContain("a bug");
  });

  test("delivered parts are stored at once and passed to the next try", async () => {
    const seen: string[][] = [];
    deliverVia("channel_a", async ({ parts }, delivered) => {
      seen.push([...parts]);
      delivered(`part-${parts.length}`);
      return parts.length < 3 ? { kind: "retry", reason: "cut" } : { kind: "sent" };
    });
    await put(reply("long"));
    await idle();
    expect(seen).toEqual([[], ["part-0"], ["part-0", "part-1"]]);
    expect(await rows()).toMatchObject([{ parts: '["part-0","part-1","part-2"]', status: "sent" }]);
  });

  test("replies of a deleted agent are not tried any more", async () => {
    const { tries, deliver } = platform(Array(50).fill({ kind: "retry", reason: "away" }));
    deliverVia("channel_a", deliver);
    await put(reply("1"), reply("2"));
    await eventually(() => tries.length > 0);
    await store.database.write([{ sql: "DELETE FROM agents WHERE id = ?", args: [agentId] }]);
    outbox.drop(agentId);
    await idle();
    expect(tries).not.toContain("2");
  });
});

describe("a stopped agent", () => {
  test("keeps its replies, without counting tries, until it is started; then they go in order", async () => {
    let up = false;
    const { arrived, deliver } = platform();
    deliverVia("channel_a", (...given) => (up ? deliver(...given) : Promise.resolve({ kind: "paused" })));
    await put(reply("1"), reply("2"), reply("3", { peer: "two" }));
    await idle();
    outbox.wake(agentId);
    await idle();
    const waiting = { status: "pending", attempts: 0, error: null };
    expect(await rows()).toMatchObject([waiting, waiting, waiting]);
    expect(reports).toEqual([]);
    up = true;
    outbox.wake(agentId);
    await eventually(() => arrived.length === 3);
    await idle();
    expect(arrived.filter((body) => body !== "3")).toEqual(["1", "2"]);
    expect((await rows()).map(({ attempts }) => attempts)).toEqual([1, 1, 1]);
  });

  test("started during a try that pauses it still delivers", async () => {
    const found = Promise.withResolvers<Awaited<ReturnType<Deliver>>>();
    let tries = 0;
    deliverVia("channel_a", () => (++tries === 1 ? found.promise : Promise.resolve({ kind: "sent" })));
    await put(reply("hello"));
    await eventually(() => tries === 1);
    outbox.wake(agentId);
    found.resolve({ kind: "paused" });
    await eventually(async () => (await rows())[0]?.status === "sent");
  });

  test("keeps its replies over a restart", async () => {
    deliverVia("channel_a", async () => ({ kind: "paused" }));
    await put(reply("hello"));
    await idle();
    await outbox.stop(2_000);
    outbox = newOutbox();
    const { arrived, tries, deliver } = platform([{ kind: "paused" }]);
    deliverVia("channel_a", deliver);
    await outbox.start();
    await eventually(() => tries.length === 1);
    outbox.wake(agentId);
    await eventually(() => arrived.length === 1);
  });
});

describe("shutdown and restart", () => {
  test("pending replies are delivered once, in order, with the parts that had arrived", async () => {
    deliverVia("channel_a", async ({ body }, delivered, signal) => {
      if (body !== "1") return { kind: "sent" };
      delivered("part-0");
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      return { kind: "retry", reason: "stopping" };
    });
    await put(reply("1"), reply("2"), reply("3", { peer: "two" }));
    await eventually(async () => (await rows())[2]?.status === "sent");
    await outbox.stop(2_000);
    expect(await rows()).toMatchObject([
      { body: "1", status: "pending", attempts: 0, parts: '["part-0"]' },
      { body: "2", status: "pending" },
      { body: "3", status: "sent" },
    ]);
    expect(reports).toEqual([]);

    outbox = newOutbox();
    const seen: string[] = [];
    deliverVia("channel_a", async ({ body, parts }) => {
      seen.push(`${body} ${parts.join()}`);
      return { kind: "sent" };
    });
    // A reply that is enqueued before the start is delivered once, too.
    await put(reply("4"));
    await outbox.start();
    await eventually(() => seen.length === 3);
    await idle();
    expect(seen.toSorted()).toEqual(["1 part-0", "2 ", "4 "]);
    expect(seen.indexOf("1 part-0")).toBeLessThan(seen.indexOf("2 "));
  });

  test("a backlog larger than a lane's memory is delivered completely", async () => {
    const ids = Array.from({ length: 700 }, (_, n) => `${n}`);
    await store.database.write(
      ids.map((n) => reply(n, { peer: `chat-${Number(n) % 9}` })).map(({ sql, args }) => ({ sql, args })),
    );
    const { arrived, deliver } = platform();
    deliverVia("channel_a", deliver);
    await outbox.start();
    await eventually(() => arrived.length === 700, { timeoutMs: 10_000 });
    await idle();
    expect(arrived.toSorted()).toEqual(ids.toSorted());
  });

  test("a send in flight may finish", async () => {
    const sending = Promise.withResolvers<void>();
    deliverVia("channel_a", async () => {
      await sending.promise;
      return { kind: "sent" };
    });
    await put(reply("1"));
    const stopped = outbox.stop(2_000);
    sending.resolve();
    await stopped;
    expect(await rows()).toMatchObject([{ status: "sent" }]);
  });
});

describe("areDeliveriesRecorded", () => {
  test("resolves when the try in flight is recorded, and at once for replies that are done", async () => {
    const ended = Promise.withResolvers<Awaited<ReturnType<Deliver>>>();
    let id = "";
    deliverVia("channel_a", (delivery) => {
      ({ id } = delivery);
      return ended.promise;
    });
    await put(reply("hello"));
    await eventually(() => id !== "");
    const isRecorded = outbox
      .areDeliveriesRecorded(agentId, [id])
      .then(async (written) => ({ written, status: (await rows())[0]?.status }));
    ended.resolve({ kind: "sent" });
    expect(await isRecorded).toEqual({ written: true, status: "sent" });
    expect(await outbox.areDeliveriesRecorded(agentId, [id])).toBe(true);
    expect(await outbox.areDeliveriesRecorded(agentId, ["no id of ours"])).toBe(true);
  });

  test("waits for a reply that another process left pending, which counts as tried", async () => {
    await put(reply("left behind"));
    await eventually(async () => (await rows()).length === 1);
    const { rows: left } = await store.database.read("SELECT id FROM outbox");
    const id = String(left[0]?.id);
    await outbox.stop(2_000);
    await store.database.write([{ sql: "UPDATE outbox SET status = 'pending', attempts = 0", args: [] }]);
    outbox = newOutbox();
    const seen: number[] = [];
    deliverVia("channel_a", ({ attempts }) => {
      seen.push(attempts);
      return Promise.resolve({ kind: "sent" });
    });
    const isRecorded = outbox.areDeliveriesRecorded(agentId, [id]);
    await outbox.start();
    expect(await isRecorded).toBe(true);
    expect(seen).toEqual([1]);
  });

  test("is false for a try that the shutdown aborts", async () => {
    let id = "";
    deliverVia("channel_a", (delivery, _, signal) => {
      ({ id } = delivery);
      return new Promise((resolve) =>
        signal.addEventListener("abort", () => resolve({ kind: "retry", reason: "stopped" })),
      );
    });
    await put(reply("hello"));
    await eventually(() => id !== "");
    const isRecorded = outbox.areDeliveriesRecorded(agentId, [id]);
    await outbox.stop(2_000);
    expect(await isRecorded).toBe(false);
  });
});

test("what is being sent for some agents can be waited for, until it is recorded", async () => {
  const ended = Promise.withResolvers<Awaited<ReturnType<Deliver>>>();
  let isSending = false;
  deliverVia("channel_a", () => {
    isSending = true;
    return ended.promise;
  });
  await put(reply("hello"));
  await eventually(() => isSending);
  await outbox.untilRecorded(["another agent"]);
  const recorded = outbox.untilRecorded(["another agent", agentId]).then(rows);
  ended.resolve({ kind: "sent" });
  expect(await recorded).toMatchObject([{ body: "hello", status: "sent" }]);
  await outbox.untilRecorded([agentId]);
});

describe("a sent reply that did not arrive", () => {
  const recordFailures: RecordDeliveryFailures = (...about) => createDeliveryFailureRecorder(store)(...about);
  const noticeStatement = (reason: string) => ({ sql: "INSERT INTO meta VALUES (?, 'told')", args: [reason] });
  const notices = async () =>
    (await store.database.read("SELECT key FROM meta WHERE value = 'told' ORDER BY key")).rows.map(({ key }) => key);
  async function sent(): Promise<string> {
    deliverVia("channel_a", () => Promise.resolve({ kind: "sent" }));
    await put(reply("hello"));
    await eventually(async () => (await rows())[0]?.status === "sent");
    const { rows: found } = await store.database.read("SELECT id FROM outbox");
    return String(found[0]?.id);
  }

  test("is recorded once with its notice, however often it is reported", async () => {
    const id = await sent();
    const report = () => recordFailures(agentId, "channel_a", new Map([[id, "too late"]]), noticeStatement);
    expect((await Promise.all([report(), report()])).flat()).toEqual(["too late"]);
    expect(await report()).toEqual([]);
    expect(await notices()).toEqual(["too late"]);
    expect(await rows()).toMatchObject([{ status: "sent" }]);
  });

  test("is not recorded for another agent, platform or id", async () => {
    const id = await sent();
    const reasons = new Map([
      [id, "one"],
      ["no reply", "two"],
    ]);
    expect(await recordFailures("another", "channel_a", reasons, noticeStatement)).toEqual([]);
    expect(await recordFailures(agentId, "channel_b", reasons, noticeStatement)).toEqual([]);
    expect(await recordFailures(agentId, "channel_a", new Map([["no reply", "two"]]), noticeStatement)).toEqual([]);
    expect(await notices()).toEqual([]);
  });
});
