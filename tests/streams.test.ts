// Live streams from publishing to watching: ffmpeg publishes, ffprobe and a browser play.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { testedBlocks } from "../site/tested-blocks.ts";
import { runInShell } from "./docs/shell-session.ts";
import { type Berth, startBerth } from "./support/berth.ts";
import { openChromium } from "./support/chromium.ts";
import type { Client } from "./support/client.ts";
import { createClient } from "./support/client.ts";
import { eventually } from "./support/eventually.ts";
import { probe, publish } from "./support/ffmpeg.ts";
import { member } from "./support/members.ts";
import { expectRefusal } from "./support/refusal.ts";
import { createStream, type StreamBody } from "./support/streams.ts";

// Most of the time is real-time video, so the tests run concurrently.

let berth: Berth;
let ada: Client;

beforeAll(async () => {
  berth = await startBerth({ env: { RATE_LIMITS: "off" } });
  ada = await member(berth, "enterprise");
});
afterAll(() => berth?.[Symbol.asyncDispose]());

const filesOf = (id: string) => {
  const folder = join(berth.dir, "data/streams", id);
  return existsSync(folder) ? readdirSync(folder) : [];
};

test.concurrent("an agent has one stream, with addresses and a key that only its owner sees", async () => {
  const { agent, stream, read } = await createStream(berth, ada);
  expect(stream).toEqual({
    liveStreamId: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f-]{21}$/),
    streamKey: expect.stringMatching(/^[0-9a-f]{64}$/),
    rtmpServer: expect.stringMatching(/^rtmp:\/\/localhost:[1-9]\d+\/live$/),
    rtmp: `${stream.rtmpServer}/${stream.streamKey}`,
    hls: `${stream.playbackUrl}/index.m3u8`,
    playbackUrl: expect.stringMatching(/^http:\/\/localhost:\d+\/live\/[0-9a-f-]{36}$/),
    state: "idle",
    since: expect.stringMatching(/Z$/),
    bitrate: null,
  });
  const path = `/api/agents/${agent.id}/stream`;
  expect((await ada.put(path, {})).body).toEqual(stream);
  expect(await read()).toEqual(stream);

  const mallory = await member(berth);
  for (const method of ["GET", "PUT", "DELETE"]) {
    const answer = await mallory.fetch(method, path);
    expect({ method, status: answer.status }).toEqual({ method, status: 404 });
  }
  expectRefusal(await createClient(berth).get(path), 401, "UNAUTHORIZED");
  // An API key that may only read must not see the stream key.
  const made = await ada.post<{ key: string }>("/api/keys", { name: "reader", scopes: ["read"] });
  const reader = { headers: { authorization: `Bearer ${made.body.key}` } };
  expectRefusal(await createClient(berth).get(path, reader), 403, "MISSING_SCOPE");
  const database = await Bun.file(join(berth.dir, "data/berth.db")).bytes();
  expect(Buffer.from(database).includes(stream.streamKey)).toBe(false);

  expect((await ada.delete(path)).body).toEqual({ success: true });
  expectRefusal(await ada.get(path), 404, "STREAM_NOT_FOUND");
  const none = Object.fromEntries(Object.keys(stream).map((key) => [key, null]));
  expect((await ada.get(`${path}?orNone=1`)).body).toEqual({ ...none, state: "none" });
  expect((await ada.get(`${path}?orNone=yes`)).status).toBe(400);
  expectRefusal(await ada.delete(path), 404, "STREAM_NOT_FOUND");
  expectRefusal(await ada.post(`${path}/rotate`, {}), 404, "STREAM_NOT_FOUND");
});

test.concurrent("the command of docs/streams.md publishes a film, with pictures and sound", async () => {
  const [block] = testedBlocks(import.meta.path, "docs/streams.md", 1);
  const { stream, base, waitForState } = await createStream(berth, ada);
  const film = "ffmpeg -v error -f lavfi -i testsrc=size=320x240:rate=25 -f lavfi -i sine -t 6 film.mp4";
  const published = runInShell(`${film}\n${block.code}`, { RTMP: stream.rtmp });
  await waitForState("active");
  const { streams } = await probe(base, 1);
  expect(streams.map(({ codec_name }) => codec_name)).toEqual(["h264", "aac"]);
  await published;
  await waitForState("idle");
});

