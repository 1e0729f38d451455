// Failures of live streams: a port in use, a kill during a stream, limits, and malicious publishers.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Berth, startBerth } from "./support/berth.ts";
import type { Client } from "./support/client.ts";
import { eventually } from "./support/eventually.ts";
import { probe, publish } from "./support/ffmpeg.ts";
import { member } from "./support/members.ts";
import { command, connectRaw, message, type RawPublisher, setChunkSize } from "./support/publisher.ts";
import { expectRefusal } from "./support/refusal.ts";
import { type AgentStream, createStream, type StreamBody } from "./support/streams.ts";

test.concurrent("a port in use is logged once; Berth serves without it, and opens it once it is free", async () => {
  const squatter = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data: () => undefined } });
  await using berth = await startBerth({ env: { RTMP_PORT: String(squatter.port) } });
  const ada = await member(berth);
  const { stream, waitForState } = await createStream(berth, ada);
  expect(stream.state).toBe("unavailable");
  expect(stream.rtmpServer).toBe(`rtmp://localhost:${squatter.port}/live`);
  const lines = () =>
    berth
      .output()
      .stderr.split("\n")
      .filter((line) => line.includes("RTMP"));
  await eventually(() => lines().length > 0);
  expect(lines()).toEqual([expect.stringContaining(`RTMP_PORT: port ${squatter.port} can't be opened`)]);
  expect((await ada.post("/api/agent", { message: "Hello" })).status).toBe(200);
  await squatter.stop(true);
  await waitForState("idle", 15_000);
  await eventually(() => lines().length === 2);
});

test.concurrent("after kill -9 the next start removes old segments, updates the state, and the publisher can return", async () => {
  await using berth = await startBerth();
  const ada = await member(berth);
  const { agent, stream, base, waitForState, logLines } = await createStream(berth, ada);
  const first = publish(stream.rtmp, { seconds: 60 });
  await waitForState("active");
  const folder = join(berth.dir, "data/streams");
  const files = () => (existsSync(folder) ? readdirSync(folder, { recursive: true }) : []);
  expect(files().length).toBeGreaterThan(2);
  await berth.kill();
  expect(await first.exited).not.toBe(0);
  expect(files().length).toBeGreaterThan(2);

  await berth.restart({ keepPorts: true });
  expect(files()).toEqual([]);
  expect((await logLines())[0]).toBe("The live stream was ended: Berth was stopped while it was on the air.");
  const again = (await ada.get<StreamBody>(`/api/agents/${agent.id}/stream`)).body;
  expect(again).toMatchObject({ state: "idle", streamKey: stream.streamKey, liveStreamId: stream.liveStreamId });
  const second = publish(again.rtmp, { seconds: 60 });
  await waitForState("active");
  expect((await probe(`${base}/index.m3u8`, 1)).streams).toHaveLength(2);

  expect(await berth.stop()).toBe(0);
  expect(await second.exited).not.toBe(0);
  expect(files()).toEqual([]);
});

test.concurrent("Berth listens only once there is a stream, and never with STREAM_DRIVER=off", async () => {
  const free = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data: () => undefined } });
  const port = free.port;
  await free.stop(true);
  const reachable = () =>
    Bun.connect({ hostname: "127.0.0.1", port, socket: { data: () => undefined } }).then(
      (socket) => {
        socket.end();
        return true;
      },
      () => false,
    );
  await using berth = await startBerth({ env: { RTMP_PORT: String(port) } });
  const ada = await member(berth);
  expect(await reachable()).toBe(false);
  const { agent } = await createStream(berth, ada);
  expect(await reachable()).toBe(true);

  await berth.restart({ env: { STREAM_DRIVER: "off" } });
  expect(await reachable()).toBe(false);
  const { body } = await ada.get(`/api/agents/${agent.id}/stream`);
  const none = { liveStreamId: null, streamKey: null, rtmpServer: null, rtmp: null, hls: null, playbackUrl: null };
  expect(body).toEqual({ ...none, state: "unavailable", since: null, bitrate: null });
  expectRefusal(await ada.put(`/api/agents/${agent.id}/stream`, {}), 409, "STREAMS_OFF");
  expectRefusal(await ada.post(`/api/agents/${agent.id}/stream/rotate`, {}), 409, "STREAMS_OFF");
});

test.concurrent("a plan limits the number of streams at once", async () => {
  await using berth = await startBerth();
  const ada = await member(berth, "pro");
  const airs = [await createStream(berth, ada), await createStream(berth, ada), await createStream(berth, ada)];
  await ada.grant("starter");
  const [one, two] = airs;
  const camera = publish(one?.stream.rtmp ?? "", { seconds: 60 });
  await one?.waitForState("active");
  expect(await publish(two?.stream.rtmp ?? "", { seconds: 30 }).exited).not.toBe(0);
  expect((await two?.logLines())?.[0]).toBe(
    "A publisher was refused: Your plan has room for 1 live stream at once. End one first.",
  );
  camera.signal("SIGKILL");
});

test.concurrent("viewers are not rate limited, requests for missing segments are", async () => {
  await using berth = await startBerth({ env: { RATE_LIMITS: '{"default":"60/m"}' } });
  const ada = await member(berth);
  const { stream, base } = await createStream(berth, ada);
  const camera = publish(stream.rtmp, { seconds: 60 });
  const ask = async (path: string) => (await fetch(`${base}${path}`)).status;
  await eventually(async () => (await ask("/index.m3u8")) === 200, { timeoutMs: 20_000, everyMs: 1_000 });
  const seen = await Promise.all(Array.from({ length: 200 }, () => ask("/index.m3u8")));
  expect(new Set(seen)).toEqual(new Set([200]));
  const missed = await Promise.all(Array.from({ length: 200 }, () => ask("/1.m4s")));
  expect(missed).toContain(429);
  expect(await ask("/index.m3u8")).toBe(200);
  camera.signal("SIGKILL");
});

