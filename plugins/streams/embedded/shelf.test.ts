// The playlist that viewers see, and the files behind it.
import { afterEach, beforeEach, expect, test } from "bun:test";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { temporaryDir } from "../../../tests/support/process.ts";
import { createShelf, type Piece, type Shelf } from "./shelf.ts";

let dir: ReturnType<typeof temporaryDir>;
let folder: string;
let shelf: Shelf;
beforeEach(() => {
  dir = temporaryDir();
  folder = join(dir.path, "streams", "one");
  shelf = createShelf(folder);
});
afterEach(() => dir.remove());

const piece = (more: Partial<Piece> = {}): Piece => ({
  init: Buffer.from("init"),
  data: Buffer.from("data"),
  duration: 2_000,
  at: Date.UTC(2026, 0, 1),
  isFresh: false,
  codecs: "avc1.64001f,mp4a.40.2",
  ...more,
});
const list = async () => (await shelf.file("index.m3u8")?.text()) ?? "";
const first = async () => Number(/MEDIA-SEQUENCE:(\d+)/.exec(await list())?.[1]);
const named = async () => (await list()).split("\n").filter((line) => line.endsWith(".m4s"));

test("a playlist as RFC 8216 has it", async () => {
  await shelf.put(piece({ isFresh: true }));
  await shelf.put(piece({ at: Date.UTC(2026, 0, 1, 0, 0, 2), duration: 1_960 }));
  const sequence = await first();
  expect(await list()).toBe(
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
  expect(await shelf.file(`init-${sequence}.mp4`)?.text()).toBe("init");
  expect(await shelf.file(`${sequence}.m4s`)?.text()).toBe("data");
});

test("six are named, seven more are kept for those who read an older playlist, the rest is removed", async () => {
  await shelf.put(piece({ isFresh: true }));
  const start = await first();
  for (let n = 1; n < 40; n++) await shelf.put(piece());
  expect(await named()).toEqual(Array.from({ length: 6 }, (_, n) => `${start + 34 + n}.m4s`));
  const files = readdirSync(folder);
  expect(files).toHaveLength(13 + 1);
  expect(shelf.file(`${start}.m4s`)).toBeUndefined();
  expect(shelf.file(`${start + 27}.m4s`)).toBeDefined();
});

test("what begins anew is marked, counted once it has gone, and its set-up is kept as long as it is needed", async () => {
  await shelf.put(piece({ isFresh: true }));
  await shelf.put(piece({ isFresh: true, init: Buffer.from("second") }));
  expect((await list()).match(/#EXT-X-DISCONTINUITY\n/g)).toHaveLength(1);
  expect((await list()).match(/#EXT-X-MAP/g)).toHaveLength(2);
  expect(await list()).toContain("#EXT-X-DISCONTINUITY-SEQUENCE:0");
  const counted: string[] = [];
  for (let n = 0; n < 20; n++) {
    await shelf.put(piece());
    counted.push(/DISCONTINUITY-SEQUENCE:(\d)/.exec(await list())?.[1] ?? "");
  }
  expect(counted.join("")).toBe(`0000${"1".repeat(16)}`);
  expect(readdirSync(folder).filter((name) => name.startsWith("init"))).toHaveLength(1);
});

test("a longer segment makes the target longer, for good", async () => {
  await shelf.put(piece({ isFresh: true }));
  await shelf.put(piece({ duration: 8_300 }));
  for (let n = 0; n < 10; n++) await shelf.put(piece());
  expect(await list()).toContain("#EXT-X-TARGETDURATION:8\n");
});

test("closed, it says so; a publisher that comes back opens it again", async () => {
  await shelf.put(piece({ isFresh: true }));
  shelf.close();
  expect(await list()).toEndWith("#EXT-X-ENDLIST\n");
  await shelf.put(piece({ isFresh: true }));
  expect(await list()).not.toContain("ENDLIST");
});

test("cleared, nothing is there, and nothing comes any more", async () => {
  await shelf.put(piece({ isFresh: true }));
  const late = shelf.put(piece());
  await shelf.clear();
  await late;
  await shelf.put(piece());
  expect(shelf.file("index.m3u8")).toBeUndefined();
  expect(existsSync(folder)).toBe(false);
});

test("only names that were given out are opened", async () => {
  await shelf.put(piece({ isFresh: true }));
  for (const name of ["../one", "/etc/passwd", "", ".", "__proto__", "index.m3u8 "]) {
    expect(shelf.file(name)).toBeUndefined();
  }
});
