// Reads which modules a compiled binary holds. Bun has no API for it: this follows the format of Bun 1.4 (StandaloneModuleGraph).

import { readFileSync } from "node:fs";

const TRAILER = "\n---- Bun! ----\n";
/** Before the trailer: length (8 bytes), place and size of the list of modules (4 and 4), entry, options and flags (16). */
const OFFSETS_BYTES = 32;
/** Place and size of name, contents, source map, bytecode, module information and origin; then four bytes of kinds. */
const MODULE_BYTES = 52;
const NAME_AT = 0;
const BYTECODE_AT = 24;

/** The bytes of bytecode of each module, by its path (`/$bunfs/root/chunk-….js`). Throws if the format is another one. */
export function bytecodeSizes(binary: string): Map<string, number> {
  const file = readFileSync(binary);
  const end = file.lastIndexOf(TRAILER);
  const length = Number(file.readBigUInt64LE(end - OFFSETS_BYTES));
  // All places are counted from the begin of the section.
  const begin = end - OFFSETS_BYTES - length;
  const [list, size] = [file.readUInt32LE(end - OFFSETS_BYTES + 8), file.readUInt32LE(end - OFFSETS_BYTES + 12)];
  const sizes = new Map<string, number>();
  for (let at = begin + list; at < begin + list + size; at += MODULE_BYTES) {
    const name = begin + file.readUInt32LE(at + NAME_AT);
    const path = file.toString("utf8", name, name + file.readUInt32LE(at + NAME_AT + 4));
    if (!path.startsWith("/$bunfs/"))
      throw new Error("The binary's list of modules has another format than Bun 1.4's.");
    sizes.set(path, file.readUInt32LE(at + BYTECODE_AT + 4));
  }
  return sizes;
}
