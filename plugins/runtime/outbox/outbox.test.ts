// The outbox: each conversation in its order, tried until it arrives or is refused, taken up again after a start.
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { fileDatabase, silent, type TestDatabase } from "../../../tests/support/database.ts";
import { eventually } from "../../../tests/support/eventually.ts";
import { insertAgent } from "../../../tests/support/skills.ts";
import type { Deliver, Delivery } from "../platforms.ts";
import { createDeliveryFailureRecorder, type RecordDeliveryFailures } from "./delivery-failures.ts";
import { createOutbox, type Outbox } from "./outbox.ts";

let store: TestDatabase;
let agentId: string;
let outbox: Outbox;
let reports: string[];
const deliverers = new Map<string, Deliver>();
const deliverVia = (platform: string, deliver: Deliver) => void deliverers.set(platform, deliver);
beforeEach(async () => {
  store = await fileDatabase();
  agentId = await insertAgent(store.database);
  reports = [];
  deliverers.clear();
  outbox = newOutbox();
});
afterEach(async () => {
  await outbox.stop();
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

/** A platform that does what each try is told to do; `sent` unless told. */
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

test("a reply is delivered once its batch is committed, and not when it isn't", async () => {
  const { arrived, deliver } = platform();
  deliverVia("channel_a", deliver);
  await put(reply("yes"));
  await put(reply("no"), { sql: "INSERT INTO nowhere VALUES (1)", args: [] }).catch(() => undefined);
  await idle();
  expect(arrived).toEqual(["yes"]);
  expect(await rows()).toEqual([{ body: "yes", status: "sent", attempts: 1, parts: "[]", error: null }]);
});

describe("order", () => {
  test("one conversation's replies arrive one after the other, whatever has to be tried again", async () => {
    const busy = { kind: "retry" as const, reason: "busy" };
    const { arrived, tries, deliver } = platform([busy, busy]);
    deliverVia("channel_a", deliver);
    await put(reply("1"), reply("2"), reply("3"));
    await idle();
    expect(arrived).toEqual(["1", "2", "3"]);
    expect(tries).toEqual(["1", "1", "1", "2", "3"]);
  });

  test("other conversations don't wait for it", async () => {
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

  test("an agent whose platform hangs in a thousand chats holds up nobody else", async () => {
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

describe("trouble", () => {
  test("is tried again, told to the owner, and forgotten when it is over", async () => {
    const { deliver } = platform([{ kind: "retry", reason: "Telegram is away." }]);
    deliverVia("channel_a", deliver);
    await put(reply("hello"));
    await idle();
    expect(reports).toEqual(["warning: Delivery of a reply failed and will be retried: Telegram is away."]);
    expect(await rows()).toMatchObject([{ status: "sent", attempts: 2, error: null }]);
  });

  test("waits at least as long as the platform says", async () => {
    const at: number[] = [];
    deliverVia("channel_a", async () => {
      at.push(performance.now());
      return at.length === 1 ? { kind: "retry", reason: "slow down", after: 150 } : { kind: "sent" };
    });
    await put(reply("hello"));
    await idle();
    expect((at[1] ?? 0) - (at[0] ?? 0)).toBeGreaterThanOrEqual(149);
  });

  test("a refusal is final and told, and the next reply is tried", async () => {
    const { tries, arrived, deliver } = platform([{ kind: "refused", reason: "The chat is gone." }]);
    deliverVia("channel_a", deliver);
    await put(reply("1"), reply("2"));
    await idle();
    expect(tries).toEqual(["1", "2"]);
    expect(arrived).toEqual(["2"]);
    expect(reports).toEqual(["error: A reply was not delivered: The chat is gone."]);
    expect(await rows()).toMatchObject([{ status: "failed", error: "The chat is gone." }, { status: "sent" }]);
  });

  test("a deliverer that throws, and a platform nobody delivers for, count as later", async () => {
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

  test("parts that arrived are known to the next try, and written down at once", async () => {
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

  test("of a deleted agent nothing is tried any more", async () => {
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

describe("an agent that is stopped", () => {
  test("keeps its replies, untried and uncounted, until it is up; then they go in order", async () => {
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

  test("and comes up while that is being found out misses nothing", async () => {
    const found = Promise.withResolvers<Awaited<ReturnType<Deliver>>>();
    let tries = 0;
    deliverVia("channel_a", () => (++tries === 1 ? found.promise : Promise.resolve({ kind: "sent" })));
    await put(reply("hello"));
    await eventually(() => tries === 1);
    outbox.wake(agentId);
    found.resolve({ kind: "paused" });
    await eventually(async () => (await rows())[0]?.status === "sent");
  });

  test("does not lose them over a restart", async () => {
    deliverVia("channel_a", async () => ({ kind: "paused" }));
    await put(reply("hello"));
    await idle();
    await outbox.stop();
    outbox = newOutbox();
    const { arrived, tries, deliver } = platform([{ kind: "paused" }]);
    deliverVia("channel_a", deliver);
    await outbox.start();
    await eventually(() => tries.length === 1);
    outbox.wake(agentId);
    await eventually(() => arrived.length === 1);
  });
});

describe("the end and the next start", () => {
  test("what has not arrived is taken up, with its parts, in order, each once", async () => {
    deliverVia("channel_a", async ({ body }, delivered, signal) => {
      if (body !== "1") return { kind: "sent" };
      delivered("part-0");
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      return { kind: "retry", reason: "stopping" };
    });
    await put(reply("1"), reply("2"), reply("3", { peer: "two" }));
    await eventually(async () => (await rows())[2]?.status === "sent");
    await outbox.stop();
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
    // What is put before the start is delivered once all the same.
    await put(reply("4"));
    await outbox.start();
    await eventually(() => seen.length === 3);
    await idle();
    expect(seen.toSorted()).toEqual(["1 part-0", "2 ", "4 "]);
    expect(seen.indexOf("1 part-0")).toBeLessThan(seen.indexOf("2 "));
  });

  test("a backlog larger than memory is all delivered", async () => {
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
    const stopped = outbox.stop();
    sending.resolve();
    await stopped;
    expect(await rows()).toMatchObject([{ status: "sent" }]);
  });
});

describe("whether what is known of a reply is written", () => {
  test("is told when the try that is under way is recorded; of what is done, at once", async () => {
    const ended = Promise.withResolvers<Awaited<ReturnType<Deliver>>>();
    let id = "";
    deliverVia("channel_a", (delivery) => {
      ({ id } = delivery);
      return ended.promise;
    });
    await put(reply("hello"));
    await eventually(() => id !== "");
    const asked = outbox
      .areDeliveriesRecorded(agentId, [id])
      .then(async (written) => ({ written, status: (await rows())[0]?.status }));
    ended.resolve({ kind: "sent" });
    expect(await asked).toEqual({ written: true, status: "sent" });
    expect(await outbox.areDeliveriesRecorded(agentId, [id])).toBe(true);
    expect(await outbox.areDeliveriesRecorded(agentId, ["no id of ours"])).toBe(true);
  });

  test("is waited for with what another process left, which counts as tried", async () => {
    await put(reply("left behind"));
    await eventually(async () => (await rows()).length === 1);
    const { rows: left } = await store.database.read("SELECT id FROM outbox");
    const id = String(left[0]?.id);
    await outbox.stop();
    await store.database.write([{ sql: "UPDATE outbox SET status = 'pending', attempts = 0", args: [] }]);
    outbox = newOutbox();
    const seen: number[] = [];
    deliverVia("channel_a", ({ attempts }) => {
      seen.push(attempts);
      return Promise.resolve({ kind: "sent" });
    });
    const asked = outbox.areDeliveriesRecorded(agentId, [id]);
    await outbox.start();
    expect(await asked).toBe(true);
    expect(seen).toEqual([1]);
  });

  test("is not told of what ends with the process", async () => {
    let id = "";
    deliverVia("channel_a", (delivery, _, signal) => {
      ({ id } = delivery);
      return new Promise((resolve) =>
        signal.addEventListener("abort", () => resolve({ kind: "retry", reason: "stopped" })),
      );
    });
    await put(reply("hello"));
    await eventually(() => id !== "");
    const asked = outbox.areDeliveriesRecorded(agentId, [id]);
    await outbox.stop();
    expect(await asked).toBe(false);
  });
});

describe("a reply that was sent and did not arrive", () => {
  const lost: RecordDeliveryFailures = (...about) => createDeliveryFailureRecorder(store)(...about);
  const telling = (reason: string) => ({ sql: "INSERT INTO meta VALUES (?, 'told')", args: [reason] });
  const told = async () =>
    (await store.database.read("SELECT key FROM meta WHERE value = 'told' ORDER BY key")).rows.map(({ key }) => key);
  async function sent(): Promise<string> {
    deliverVia("channel_a", () => Promise.resolve({ kind: "sent" }));
    await put(reply("hello"));
    await eventually(async () => (await rows())[0]?.status === "sent");
    const { rows: found } = await store.database.read("SELECT id FROM outbox");
    return String(found[0]?.id);
  }

  test("is noted once, and told in the same write, however often it is said", async () => {
    const id = await sent();
    const say = () => lost(agentId, "channel_a", new Map([[id, "too late"]]), telling);
    expect((await Promise.all([say(), say()])).flat()).toEqual(["too late"]);
    expect(await say()).toEqual([]);
    expect(await told()).toEqual(["too late"]);
    expect(await rows()).toMatchObject([{ status: "sent" }]);
  });

  test("is this agent's, on this platform: of anything else nothing is written", async () => {
    const id = await sent();
    const reasons = new Map([
      [id, "one"],
      ["no reply", "two"],
    ]);
    expect(await lost("another", "channel_a", reasons, telling)).toEqual([]);
    expect(await lost(agentId, "channel_b", reasons, telling)).toEqual([]);
    expect(await lost(agentId, "channel_a", new Map([["no reply", "two"]]), telling)).toEqual([]);
    expect(await told()).toEqual([]);
  });
});
