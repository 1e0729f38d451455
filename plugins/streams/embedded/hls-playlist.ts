// What viewers of one stream can have: a playlist (RFC 8216) and the last segments, as files in a folder of their own.
import { mkdir, rm, unlink } from "node:fs/promises";
import { join } from "node:path";
import type { CmafSegment } from "./cmaf-muxer.ts";

export interface HlsSegment extends CmafSegment {
  /** Milliseconds. */
  readonly duration: number;
  /** When it was filmed, as far as is known; epoch ms. */
  readonly at: number;
  /** Players have to be set up anew for it. */
  readonly hasNewInit: boolean;
  /** For `MediaSource`, such as `avc1.64001f,mp4a.40.2`. */
  readonly codecs: string;
}

export interface HlsPlaylist {
  /** Writes a segment, names it in the playlist, and removes what is too old. One after the other. */
  append(segment: HlsSegment): Promise<void>;
  /** No more will come: players may stop asking. */
  close(): void;
  /** A file by the name that players ask for; undefined when there is none. */
  fileResponse(name: string): Response | undefined;
  /** Removes all. */
  clear(): Promise<void>;
}

interface PlaylistEntry {
  readonly sequence: number;
  readonly init: string;
  readonly duration: number;
  readonly at: number;
  /** It does not go on where the one before it ended. */
  readonly isDiscontinuity: boolean;
  readonly codecs: string;
}

/** Named in the playlist. */
const WINDOW_SEGMENTS = 6;
/** Kept beyond: what leaves a playlist has to be there for as long as the playlist was (RFC 8216 §6.2.2). */
const KEPT_AFTER_WINDOW = 7;
const TARGET_SECONDS = 2;

/** `*`: anybody may embed a player of these. */
const ANY_ORIGIN = { "access-control-allow-origin": "*" };
const PLAYLIST_HEADERS = {
  ...ANY_ORIGIN,
  "content-type": "application/vnd.apple.mpegurl",
  "cache-control": "no-cache",
};
/** Names are never used twice. */
const MEDIA_HEADERS = { ...ANY_ORIGIN, "content-type": "video/mp4", "cache-control": "public, max-age=60, immutable" };

const segmentName = ({ sequence }: Pick<PlaylistEntry, "sequence">) => `${sequence}.m4s`;

export function createHlsPlaylist(folder: string): HlsPlaylist {
  let entries: PlaylistEntry[] = [];
  /** Names to paths: nothing else is ever opened. */
  const files = new Map<string, string>();
  // Grows from one publisher to the next and over restarts, since segments last longer than a second.
  let sequence = Math.floor(Date.now() / 1000);
  let init = "";
  let discontinuitySequence = 0;
  let targetDuration = TARGET_SECONDS;
  let playlist = "";
  let hasEnded = false;
  let isCleared = false;

  async function writeFile(name: string, bytes: Uint8Array): Promise<void> {
    const path = join(folder, name);
    await Bun.write(path, bytes);
    if (!isCleared) files.set(name, path);
  }

  async function removeFile(name: string): Promise<void> {
    const path = files.get(name);
    files.delete(name);
    if (path !== undefined) await unlink(path).catch(() => undefined);
  }

  async function removeOldSegments(): Promise<void> {
    while (entries.length > WINDOW_SEGMENTS + KEPT_AFTER_WINDOW) {
      const [oldest, ...rest] = entries;
      if (!oldest) return;
      entries = rest;
      await removeFile(segmentName(oldest));
      if (!entries.some((entry) => entry.init === oldest.init)) await removeFile(oldest.init);
    }
  }

  function renderPlaylist(): void {
    const listed = entries.slice(-WINDOW_SEGMENTS);
    const [first] = listed;
    if (!first) return;
    targetDuration = Math.max(targetDuration, ...listed.map(({ duration }) => Math.round(duration / 1000)));
    const lines = [
      "#EXTM3U",
      "#EXT-X-VERSION:6",
      `#EXT-X-TARGETDURATION:${targetDuration}`,
      `#EXT-X-MEDIA-SEQUENCE:${first.sequence}`,
      `#EXT-X-DISCONTINUITY-SEQUENCE:${discontinuitySequence}`,
      "#EXT-X-INDEPENDENT-SEGMENTS",
    ];
    let currentInit = "";
    for (const entry of listed) {
      // The first one's break is counted, not shown.
      if (entry.isDiscontinuity && entry !== first) lines.push("#EXT-X-DISCONTINUITY");
      if (entry.init !== currentInit) {
        currentInit = entry.init;
        lines.push(`# codecs ${entry.codecs}`, `#EXT-X-MAP:URI="${currentInit}"`);
      }
      lines.push(`#EXT-X-PROGRAM-DATE-TIME:${new Date(entry.at).toISOString()}`);
      lines.push(`#EXTINF:${(entry.duration / 1000).toFixed(3)},`, segmentName(entry));
    }
    if (hasEnded) lines.push("#EXT-X-ENDLIST");
    playlist = `${lines.join("\n")}\n`;
  }

  async function append({ init: initBytes, data, duration, at, hasNewInit, codecs }: HlsSegment): Promise<void> {
    if (isCleared) return;
    hasEnded = false;
    const isDiscontinuity = hasNewInit && files.size > 0;
    if (files.size === 0) await mkdir(folder, { recursive: true });
    sequence++;
    if (hasNewInit) {
      init = `init-${sequence}.mp4`;
      await writeFile(init, initBytes);
    }
    const entry = { sequence, init, duration, at, isDiscontinuity, codecs };
    await writeFile(segmentName(entry), data);
    if (isCleared) return;
    entries.push(entry);
    // Whatever has just come to the top of the playlist.
    if (entries.at(-WINDOW_SEGMENTS)?.isDiscontinuity) discontinuitySequence++;
    renderPlaylist();
    await removeOldSegments();
  }

  let lastTask: Promise<void> = Promise.resolve();
  /** One after the other: nothing is written once all is removed. */
  function enqueue(work: () => Promise<void>): Promise<void> {
    const done = lastTask.then(work);
    lastTask = done.catch(() => undefined);
    return done;
  }

  return {
    append: (segment) => enqueue(() => append(segment)),

    close() {
      hasEnded = true;
      renderPlaylist();
    },

    fileResponse(name) {
      if (name === "index.m3u8")
        return playlist === "" ? undefined : new Response(playlist, { headers: PLAYLIST_HEADERS });
      const path = files.get(name);
      return path === undefined ? undefined : new Response(Bun.file(path), { headers: MEDIA_HEADERS });
    },

    clear() {
      isCleared = true;
      entries = [];
      files.clear();
      playlist = "";
      return enqueue(() => rm(folder, { recursive: true, force: true }));
    },
  };
}
