// Puts many segments of a chain into one file as they are, so that a place has few files. It needs no key: they stay encrypted.

import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { isPackName, type LogFile, packName, parseLogName } from "../../../../plugins/fleet/backups/log-names.ts";
import type { BackupStorage } from "../place/storage.ts";

/** Of segments; with one every five seconds, a pack has those of eight minutes. */
export const PACKED_FROM = 100;

/**
 * Packs the segments of a chain, and deletes those that are in a pack, also in one of a killed process.
 *
 * @returns how many are left
 */
export async function packSegments(
  storage: BackupStorage,
  folder: string,
  { cell, chain, last }: Pick<LogFile, "cell" | "chain" | "last">,
): Promise<number> {
  const stored = (await storage.list())
    .flatMap(({ name }) => parseLogName(name) ?? [])
    .filter((file) => file.cell === cell && file.chain === chain && file.last <= last)
    .sort((a, b) => a.first - b.first);
  const packs = stored.filter(({ name }) => isPackName(name));
  const segments = stored.filter(({ name }) => !isPackName(name));
  const isPacked = ({ first }: LogFile) => packs.some((pack) => pack.first <= first && first <= pack.last);
  for (const { name } of segments.filter(isPacked)) await storage.remove(name);
  const loose = segments.filter((file) => !isPacked(file));
  const [oldest, newest] = [loose[0], loose.at(-1)];
  // With a gap, they are left for the restore to name it.
  if (!oldest || !newest || loose.length < PACKED_FROM || newest.last - oldest.first + 1 !== loose.length)
    return loose.length;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  try {
    let bytes = 0;
    for (const { name } of loose) {
      const file = await storage.read(name);
      // The retention of backups deletes old ones meanwhile.
      if (!file) return loose.length;
      bytes += await Bun.write(join(folder, name), new Response(file.body));
    }
    const { packTar } = await import("modern-tar/fs");
    await storage.write(packName({ ...newest, first: oldest.first }), packTar(folder), bytes);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  for (const { name } of loose) await storage.remove(name);
  return 0;
}
