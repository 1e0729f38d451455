// Tests the HLS playlist of a stream, and the files behind it in a temporary folder.
import { afterEach, beforeEach, expect, test } from "bun:test";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { temporaryDir } from "../../../tests/support/process.ts";
import { createHlsPlaylist, type HlsPlaylist, type HlsSegment } from "./hls-playlist.ts";

let dir: ReturnType<typeof temporaryDir>;
let folder: string;
let playlist: HlsPlaylist;
beforeEach(() => {
  dir = temporaryDir();
  folder = join(dir.path, "streams", "one");
  playlist = createHlsPlaylist(folder);
});
afterEach(() => dir.remove());

const segment = (more: Partial<HlsSegment> = {}): HlsSegment => ({
  init: Buffer.from("init"),
  data: Buffer.from("data"),
  duration: 2_000,
  at: Date.UTC(2026, 0, 1),
  hasNewInit: false,
  codecs: "avc1.64001f,mp4a.40.2",
  ...more,
});
const playlistText = async () => (await playlist.fileResponse("index.m3u8")?.text()) ?? "";
const firstSequence = async () => Number(/MEDIA-SEQUENCE:(\d+)/.exec(await playlistText())?.[1]);
const listedSegments = async () => (await playlistText()).split("\n").filter((line) => line.endsWith(".m4s"));

test("renders a playlist of RFC 8216", async () => {
  await playlist.append(segment({ hasNewInit: true }));
  await playlist.append(segment({ at: Date.UTC(2026, 0, 1, 0, 0, 2), duration: 1_960 }));
  const sequence = await firstSequence();
  expect(await playlistText()).toBe(
    [
      "#EXTM3U",
      "#EXT-X-VERSION:6",
      "#EXT-X-TARGETDURATION:2",
      `#EXT-X-MEDIA-SEQUENCE:${sequence}`,
      "#EXT-X-DISCONTINUITY-SEQUENCE:0",
      "#EXT-X-INDEPENDENT-SEGMENTS",
      "# codecs avc1.64001f,mp4a.40.2",
      `#EXT-X-MAP:URI="init-${sequence}.mp4"`,
      "#EXT-X-PROGRAM-DATE-TIME:2026-01-01T00:00:00.000Z",
      "#EXTINF:2.000,",
      `${sequence}.m4s`,
      "#EXT-X-PROGRAM-DATE-TIME:2026-01-01T00:00:02.000Z",
      "#EXTINF:1.960,",
      `${sequence + 1}.m4s`,
      "",
    ].join("\n"),
  );
  expect(await playlist.fileResponse(`init-${sequence}.mp4`)?.text()).toBe("init");
  expect(await playlist.fileResponse(`${sequence}.m4s`)?.text()).toBe("data");
});

test("lists six segments, keeps seven more for players with an older playlist, and removes the rest", async () => {
  await playlist.append(segment({ hasNewInit: true }));
  const start = await firstSequence();
  for (let n = 1; n < 40; n++) await playlist.append(segment());
  expect(await listedSegments()).toEqual(Array.from({ length: 6 }, (_, n) => `${start + 34 + n}.m4s`));
  const files = readdirSync(folder);
  expect(files).toHaveLength(13 + 1);
  expect(playlist.fileResponse(`${start}.m4s`)).toBeUndefined();
  expect(playlist.fileResponse(`${start + 27}.m4s`)).toBeDefined();
});

test("marks a discontinuity, counts it once it left the playlist, and keeps an init segment as long as it is needed", async () => {
  await playlist.append(segment({ hasNewInit: true }));
  await playlist.append(segment({ hasNewInit: true, init: Buffer.from("second") }));
  expect((await playlistText()).match(/#EXT-X-DISCONTINUITY\n/g)).toHaveLength(1);
  expect((await playlistText()).match(/#EXT-X-MAP/g)).toHaveLength(2);
  expect(await playlistText()).toContain("#EXT-X-DISCONTINUITY-SEQUENCE:0");
  const sequences: string[] = [];
  for (let n = 0; n < 20; n++) {
    await playlist.append(segment());
    sequences.push(/DISCONTINUITY-SEQUENCE:(\d)/.exec(await playlistText())?.[1] ?? "");
  }
  expect(sequences.join("")).toBe(`0000${"1".repeat(16)}`);
  expect(readdirSync(folder).filter((name) => name.startsWith("init"))).toHaveLength(1);
});

test("a longer segment raises the target duration for good", async () => {
  await playlist.append(segment({ hasNewInit: true }));
  await playlist.append(segment({ duration: 8_300 }));
  for (let n = 0; n < 10; n++) await playlist.append(segment());
  expect(await playlistText()).toContain("#EXT-X-TARGETDURATION:8\n");
});

test("a closed playlist has an end tag; another segment opens it again", async () => {
  await playlist.append(segment({ hasNewInit: true }));
  playlist.close();
  expect(await playlistText()).toEndWith("#EXT-X-ENDLIST\n");
  await playlist.append(segment({ hasNewInit: true }));
  expect(await playlistText()).not.toContain("ENDLIST");
});

test("a cleared playlist has no files and takes no more segments", async () => {
  await playlist.append(segment({ hasNewInit: true }));
  const late = playlist.append(segment());
  await playlist.clear();
  await late;
  await playlist.append(segment());
  expect(playlist.fileResponse("index.m3u8")).toBeUndefined();
  expect(existsSync(folder)).toBe(false);
});

test("opens only files that it has written", async () => {
  await playlist.append(segment({ hasNewInit: true }));
  for (const name of ["../one", "/etc/passwd", "", ".", "__proto__", "index.m3u8 "]) {
    expect(playlist.fileResponse(name)).toBeUndefined();
  }
});
