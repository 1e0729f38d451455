// What viewers of one stream can have: a playlist (RFC 8216) and the last segments, as files in a folder of their own.
import { mkdir, rm, unlink } from "node:fs/promises";
import { join } from "node:path";
import type { Segment } from "./segment.ts";

export interface Piece extends Segment {
  /** Milliseconds. */
  readonly duration: number;
  /** When it was filmed, as far as is known; epoch ms. */
  readonly at: number;
  /** Players have to be set up anew for it. */
  readonly isFresh: boolean;
  /** For `MediaSource`, such as `avc1.64001f,mp4a.40.2`. */
  readonly codecs: string;
}

export interface Shelf {
  /** Writes a segment, names it in the playlist, and removes what is too old. One after the other. */
  put(piece: Piece): Promise<void>;
  /** No more will come: players may stop asking. */
  close(): void;
  /** A file by the name that players ask for; undefined when there is none. */
  file(name: string): Response | undefined;
  /** Removes all. */
  clear(): Promise<void>;
}

interface Entry {
  readonly sequence: number;
  readonly init: string;
  readonly duration: number;
  readonly at: number;
  /** It does not go on where the one before it ended. */
  readonly isBreak: boolean;
  readonly codecs: string;
}

/** Named in the playlist. */
const WINDOW = 6;
/** Kept beyond: what leaves a playlist has to be there for as long as the playlist was (RFC 8216 §6.2.2). */
const AFTER = 7;
const TARGET_SECONDS = 2;

/** `*`: anybody may embed a player of these. */
const OPEN = { "access-control-allow-origin": "*" };
const PLAYLIST = { ...OPEN, "content-type": "application/vnd.apple.mpegurl", "cache-control": "no-cache" };
/** Names are never used twice. */
const MEDIA = { ...OPEN, "content-type": "video/mp4", "cache-control": "public, max-age=60, immutable" };

const segmentName = ({ sequence }: Pick<Entry, "sequence">) => `${sequence}.m4s`;

export function createShelf(folder: string): Shelf {
  let entries: Entry[] = [];
  /** Names to paths: nothing else is ever opened. */
  const files = new Map<string, string>();
  // Grows from one publisher to the next and over restarts, since segments last longer than a second.
  let sequence = Math.floor(Date.now() / 1000);
  let init = "";
  let breaksBefore = 0;
  let target = TARGET_SECONDS;
  let playlist = "";
  let isOver = false;
  let isCleared = false;

  async function write(name: string, bytes: Uint8Array): Promise<void> {
    const path = join(folder, name);
    await Bun.write(path, bytes);
    if (!isCleared) files.set(name, path);
  }

  async function drop(name: string): Promise<void> {
    const path = files.get(name);
    files.delete(name);
    if (path !== undefined) await unlink(path).catch(() => undefined);
  }

  async function tidy(): Promise<void> {
    while (entries.length > WINDOW + AFTER) {
      const [oldest, ...rest] = entries;
      if (!oldest) return;
      entries = rest;
      await drop(segmentName(oldest));
      if (!entries.some((entry) => entry.init === oldest.init)) await drop(oldest.init);
    }
  }

  function render(): void {
    const shown = entries.slice(-WINDOW);
    const [first] = shown;
    if (!first) return;
    target = Math.max(target, ...shown.map(({ duration }) => Math.round(duration / 1000)));
    const lines = [
      "#EXTM3U",
      "#EXT-X-VERSION:6",
      `#EXT-X-TARGETDURATION:${target}`,
      `#EXT-X-MEDIA-SEQUENCE:${first.sequence}`,
      `#EXT-X-DISCONTINUITY-SEQUENCE:${breaksBefore}`,
      "#EXT-X-INDEPENDENT-SEGMENTS",
    ];
    let map = "";
    for (const entry of shown) {
      // The first one's break is counted, not shown.
      if (entry.isBreak && entry !== first) lines.push("#EXT-X-DISCONTINUITY");
      if (entry.init !== map) {
        map = entry.init;
        lines.push(`# codecs ${entry.codecs}`, `#EXT-X-MAP:URI="${map}"`);
      }
      lines.push(`#EXT-X-PROGRAM-DATE-TIME:${new Date(entry.at).toISOString()}`);
      lines.push(`#EXTINF:${(entry.duration / 1000).toFixed(3)},`, segmentName(entry));
    }
    if (isOver) lines.push("#EXT-X-ENDLIST");
    playlist = `${lines.join("\n")}\n`;
  }

  async function put({ init: head, data, duration, at, isFresh, codecs }: Piece): Promise<void> {
    if (isCleared) return;
    isOver = false;
    const isBreak = isFresh && files.size > 0;
    if (files.size === 0) await mkdir(folder, { recursive: true });
    sequence++;
    if (isFresh) {
      init = `init-${sequence}.mp4`;
      await write(init, head);
    }
    const entry = { sequence, init, duration, at, isBreak, codecs };
    await write(segmentName(entry), data);
    if (isCleared) return;
    entries.push(entry);
    // Whatever has just come to the top of the playlist.
    if (entries.at(-WINDOW)?.isBreak) breaksBefore++;
    render();
    await tidy();
  }

  let last: Promise<void> = Promise.resolve();
  /** One after the other: nothing is written once all is removed. */
  function inTurn(work: () => Promise<void>): Promise<void> {
    const done = last.then(work);
    last = done.catch(() => undefined);
    return done;
  }

  return {
    put: (piece) => inTurn(() => put(piece)),

    close() {
      isOver = true;
      render();
    },

    file(name) {
      if (name === "index.m3u8") return playlist === "" ? undefined : new Response(playlist, { headers: PLAYLIST });
      const path = files.get(name);
      return path === undefined ? undefined : new Response(Bun.file(path), { headers: MEDIA });
    },

    clear() {
      isCleared = true;
      entries = [];
      files.clear();
      playlist = "";
      return inTurn(() => rm(folder, { recursive: true, force: true }));
    },
  };
}
