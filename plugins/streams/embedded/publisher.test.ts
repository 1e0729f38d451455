// One connection, byte by byte: being let in, being sent away, and going at the wrong moment.
import { describe, expect, test } from "bun:test";
import { eventually } from "../../../tests/support/eventually.ts";
import { command, message } from "../../../tests/support/publisher.ts";
import type { Admission } from "../stream-driver.ts";
import { createPublisher } from "./publisher.ts";

const STREAM = { id: "s", agentId: "a", userId: "u" };
const HANDSHAKE = Buffer.concat([Buffer.from([3]), Buffer.alloc(1536), Buffer.alloc(1536)]);
const CONNECT = Buffer.concat([HANDSHAKE, command("connect", 1, { app: "live", tcUrl: "rtmp://x/live" })]);
const PUBLISH = command("publish", 2, null, "the-key?and=more", "live");

function setUp(
  admit: (key: string) => Promise<Admission> = async () => ({ stream: STREAM, maxStreams: 1, isUnclaimed: false }),
) {
  const calls: string[] = [];
  let sentText = "";
  let isStalled = false;
  const transport = {
    send: (bytes: Uint8Array) => {
      sentText += Buffer.from(bytes).toString("latin1");
      return !isStalled;
    },
    pause: () => void calls.push("pause"),
    resume: () => void calls.push("resume"),
    end: () => void calls.push("end"),
    terminate: () => void calls.push("cut"),
  };
  const publisher = createPublisher(transport, {
    admit: (key) => {
      calls.push(`admit ${key}`);
      return admit(key);
    },
    onSegment: async () => undefined,
    onEnded: (why, clean) => void calls.push(`over ${why} ${clean}`),
    onRefused: (why) => void calls.push(`refused ${why}`),
  });
  const stall = () => {
    isStalled = true;
  };
  return { publisher, calls, sentText: () => sentText, stall };
}

test("is let in by its key, without what follows the question mark; read from again only then", async () => {
  const { publisher, calls, sentText } = setUp();
  publisher.read(CONNECT);
  expect(sentText()).toContain("NetConnection.Connect.Success");
  publisher.read(Buffer.from(PUBLISH));
  expect(calls).toEqual(["admit the-key", "pause"].toReversed());
  expect(sentText()).not.toContain("Publish.Start");
  await eventually(() => publisher.isLive);
  expect(sentText()).toContain("NetStream.Publish.Start");
  expect(calls.at(-1)).toBe("resume");
});

test("a refusal is told in RTMP's own way, then the connection ends", async () => {
  const { publisher, calls, sentText } = setUp(async () => ({ refusal: "This stream key is not known." }));
  publisher.read(Buffer.concat([CONNECT, PUBLISH]));
  await eventually(() => calls.includes("end"));
  expect(sentText()).toContain("NetStream.Publish.BadName");
  expect(sentText()).toContain("This stream key is not known.");
  expect(calls).toContain("refused This stream key is not known.");
  expect(calls.some((line) => line.startsWith("over"))).toBe(false);
});

test("keys that can't be looked up let nobody in", async () => {
  const { publisher, calls } = setUp(() => Promise.reject(new Error("no database")));
  publisher.read(Buffer.concat([CONNECT, PUBLISH]));
  await eventually(() => calls.includes("end"));
  expect(publisher.isLive).toBe(false);
});

test("one that goes while its key is looked up is not taken for one that is there", async () => {
  const admission = Promise.withResolvers<Admission>();
  const { publisher, calls } = setUp(() => admission.promise);
  publisher.read(Buffer.concat([CONNECT, PUBLISH]));
  publisher.onDisconnected();
  expect(calls.some((line) => line.startsWith("over"))).toBe(false);
  admission.resolve({ stream: STREAM, maxStreams: 1, isUnclaimed: false });
  await eventually(() => calls.includes("over undefined false"));
  expect(publisher.isLive).toBe(false);
});

describe("one that was let in", () => {
  async function live() {
    const made = setUp();
    made.publisher.read(Buffer.concat([CONNECT, PUBLISH]));
    await eventually(() => made.publisher.isLive);
    return made;
  }

  test("is told why it is sent away, and its owner too", async () => {
    const { publisher, calls, sentText } = await live();
    publisher.end("its key was changed.");
    expect(sentText()).toContain("NetStream.Publish.Failed");
    expect(calls.at(-1)).toBe("end");
    await eventually(() => calls.includes("over its key was changed. false"));
    publisher.read(Buffer.alloc(10_000));
    publisher.onDisconnected();
    expect(calls.filter((line) => line.startsWith("over"))).toHaveLength(1);
  });

  test("says that it ends", async () => {
    const { publisher, calls } = await live();
    publisher.read(Buffer.from(command("deleteStream", 3, null, 1)));
    await eventually(() => calls.includes("over undefined true"));
  });

  test("is cut off after fifteen silent seconds, not before", async () => {
    const { publisher, calls } = await live();
    publisher.tick(Date.now() + 14_000);
    expect(calls).not.toContain("cut");
    publisher.tick(Date.now() + 16_000);
    expect(calls).toContain("cut");
    await eventually(() => calls.includes("over nothing came for 15 seconds. false"));
  });

  test("may send eight megabits a second, measured over ten", async () => {
    const { publisher, calls } = await live();
    const megabyte = () => {
      // Data messages, which are counted and otherwise of no use.
      for (let n = 0; n < 20; n++) publisher.read(message(18, new Uint8Array(49_900), 4));
      publisher.tick(Date.now());
    };
    for (let second = 0; second < 30; second++) megabyte();
    expect(calls).not.toContain("end");
    for (let n = 0; n < 40; n++) publisher.read(message(18, new Uint8Array(50_000), 4));
    expect(calls).toContain("end");
    await eventually(() => calls.some((line) => line.startsWith("over it sent more than 8 Mbit/s")));
  });
});

test("one that stops reading can be sent away all the same", async () => {
  const { publisher, calls, stall } = setUp();
  publisher.read(Buffer.concat([CONNECT, PUBLISH]));
  await eventually(() => publisher.isLive);
  stall();
  publisher.end("its key was changed.");
  expect(calls).toContain("cut");
  await eventually(() => calls.includes("over its key was changed. false"));
});

test("one that does not read what it is sent is cut off", () => {
  const { publisher, calls } = setUp();
  publisher.read(HANDSHAKE.subarray(0, 100));
  const stalled = createPublisher(
    {
      send: () => false,
      pause: () => undefined,
      resume: () => undefined,
      end: () => undefined,
      terminate: () => void calls.push("cut"),
    },
    {
      admit: async () => ({ refusal: "" }),
      onSegment: async () => undefined,
      onEnded: () => undefined,
      onRefused: () => undefined,
    },
  );
  stalled.read(CONNECT);
  expect(calls).toContain("cut");
});
