// Unpacks the zip of a skill within its limits, without links: their content is only a path.
import { type UnpackedFile, UnusableZip, unzip as unzipWithin } from "../../../src/kernel/util/zip/unzip.ts";
import { LIMITS, problem, UnusableFolder } from "./problems.ts";

export type { UnpackedFile };

export interface Unpacked {
  files: UnpackedFile[];
  /** Paths of symbolic links, which are not in `files`. */
  links: string[];
}

/** @throws UnusableFolder */
export function unzip(zip: Uint8Array): Unpacked {
  try {
    const links = linksIn(zip);
    return { files: unzipWithin(zip, LIMITS).filter(({ path }) => !links.has(path)), links: [...links] };
  } catch (error) {
    if (error instanceof UnusableZip) throw new UnusableFolder([problem(error.fault, error.path)]);
    throw error;
  }
}

/** The entries of the central directory (APPNOTE 4.3.12), and its end (4.3.16). */
const ENTRY = 0x02014b50;
const END = 0x06054b50;
const END_BYTES = 22;
/** After the end comes a comment of at most 65,535 bytes. */
const MAX_COMMENT = 65_535;
/** The type of a file in the mode that Unix systems put into the external attributes. */
const FILE_TYPE = 0o170000;
const SYMBOLIC_LINK = 0o120000;

/** The names of symbolic links. Only the central directory at the end of a zip says what an entry is. */
function linksIn(zip: Uint8Array): Set<string> {
  const links = new Set<string>();
  const view = new DataView(zip.buffer, zip.byteOffset, zip.byteLength);
  let end = zip.length - END_BYTES;
  const first = Math.max(0, end - MAX_COMMENT);
  while (end >= first && view.getUint32(end, true) !== END) end -= 1;
  if (end < first) return links;
  let at = view.getUint32(end + 16, true);
  while (at + 46 <= end && view.getUint32(at, true) === ENTRY) {
    const nameLength = view.getUint16(at + 28, true);
    const mode = view.getUint32(at + 38, true) >>> 16;
    const name = new TextDecoder().decode(zip.subarray(at + 46, at + 46 + nameLength));
    if ((mode & FILE_TYPE) === SYMBOLIC_LINK) links.add(name);
    at += 46 + nameLength + view.getUint16(at + 30, true) + view.getUint16(at + 32, true);
  }
  return links;
}