test.concurrent("ffprobe plays the stream of ffmpeg; the playlist keeps a window, and no file is left on disk", async () => {
  const { stream, base, waitForState, read, logLines } = await createStream(berth, ada);
  const playlist = `${base}/index.m3u8`;
  const early = await createClient(berth).get(`/live/${stream.liveStreamId}/index.m3u8`);
  expectRefusal(early, 404, "STREAM_OFF_AIR");
  expect(early.headers.get("access-control-allow-origin")).toBe("*");
  expect(early.headers.get("cache-control")).toBe("no-store");

  const camera = publish(stream.rtmp, { seconds: 18 });
  const live = await waitForState("active");
  expect(Date.parse(live.since)).toBeGreaterThan(Date.parse(stream.since));

  // The page's address redirects players to the playlist.
  expect((await fetch(base, { redirect: "manual" })).headers.get("location")).toEndWith("/index.m3u8");
  const found = await probe(base);
  expect(found.streams).toEqual([
    expect.objectContaining({ codec_name: "h264", codec_type: "video", width: 320, height: 240 }),
    expect.objectContaining({ codec_name: "aac", codec_type: "audio" }),
  ]);
  for (const { nb_read_packets } of found.streams) expect(Number(nb_read_packets)).toBeGreaterThan(20);
  expect((await read()).bitrate).toBeGreaterThan(50_000);

  const list = await fetch(playlist, { headers: { origin: "https://elsewhere.example" } });
  expect(list.headers.get("access-control-allow-origin")).toBe("*");
  expect(list.headers.get("content-type")).toBe("application/vnd.apple.mpegurl");
  expect(list.headers.get("cache-control")).toBe("no-cache");
  const name = (await list.text()).split("\n").findLast((line) => line.endsWith(".m4s"));
  const piece = await fetch(`${base}/${name}`);
  expect(piece.headers.get("content-type")).toBe("video/mp4");
  expect(piece.headers.get("access-control-allow-origin")).toBe("*");
  expect((await piece.arrayBuffer()).byteLength).toBeGreaterThan(1_000);
  for (const odd of ["nothing.m4s", "..%2Fberth.db", "%2e%2e%2f%2e%2e%2fberth.db", "index.m3u8%00", "init-1.mp4"]) {
    expect({ odd, status: (await fetch(`${base}/${odd}`)).status }).toEqual({ odd, status: 404 });
  }

  const full = await eventually(
    async () => {
      const text = await (await fetch(playlist)).text();
      return text.match(/\.m4s/g)?.length === 6 && !text.includes(`\n${name}\n`) ? text : undefined;
    },
    { timeoutMs: 20_000, everyMs: 200, what: "the window has moved on" },
  );
  expect(full).toMatch(/#EXT-X-TARGETDURATION:2\n/);
  expect(filesOf(stream.liveStreamId).length).toBeLessThanOrEqual(6 + 7 + 2);

  expect(await camera.exited).toBe(0);
  await waitForState("idle");
  expect(await (await fetch(playlist)).text()).toEndWith("#EXT-X-ENDLIST\n");
  expect(await logLines()).toEqual(["The live stream has ended.", "The live stream is on the air."]);
  await eventually(async () => (await fetch(playlist)).status === 404, { timeoutMs: 20_000, everyMs: 200 });
  await eventually(() => filesOf(stream.liveStreamId).length === 0);
});

test.concurrent("the page starts playing in Chromium, also after an interruption", async () => {
  const { agent, stream, base, waitForState } = await createStream(berth, ada, "Lighthouse & Co");
  await using page = await openChromium();
  await page.goto(base);
  const seen = () =>
    page.evaluate<{
      time: number;
      frames: number;
      width: number;
      title: string;
      message: string;
      isOff: boolean;
    }>(`(() => {
      const video = document.getElementById("video");
      const { totalVideoFrames: frames } = video.getVideoPlaybackQuality();
      const off = document.getElementById("off");
      return { time: video.currentTime, frames, width: video.videoWidth, title: document.title,
        message: document.getElementById("message").textContent, isOff: !off.hidden };
    })()`);
  await eventually(async () => (await seen()).message === "Off the air", { timeoutMs: 20_000, everyMs: 100 });
  // The agent's name is hidden while its public page is off.
  expect((await seen()).title).toBe("Live stream · Berth");

  const first = publish(stream.rtmp, { seconds: 60 });
  await waitForState("active");
  const plays = (from: number) =>
    eventually(
      async () => {
        const { time, frames, isOff } = await seen();
        return time > from && frames > 10 && !isOff;
      },
      { timeoutMs: 30_000, everyMs: 100, what: `played past ${from} s` },
    );
  await plays(1);
  const { time } = await seen();
  await plays(time + 2);
  expect((await seen()).width).toBe(320);

  first.signal("SIGKILL");
  await waitForState("idle");
  // A different picture size, so that the decoder must be set up again.
  const second = publish(stream.rtmp, { seconds: 60, size: "640x360" });
  await waitForState("active");
  await eventually(async () => (await seen()).width === 640, {
    timeoutMs: 30_000,
    everyMs: 100,
    what: "the new picture",
  });
  expect(page.consoleEntries().filter((line) => /Content Security|exception/i.test(line))).toEqual([]);
  second.signal("SIGKILL");

  await ada.put(`/api/agents/${agent.id}/public`, { enabled: true });
  const html = await (await fetch(base, { headers: { accept: "text/html" } })).text();
  expect(html).toContain("<title>Lighthouse &amp; Co · Berth</title>");
  const nothing = await fetch(`${berth.web}/live/01890a5d-ac96-774b-bcce-b302099a8057`);
  expect(nothing.status).toBe(404);
  expect(await nothing.text()).toContain("There is no live stream at this address");
});

test.concurrent("a wrong key, an old key, or one of a stopped agent is rejected, and ends a running publisher", async () => {
  const { agent, stream, waitForState, logLines } = await createStream(berth, ada);
  const wrong = publish(`${stream.rtmpServer}/${"0".repeat(64)}`, { seconds: 30 });
  expect(await wrong.exited).not.toBe(0);

  const camera = publish(stream.rtmp, { seconds: 60 });
  await waitForState("active");
  const rotated = await ada.post<StreamBody>(`/api/agents/${agent.id}/stream/rotate`, {});
  expect(rotated.body).toMatchObject({ success: true, liveStreamId: stream.liveStreamId });
  expect(rotated.body.streamKey).not.toBe(stream.streamKey);
  expect(await camera.exited).not.toBe(0);
  await waitForState("idle");
  expect(await logLines()).toContain("The live stream was ended: its key was changed.");
  expect(await publish(stream.rtmp, { seconds: 30 }).exited).not.toBe(0);

  const again = publish(rotated.body.rtmp, { seconds: 60 });
  await waitForState("active");
  expect((await ada.post(`/api/agents/${agent.id}/stop`, {})).status).toBe(200);
  expect(await again.exited).not.toBe(0);
  await waitForState("idle");
  expect(await logLines()).toContain("The live stream was ended: the agent was stopped.");
  expect(await publish(rotated.body.rtmp, { seconds: 30 }).exited).not.toBe(0);

  expect((await ada.post(`/api/agents/${agent.id}/start`, {})).status).toBe(200);
  const last = publish(rotated.body.rtmp, { seconds: 60 });
  await waitForState("active");
  expect((await ada.delete(`/api/agents/${agent.id}`)).status).toBe(200);
  expect(await last.exited).not.toBe(0);
  await eventually(() => filesOf(stream.liveStreamId).length === 0);
  expect(berth.output().stderr).not.toContain('"level":"error"');
});

test.concurrent("a new publisher replaces the old one, and viewers keep the same playlist", async () => {
  const { stream, base, waitForState, logLines } = await createStream(berth, ada);
  const one = publish(stream.rtmp, { seconds: 60 });
  const { since } = await waitForState("active");
  const two = publish(stream.rtmp, { seconds: 60 });
  expect(await one.exited).not.toBe(0);
  const joined = await eventually(
    async () => {
      const text = await (await fetch(`${base}/index.m3u8`)).text();
      return text.includes("#EXT-X-DISCONTINUITY\n") ? text : undefined;
    },
    { timeoutMs: 20_000, everyMs: 100, what: "the second publisher's pieces" },
  );
  expect(joined.match(/#EXT-X-MAP/g)).toHaveLength(2);
  expect((await waitForState("active")).since).toBe(since);
  expect(await logLines()).toContain("Another publisher connected with the same key and has taken over.");
  two.signal("SIGKILL");
});

test.concurrent("a lost publisher ends the stream: at once if killed, within 15 seconds if silent", async () => {
  const { stream, waitForState, logLines } = await createStream(berth, ada);
  const killed = publish(stream.rtmp, { seconds: 60 });
  await waitForState("active");
  killed.signal("SIGKILL");
  await waitForState("idle");
  expect((await logLines())[0]).toBe("The live stream was ended: the publisher's connection was lost.");

  const silent = publish(stream.rtmp, { seconds: 60 });
  await waitForState("active");
  silent.signal("SIGSTOP");
  await waitForState("idle", 25_000);
  expect((await logLines())[0]).toBe("The live stream was ended: it sent nothing for 15 seconds.");
  silent.signal("SIGKILL");
});

test.concurrent("other codecs and too high bitrates are rejected, with advice in the agent's log", async () => {
  const { stream, waitForState, logLines } = await createStream(berth, ada);
  const flv1 = ["-c:v", "flv1", "-b:v", "500k", "-c:a", "aac"];
  expect(await publish(stream.rtmp, { seconds: 30, codecs: flv1 }).exited).not.toBe(0);
  await eventually(async () =>
    (await logLines())[0]?.includes("the video is Sorenson H.263, and only H.264 is supported."),
  );
  const mp3 = ["-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p", "-c:a", "libmp3lame", "-ar", "44100"];
  expect(await publish(stream.rtmp, { seconds: 30, codecs: mp3 }).exited).not.toBe(0);
  await eventually(async () => (await logLines())[0]?.includes("the sound is MP3, and only AAC is supported."));

  const noise = ["-f", "lavfi", "-i", "nullsrc=size=640x360:rate=25,geq=random(1)*255:128:128"];
  const heavy = ["-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p", "-qp", "1", "-g", "25", "-an"];
  const camera = publish(stream.rtmp, { seconds: 60, sources: noise, codecs: heavy });
  expect(await camera.exited).not.toBe(0);
  await eventually(async () => (await logLines())[0]?.includes("it sent more than 8 Mbit/s over 10 seconds."), {
    timeoutMs: 20_000,
  });
  await waitForState("idle");
});

test.concurrent("the owner gets an event when the stream starts and ends", async () => {
  const { agent, stream, waitForState } = await createStream(berth, ada);
  const camera = publish(stream.rtmp, { seconds: 5 });
  await waitForState("active");
  await camera.exited;
  await waitForState("idle");
  const events: unknown[] = [];
  for await (const { event, data } of ada.sse("/api/events?lastEventId=0&types=stream.state")) {
    const expected = JSON.parse(data).data;
    if (expected.agentId !== agent.id) continue;
    events.push({ event, ...expected });
    if (events.length === 2) break;
  }
  const expected = { event: "stream.state", agentId: agent.id, liveStreamId: stream.liveStreamId, reason: null };
  expect(events).toEqual([
    { ...expected, state: "active" },
    { ...expected, state: "idle" },
  ]);
});
