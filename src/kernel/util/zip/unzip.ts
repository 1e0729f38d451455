// Unpacks a zip within limits that don't depend on what it says about itself.
//
// The sizes in a zip may be wrong: a file of 300 kB can declare 10 bytes and unpack to gigabytes. So it is read in small
// pieces, and what comes out is counted. Nothing is written to disk, so that a link is only a small text.
import { Unzip, type UnzipFile, UnzipInflate } from "fflate";

export interface UnpackedFile {
  /** With `/` between its parts. */
  path: string;
  bytes: Uint8Array;
}

export interface ZipLimits {
  files: number;
  /** Bytes of all files. */
  unpacked: number;
  /** Characters of a path. */
  path: number;
  /** Folders above a file. */
  depth: number;
}

export type ZipFault =
  | "BROKEN_ZIP"
  | "TOO_MANY_FILES"
  | "TOO_LARGE"
  | "DUPLICATE_PATH"
  | "UNSAFE_PATH"
  | "PATH_TOO_DEEP";

/** A zip can't be used. */
export class UnusableZip extends Error {
  override readonly name = "UnusableZip";
  /** @param path shortened, for a fault of one path */
  constructor(
    readonly fault: ZipFault,
    readonly path = "",
  ) {
    super(fault);
  }
}

/** Bytes given to the inflater at once: it unpacks at most a thousand times as much before the limit is checked. */
const PIECE = 1024;
/** What systems add by themselves. */
const IGNORED = /(?:^|\/)(?:__MACOSX|\.git|\.svn)\/|(?:^|\/)(?:\.DS_Store|Thumbs\.db|desktop\.ini)$/;

/**
 * The files of a zip. Entries that are not wanted, or that systems add, are counted in triple the number of files.
 * @throws UnusableZip
 */
export function unzip(
  zip: Uint8Array,
  limits: ZipLimits,
  isWanted: (path: string) => boolean = () => true,
): UnpackedFile[] {
  const files = new Map<string, UnpackedFile>();
  const open = new Set<UnzipFile>();
  let entries = 0;
  let size = 0;

  function keep(file: UnzipFile): void {
    const { name } = file;
    entries += 1;
    if (entries > limits.files * 3) throw new UnusableZip("TOO_MANY_FILES");
    requireSafePath(name, limits);
    const isKept = !name.endsWith("/") && !IGNORED.test(name) && isWanted(name);
    // Systems differ in which paths are the same: the strictest view holds.
    const key = name.normalize("NFC").toLowerCase();
    if (isKept && files.has(key)) throw new UnusableZip("DUPLICATE_PATH", name);
    if (isKept && files.size >= limits.files) throw new UnusableZip("TOO_MANY_FILES");
    const pieces: Uint8Array[] = [];
    if (isKept) files.set(key, { path: name, bytes: new Uint8Array() });
    open.add(file);
    file.ondata = (error, piece, isLast) => {
      if (error) throw error;
      size += piece.length;
      if (size > limits.unpacked) throw new UnusableZip("TOO_LARGE");
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
    if (error instanceof UnusableZip) throw error;
    throw new UnusableZip("BROKEN_ZIP");
  }
  if (open.size > 0 || entries === 0) throw new UnusableZip("BROKEN_ZIP");
  return [...files.values()];
}

/**
 * Refuses paths that would lead elsewhere on some system, or could pass for another path.
 * @throws UnusableZip
 */
export function requireSafePath(path: string, limits: Pick<ZipLimits, "path" | "depth">): void {
  const parts = (path.endsWith("/") ? path.slice(0, -1) : path).split("/");
  const isSafe =
    path.length <= limits.path &&
    !/[\\\p{Cc}\p{Cf}\p{Cs}]/u.test(path) &&
    !/^[a-z]:/i.test(path) &&
    parts.every((part) => part !== "" && part !== "." && part !== "..");
  const shown = path.slice(0, limits.path).toWellFormed();
  if (!isSafe) throw new UnusableZip("UNSAFE_PATH", shown);
  if (parts.length > limits.depth + 1) throw new UnusableZip("PATH_TOO_DEEP", shown);
}
