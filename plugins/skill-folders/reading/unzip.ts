// Unpacks a zip within limits that don't depend on what it says about itself.
//
// The sizes in a zip may be wrong: a file of 300 kB can declare 10 bytes and unpack to gigabytes. So it is read in small
// pieces, and what comes out is counted. Nothing is written to disk, so that a link is only a small text.
import { Unzip, type UnzipFile, UnzipInflate } from "fflate";
import { LIMITS, problem, UnusableFolder } from "./problems.ts";

export interface UnpackedFile {
  /** With `/` between its parts. */
  path: string;
  bytes: Uint8Array;
}

/** Bytes given to the inflater at once: it unpacks at most a thousand times as much before the limit is checked. */
const PIECE = 1024;
/** Entries, with folders and files of the system that packed it, which are left out. */
const MAX_ENTRIES = LIMITS.files * 3;
/** What systems add by themselves. */
const IGNORED = /(?:^|\/)(?:__MACOSX|\.git|\.svn)\/|(?:^|\/)(?:\.DS_Store|Thumbs\.db|desktop\.ini)$/;

/** @throws UnusableFolder */
export function unzip(zip: Uint8Array): UnpackedFile[] {
  const files = new Map<string, UnpackedFile>();
  const open = new Set<UnzipFile>();
  let entries = 0;
  let size = 0;

  function keep(file: UnzipFile): void {
    const { name } = file;
    entries += 1;
    if (entries > MAX_ENTRIES) throw new UnusableFolder([problem("TOO_MANY_FILES")]);
    requireSafePath(name);
    const isKept = !name.endsWith("/") && !IGNORED.test(name);
    // Systems differ in which paths are the same: the strictest view holds.
    const key = name.normalize("NFC").toLowerCase();
    if (isKept && files.has(key)) throw new UnusableFolder([problem("DUPLICATE_PATH", name)]);
    if (isKept && files.size >= LIMITS.files) throw new UnusableFolder([problem("TOO_MANY_FILES")]);
    const pieces: Uint8Array[] = [];
    if (isKept) files.set(key, { path: name, bytes: new Uint8Array() });
    open.add(file);
    file.ondata = (error, piece, isLast) => {
      if (error) throw error;
      size += piece.length;
      if (size > LIMITS.unpacked) throw new UnusableFolder([problem("TOO_LARGE")]);
      if (isKept) pieces.push(piece);
      if (!isLast) return;
      open.delete(file);
      if (isKept) files.set(key, { path: name, bytes: Buffer.concat(pieces) });
    };
    file.start();
  }

  const reader = new Unzip(keep);
  reader.register(UnzipInflate);
  try {
    for (let from = 0; from < zip.length; from += PIECE) {
      // A copy, since the inflater keeps what it gets.
      reader.push(zip.slice(from, from + PIECE), from + PIECE >= zip.length);
    }
  } catch (error) {
    if (error instanceof UnusableFolder) throw error;
    throw new UnusableFolder([problem("BROKEN_ZIP")]);
  }
  if (open.size > 0 || entries === 0) throw new UnusableFolder([problem("BROKEN_ZIP")]);
  return [...files.values()];
}

/** Refuses paths that would lead elsewhere on some system, or could pass for another path. */
export function requireSafePath(path: string): void {
  const parts = (path.endsWith("/") ? path.slice(0, -1) : path).split("/");
  const isSafe =
    path.length <= LIMITS.path &&
    !/[\\\p{Cc}\p{Cf}\p{Cs}]/u.test(path) &&
    !/^[a-z]:/i.test(path) &&
    parts.every((part) => part !== "" && part !== "." && part !== "..");
  const shown = path.slice(0, LIMITS.path).toWellFormed();
  if (!isSafe) throw new UnusableFolder([problem("UNSAFE_PATH", shown)]);
  if (parts.length > LIMITS.depth + 1) throw new UnusableFolder([problem("PATH_TOO_DEEP", shown)]);
}
