// One connection, byte by byte: being let in, being sent away, and going at the wrong moment.
import { describe, expect, test } from "bun:test";
import { eventually } from "../../../tests/support/eventually.ts";
import { command, message } from "../../../tests/support/publisher.ts";
import type { Admission } from "../driver.ts";
import { createPublisher } from "./publisher.ts";

const STREAM = { id: "s", agentId: "a", userId: "u" };
const GREETING = Buffer.concat([Buffer.from([3]), Buffer.alloc(1536), Buffer.alloc(1536)]);
const CONNECT = Buffer.concat([GREETING, command("connect", 1, { app: "live", tcUrl: "rtmp://x/live" })]);
const PUBLISH = command("publish", 2, null, "the-key?and=more", "live");

function setUp(
  admit: (key: string) => Promise<Admission> = async () => ({ stream: STREAM, most: 1, isUnclaimed: false }),
) {
  const said: string[] = [];
  let heard = "";
  let isDeaf = false;
  const wire = {
    send: (bytes: Uint8Array) => {
      heard += Buffer.from(bytes).toString("latin1");
      return !isDeaf;
    },
    pause: () => void said.push("pause"),
    resume: () => void said.push("resume"),
    end: () => void said.push("end"),
    cut: () => void said.push("cut"),
  };
  const publisher = createPublisher(wire, {
    admit: (key) => {
      said.push(`admit ${key}`);
      return admit(key);
    },
    segment: async () => undefined,
    over: (why, clean) => void said.push(`over ${why} ${clean}`),
    refused: (why) => void said.push(`refused ${why}`),
  });
  const deafen = () => {
    isDeaf = true;
  };
  return { publisher, said, heard: () => heard, deafen };
}

test("is let in by its key, without what follows the question mark; read from again only then", async () => {
  const { publisher, said, heard } = setUp();
  publisher.read(CONNECT);
  expect(heard()).toContain("NetConnection.Connect.Success");
  publisher.read(Buffer.from(PUBLISH));
  expect(said).toEqual(["admit the-key", "pause"].toReversed());
  expect(heard()).not.toContain("Publish.Start");
  await eventually(() => publisher.isLive);
  expect(heard()).toContain("NetStream.Publish.Start");
  expect(said.at(-1)).toBe("resume");
});

test("a refusal is told in RTMP's own way, then the connection ends", async () => {
  const { publisher, said, heard } = setUp(async () => ({ refusal: "This stream key is not known." }));
  publisher.read(Buffer.concat([CONNECT, PUBLISH]));
  await eventually(() => said.includes("end"));
  expect(heard()).toContain("NetStream.Publish.BadName");
  expect(heard()).toContain("This stream key is not known.");
  expect(said).toContain("refused This stream key is not known.");
  expect(said.some((line) => line.startsWith("over"))).toBe(false);
});

test("keys that can't be looked up let nobody in", async () => {
  const { publisher, said } = setUp(() => Promise.reject(new Error("no database")));
  publisher.read(Buffer.concat([CONNECT, PUBLISH]));
  await eventually(() => said.includes("end"));
  expect(publisher.isLive).toBe(false);
});

test("one that goes while its key is looked up is not taken for one that is there", async () => {
  const answer = Promise.withResolvers<Admission>();
  const { publisher, said } = setUp(() => answer.promise);
  publisher.read(Buffer.concat([CONNECT, PUBLISH]));
  publisher.gone();
  expect(said.some((line) => line.startsWith("over"))).toBe(false);
  answer.resolve({ stream: STREAM, most: 1, isUnclaimed: false });
  await eventually(() => said.includes("over undefined false"));
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
    const { publisher, said, heard } = await live();
    publisher.end("its key was changed.");
    expect(heard()).toContain("NetStream.Publish.Failed");
    expect(said.at(-1)).toBe("end");
    await eventually(() => said.includes("over its key was changed. false"));
    publisher.read(Buffer.alloc(10_000));
    publisher.gone();
    expect(said.filter((line) => line.startsWith("over"))).toHaveLength(1);
  });

  test("says that it ends", async () => {
    const { publisher, said } = await live();
    publisher.read(Buffer.from(command("deleteStream", 3, null, 1)));
    await eventually(() => said.includes("over undefined true"));
  });

  test("is cut off after fifteen silent seconds, not before", async () => {
    const { publisher, said } = await live();
    publisher.tick(Date.now() + 14_000);
    expect(said).not.toContain("cut");
    publisher.tick(Date.now() + 16_000);
    expect(said).toContain("cut");
    await eventually(() => said.includes("over nothing came for 15 seconds. false"));
  });

  test("may send eight megabits a second, measured over ten", async () => {
    const { publisher, said } = await live();
    const megabyte = () => {
      // Data messages, which are counted and otherwise of no use.
      for (let n = 0; n < 20; n++) publisher.read(message(18, new Uint8Array(49_900), 4));
      publisher.tick(Date.now());
    };
    for (let second = 0; second < 30; second++) megabyte();
    expect(said).not.toContain("end");
    for (let n = 0; n < 40; n++) publisher.read(message(18, new Uint8Array(50_000), 4));
    expect(said).toContain("end");
    await eventually(() => said.some((line) => line.startsWith("over it sent more than 8 Mbit/s")));
  });
});

test("one that stops reading can be sent away all the same", async () => {
  const { publisher, said, deafen } = setUp();
  publisher.read(Buffer.concat([CONNECT, PUBLISH]));
  await eventually(() => publisher.isLive);
  deafen();
  publisher.end("its key was changed.");
  expect(said).toContain("cut");
  await eventually(() => said.includes("over its key was changed. false"));
});

test("one that does not read what it is sent is cut off", () => {
  const { publisher, said } = setUp();
  publisher.read(GREETING.subarray(0, 100));
  const deaf = createPublisher(
    {
      send: () => false,
      pause: () => undefined,
      resume: () => undefined,
      end: () => undefined,
      cut: () => void said.push("cut"),
    },
    {
      admit: async () => ({ refusal: "" }),
      segment: async () => undefined,
      over: () => undefined,
      refused: () => undefined,
    },
  );
  deaf.read(CONNECT);
  expect(said).toContain("cut");
});