describe("malicious publishers", () => {
  let berth: Berth;
  let ada: Client;
  let air: AgentStream;

  beforeAll(async () => {
    berth = await startBerth();
    ada = await member(berth, "enterprise");
    air = await createStream(berth, ada);
  });
  afterAll(() => berth?.[Symbol.asyncDispose]());

  const isClosed = (publisher: RawPublisher, withinMs = 5_000) =>
    eventually(() => !publisher.isOpen, { timeoutMs: withinMs, what: "the connection is closed" });
  /** Resident memory of the service in MiB. */
  const memory = () => {
    const [, kib = "0"] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${berth.pid}/status`, "utf8")) ?? [];
    return Number(kib) / 1024;
  };
  const isWell = async () => {
    const since = performance.now();
    expect((await fetch(`${berth.web}/healthz`)).status).toBe(200);
    expect(performance.now() - since).toBeLessThan(2_000);
  };

  test("that do not speak RTMP correctly are disconnected", async () => {
    const { streamKey } = air.stream;
    /** A header for 1,000 bytes, then a second header for 10 bytes within that message, which must not move the reader back. */
    const within = [...message(8, new Uint8Array(128), 4, 1_000), ...message(8, new Uint8Array(10), 4)];
    const evils: Record<string, (publisher: RawPublisher) => Promise<void>> = {
      "a request of the web": async ({ send }) => send(Buffer.from("GET / HTTP/1.1\r\nHost: x\r\n\r\n")),
      "the greeting of TLS": async ({ send }) => send([22, 3, 1, 2, 0, 1, 0]),
      "noise behind a greeting": async (publisher) => {
        await publisher.handshake();
        for (let n = 0; n < 40; n++) publisher.send(crypto.getRandomValues(new Uint8Array(4_096)));
      },
      "a message of 16 MB": async (publisher) => {
        await publisher.handshake();
        publisher.send(message(20, new Uint8Array(10), 3, 0xff_ff_fe));
      },
      "chunks of no size": async (publisher) => {
        await publisher.handshake();
        publisher.send(setChunkSize(0));
      },
      "a message within a message": async (publisher) => {
        await publisher.handshake();
        publisher.send(within);
      },
      "a hundred chunk streams": async (publisher) => {
        await publisher.handshake();
        for (let n = 3; n < 60; n++) publisher.send(message(18, new Uint8Array(8), n));
      },
      "a command without words": async (publisher) => {
        await publisher.handshake();
        publisher.send(message(20, new Uint8Array([0x0a, 0xff, 0xff, 0xff, 0xff])));
      },
      "the wish to play": async (publisher) => {
        await publisher.handshake();
        publisher.send(command("connect", 1, { app: "live", tcUrl: "rtmp://x/live" }), command("play", 2, null, "x"));
      },
      "a name that is none": async (publisher) => {
        await publisher.handshake();
        publisher.send(command("publish", 3, null, { name: streamKey }));
      },
      "media that are none": async (publisher) => {
        await publisher.requestPublish(streamKey);
        publisher.send(message(9, Buffer.from([0x17, 0, 0, 0, 0, 1, 2, 3])));
      },
      "pictures before their set-up": async (publisher) => {
        await publisher.requestPublish(streamKey);
        publisher.send(message(9, Buffer.from([0x17, 1, 0, 0, 0, 0, 0, 0, 1, 9])));
      },
    };
    for (const [evil, act] of Object.entries(evils)) {
      await using publisher = await connectRaw(air.port);
      await act(publisher);
      await isClosed(publisher).catch(() => {
        throw new Error(`${evil}: still connected`);
      });
      await isWell();
    }
    expect(berth.output().stderr).not.toContain('"level":"error"');
  });

  test("that send nothing, or too slowly, are disconnected after ten seconds", async () => {
    await using silent = await connectRaw(air.port);
    await using slow = await connectRaw(air.port);
    const dribble = setInterval(() => slow.send([3]), 100);
    await using polite = await connectRaw(air.port);
    await polite.handshake();
    await Promise.all([silent, slow, polite].map((publisher) => isClosed(publisher, 15_000)));
    clearInterval(dribble);
  });

  test("with thousands of connections and guessed keys cost little; an active stream goes on", async () => {
    const camera = publish(air.stream.rtmp, { seconds: 60 });
    await air.waitForState("active");
    const before = memory();
    const crowd: RawPublisher[] = [];
    let refused = 0;
    for (let n = 0; n < 3_000; n++) {
      const publisher = await connectRaw(air.port).catch(() => undefined);
      if (!publisher) refused++;
      else crowd.push(publisher);
    }
    await eventually(() => crowd.filter(({ isOpen }) => isOpen).length <= 16, { what: "all but a few were cut off" });
    await isWell();
    expect(memory() - before).toBeLessThan(64);
    expect((await air.read()).state).toBe("active");
    expect(refused).toBeLessThan(3_000);
    for (const publisher of crowd) await publisher[Symbol.asyncDispose]();
    camera.signal("SIGKILL");
    await air.waitForState("idle");
  });
});
