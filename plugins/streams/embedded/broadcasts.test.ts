// Tests the host's limits on published streams.
import { afterEach, beforeEach, expect, test } from "bun:test";
import { temporaryDir } from "../../../tests/support/process.ts";
import type { Admission } from "../stream-driver.ts";
import { type Broadcasts, createBroadcasts, MAX_STREAMS, MAX_UNCLAIMED_STREAMS } from "./broadcasts.ts";
import type { Publisher } from "./publisher.ts";

let dir: ReturnType<typeof temporaryDir>;
let broadcasts: Broadcasts;
let agentLog: string[];

beforeEach(() => {
  dir = temporaryDir();
  agentLog = [];
  broadcasts = createBroadcasts(dir.path, {
    // A key is the agent's name, with a question mark for an unclaimed one.
    admit: async (key): Promise<Admission> => ({
      stream: { id: key.replace("?", ""), agentId: key, userId: key },
      maxStreams: 1,
      isUnclaimed: key.endsWith("?"),
    }),
    onStarted: () => undefined,
    onEnded: () => undefined,
    logForAgent: (_, text) => void agentLog.push(text),
  });
});
afterEach(async () => {
  await broadcasts.close("the test is over.");
  dir.remove();
});

async function publish(key: string): Promise<string> {
  const publisher: Publisher = {
    read: () => undefined,
    tick: () => undefined,
    end: () => undefined,
    onDisconnected: () => undefined,
    bitrate: () => 0,
    isLive: true,
  };
  const admission = await broadcasts
    .publisherEventsFor(
      () => publisher,
      () => undefined,
    )
    .admit(key);
  return "refusal" in admission ? admission.refusal : "on the air";
}

test("a host carries a limited number of streams in total", async () => {
  for (let n = 0; n < MAX_STREAMS; n++) expect(await publish(`agent ${n}`)).toBe("on the air");
  expect(await publish("one more")).toContain(`carries ${MAX_STREAMS} live streams already`);
});

test("unclaimed agents share a few of the streams and never take those of claimed ones", async () => {
  for (let n = 0; n < MAX_UNCLAIMED_STREAMS; n++) expect(await publish(`agent ${n}?`)).toBe("on the air");
  expect(await publish("one more?")).toContain("unclaimed agents");
  expect(agentLog).toEqual([expect.stringContaining("A publisher was refused: ")]);
  for (let n = MAX_UNCLAIMED_STREAMS; n < MAX_STREAMS; n++) expect(await publish(`agent ${n}`)).toBe("on the air");
});

test("an agent on the air may publish again; once it is claimed, another unclaimed one may publish", async () => {
  for (let n = 0; n < MAX_UNCLAIMED_STREAMS; n++) await publish(`agent ${n}?`);
  expect(await publish("agent 0?")).toBe("on the air");
  expect(await publish("agent 0")).toBe("on the air");
  expect(await publish("another?")).toBe("on the air");
});
