// Tests one publisher's connection over a recorded transport: admission, refusal, limits, and closing at any moment.
import { describe, expect, test } from "bun:test";
import { eventually } from "../../../tests/support/eventually.ts";
import { command, message } from "../../../tests/support/publisher.ts";
import type { Admission } from "../stream-driver.ts";
import { createPublisher } from "./publisher.ts";

const STREAM = { id: "s", agentId: "a", userId: "u" };
const HANDSHAKE = Buffer.concat([Buffer.from([3]), Buffer.alloc(1536), Buffer.alloc(1536)]);
const CONNECT = Buffer.concat([HANDSHAKE, command("connect", 1, { app: "live", tcUrl: "rtmp://x/live" })]);
const PUBLISH = command("publish", 2, null, "the-key?and=more", "live");

function createFixture(
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
    terminate: () => void calls.push("terminate"),
  };
  const publisher = createPublisher(transport, {
    admit: (key) => {
      calls.push(`admit ${key}`);
      return admit(key);
    },
    onSegment: async () => undefined,
    onEnded: (reason, isClean) => void calls.push(`ended ${reason} ${isClean}`),
    onRefused: (reason) => void calls.push(`refused ${reason}`),
  });
  const stall = () => {
    isStalled = true;
  };
  return { publisher, calls, sentText: () => sentText, stall };
}

test("is admitted by its key, without the query behind it, and is not read from until then", async () => {
  const { publisher, calls, sentText } = createFixture();
  publisher.read(CONNECT);
  expect(sentText()).toContain("NetConnection.Connect.Success");
  publisher.read(Buffer.from(PUBLISH));
  expect(calls).toEqual(["admit the-key", "pause"].toReversed());
  expect(sentText()).not.toContain("Publish.Start");
  await eventually(() => publisher.isLive);
  expect(sentText()).toContain("NetStream.Publish.Start");
  expect(calls.at(-1)).toBe("resume");
});

test("sends a refusal as an RTMP status, then closes the connection", async () => {
  const { publisher, calls, sentText } = createFixture(async () => ({ refusal: "This stream key is not known." }));
  publisher.read(Buffer.concat([CONNECT, PUBLISH]));
  await eventually(() => calls.includes("end"));
  expect(sentText()).toContain("NetStream.Publish.BadName");
  expect(sentText()).toContain("This stream key is not known.");
  expect(calls).toContain("refused This stream key is not known.");
  expect(calls.some((line) => line.startsWith("ended"))).toBe(false);
});

test("refuses the publisher if the key lookup fails", async () => {
  const { publisher, calls } = createFixture(() => Promise.reject(new Error("no database")));
  publisher.read(Buffer.concat([CONNECT, PUBLISH]));
  await eventually(() => calls.includes("end"));
  expect(publisher.isLive).toBe(false);
});

test("a connection that closes during the key lookup is reported as ended", async () => {
  const admission = Promise.withResolvers<Admission>();
  const { publisher, calls } = createFixture(() => admission.promise);
  publisher.read(Buffer.concat([CONNECT, PUBLISH]));
  publisher.onDisconnected();
  expect(calls.some((line) => line.startsWith("ended"))).toBe(false);
  admission.resolve({ stream: STREAM, maxStreams: 1, isUnclaimed: false });
  await eventually(() => calls.includes("ended undefined false"));
  expect(publisher.isLive).toBe(false);
});

describe("an admitted publisher", () => {
  async function live() {
    const fixture = createFixture();
    fixture.publisher.read(Buffer.concat([CONNECT, PUBLISH]));
    await eventually(() => fixture.publisher.isLive);
    return fixture;
  }

  test("is ended with a reason that it and its owner receive", async () => {
    const { publisher, calls, sentText } = await live();
    publisher.end("its key was changed.");
    expect(sentText()).toContain("NetStream.Publish.Failed");
    expect(calls.at(-1)).toBe("end");
    await eventually(() => calls.includes("ended its key was changed. false"));
    publisher.read(Buffer.alloc(10_000));
    publisher.onDisconnected();
    expect(calls.filter((line) => line.startsWith("ended"))).toHaveLength(1);
  });

  test("can announce the end of its stream", async () => {
    const { publisher, calls } = await live();
    publisher.read(Buffer.from(command("deleteStream", 3, null, 1)));
    await eventually(() => calls.includes("ended undefined true"));
  });

  test("is disconnected after fifteen seconds without a byte, not before", async () => {
    const { publisher, calls } = await live();
    publisher.tick(Date.now() + 14_000);
    expect(calls).not.toContain("terminate");
    publisher.tick(Date.now() + 16_000);
    expect(calls).toContain("terminate");
    await eventually(() => calls.includes("ended it sent nothing for 15 seconds. false"));
  });

  test("may send eight megabits a second, measured over ten", async () => {
    const { publisher, calls } = await live();
    const megabyte = () => {
      // Data messages count towards the bit rate and are otherwise ignored.
      for (let n = 0; n < 20; n++) publisher.read(message(18, new Uint8Array(49_900), 4));
      publisher.tick(Date.now());
    };
    for (let second = 0; second < 30; second++) megabyte();
    expect(calls).not.toContain("end");
    for (let n = 0; n < 40; n++) publisher.read(message(18, new Uint8Array(50_000), 4));
    expect(calls).toContain("end");
    await eventually(() => calls.some((line) => line.startsWith("ended it sent more than 8 Mbit/s")));
  });
});

test("a publisher that stops reading can still be ended", async () => {
  const { publisher, calls, stall } = createFixture();
  publisher.read(Buffer.concat([CONNECT, PUBLISH]));
  await eventually(() => publisher.isLive);
  stall();
  publisher.end("its key was changed.");
  expect(calls).toContain("terminate");
  await eventually(() => calls.includes("ended its key was changed. false"));
});

test("a publisher that does not read the bytes it is sent is disconnected", () => {
  const { publisher, calls } = createFixture();
  publisher.read(HANDSHAKE.subarray(0, 100));
  const stalled = createPublisher(
    {
      send: () => false,
      pause: () => undefined,
      resume: () => undefined,
      end: () => undefined,
      terminate: () => void calls.push("terminate"),
    },
    {
      admit: async () => ({ refusal: "" }),
      onSegment: async () => undefined,
      onEnded: () => undefined,
      onRefused: () => undefined,
    },
  );
  stalled.read(CONNECT);
  expect(calls).toContain("terminate");
});
