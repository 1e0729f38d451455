// Keeps one stream's HLS playlist (RFC 8216) in memory and its newest segments as files in the stream's own folder.
import { mkdir, rm, unlink } from "node:fs/promises";
import { join } from "node:path";
import { createKeyedQueue } from "../../../src/kernel/util/keyed-queue.ts";
import type { CmafSegment } from "./cmaf-muxer.ts";

export interface HlsSegment extends CmafSegment {
  /** Milliseconds. */
  readonly duration: number;
  /** When its first frame arrived; epoch ms. */
  readonly at: number;
  /** Whether it needs a new initialization segment. */
  readonly hasNewInit: boolean;
  /** The codecs parameter for `MediaSource`, such as `avc1.64001f,mp4a.40.2`. */
  readonly codecs: string;
}

export interface HlsPlaylist {
  /** Writes a segment, lists it in the playlist and removes the oldest ones. Calls run one after the other. */
  append(segment: HlsSegment): Promise<void>;
  /** Marks the playlist as ended, so that players stop reloading it. A later `append` opens it again. */
  close(): void;
  /** The playlist (`index.m3u8`), or a file by its name; undefined if there is none. */
  fileResponse(name: string): Response | undefined;
  /** Removes the playlist and all files; later calls of `append` do nothing. */
  clear(): Promise<void>;
}

interface PlaylistEntry {
  readonly sequence: number;
  readonly init: string;
  readonly duration: number;
  readonly at: number;
  /** Whether its timestamps don't continue those of the segment before. */
  readonly isDiscontinuity: boolean;
  readonly codecs: string;
}

/** Segments listed in the playlist. */
const WINDOW_SEGMENTS = 6;
/** Segments kept after they left the playlist: they must stay available for its duration (RFC 8216 §6.2.2). */
const KEPT_AFTER_WINDOW = 7;
const TARGET_SECONDS = 2;

/** Pages of any origin may embed a player. */
const ANY_ORIGIN = { "access-control-allow-origin": "*" };
const PLAYLIST_HEADERS = {
  ...ANY_ORIGIN,
  "content-type": "application/vnd.apple.mpegurl",
  "cache-control": "no-cache",
};
/** Immutable, since file names are never reused. */
const MEDIA_HEADERS = { ...ANY_ORIGIN, "content-type": "video/mp4", "cache-control": "public, max-age=60, immutable" };

const segmentName = ({ sequence }: Pick<PlaylistEntry, "sequence">) => `${sequence}.m4s`;

export function createHlsPlaylist(folder: string): HlsPlaylist {
  let entries: PlaylistEntry[] = [];
  /** File names to paths. Only these paths are opened. */
  const files = new Map<string, string>();
  // Starts at the current time in seconds. Segments last longer than that, so numbers also grow over restarts.
  let sequence = Math.floor(Date.now() / 1000);
  let init = "";
  let discontinuitySequence = 0;
  let targetDuration = TARGET_SECONDS;
  let playlist = "";
  let hasEnded = false;
  let isCleared = false;
  /** Runs one task at a time, so that no file is written after `clear` has removed the folder. */
  const enqueue = createKeyedQueue();

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
      // Before the first segment the discontinuity is counted in the header, not marked.
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
    // The segment that is now the first of the playlist.
    if (entries.at(-WINDOW_SEGMENTS)?.isDiscontinuity) discontinuitySequence++;
    renderPlaylist();
    await removeOldSegments();
  }

  return {
    append: (segment) => enqueue(folder, () => append(segment)),

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
      return enqueue(folder, () => rm(folder, { recursive: true, force: true }));
    },
  };
}
