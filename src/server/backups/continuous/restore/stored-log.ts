// Finds the segments of a chain in a place, one after the other, and says to which moments they lead.

import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isPackName, type LogFile, parseLogName } from "../../../../../plugins/fleet/backups/log-names.ts";
import type { LogPlace } from "../../manifest.ts";
import type { BackupStorage } from "../../place/storage.ts";

/** From and to: epoch ms, each included. */
export interface Span {
  from: number;
  to: number;
}

export const parseLogNames = (names: readonly string[]): LogFile[] => names.flatMap((name) => parseLogName(name) ?? []);

const isOf = (place: Pick<LogPlace, "cell" | "chain">) => (file: LogFile) =>
  file.cell === place.cell && file.chain === place.chain;

/** The file that has a segment. Of two, the later one: the first was stored by a process that was killed before it noted that. */
const fileWith = (files: readonly LogFile[], number: number) =>
  files.filter(({ first, last }) => first <= number && number <= last).sort((a, b) => b.at - a.at)[0];

/** The moments that can be restored by backups with places in logs, oldest first. */
export function restorableSpans(places: readonly (readonly LogPlace[])[], files: readonly LogFile[]): Span[] {
  const spans = places
    .map((cells) => ({
      from: Math.max(...cells.map(({ at }) => at)),
      to: Math.max(...cells.map((place) => endOf(place, files.filter(isOf(place))))),
    }))
    .sort((a, b) => a.from - b.from);
  const joined: Span[] = [];
  for (const span of spans) {
    const last = joined.at(-1);
    if (last && span.from <= last.to) last.to = Math.max(last.to, span.to);
    else joined.push({ ...span });
  }
  return joined;
}

function endOf({ number, at }: LogPlace, files: readonly LogFile[]): number {
  let [end, next] = [at, number + 1];
  for (let file = fileWith(files, next); file; file = fileWith(files, next))
    [end, next] = [Math.max(end, file.at), file.last + 1];
  return end;
}

export interface StoredSegment {
  number: number;
  at: number;
  address: string;
  /** A small one as a whole. */
  open(): Promise<Uint8Array | ReadableStream<Uint8Array>>;
}

/** Up to this size, a segment is read as a whole. */
const SMALL_BYTES = 1024 * 1024;
/** So many small ones are fetched at the same time: a place may be far away. */
const AHEAD = 8;

/**
 * The segments after a place. `missing`: the first that is not there although later ones are.
 *
 * @param folder for the segments of a pack, as long as they are read
 */
export async function* segmentsAfter(
  storage: BackupStorage,
  place: LogPlace,
  folder: string,
): AsyncGenerator<StoredSegment | { missing: number }, void> {
  const listed = await storage.list();
  const files = parseLogNames(listed.map(({ name }) => name)).filter(isOf(place));
  const sizes = new Map(listed.map(({ name, bytes }) => [name, bytes]));
  const small = files
    .filter(({ name, first }) => !isPackName(name) && first > place.number && (sizes.get(name) ?? 0) <= SMALL_BYTES)
    .sort((a, b) => a.first - b.first);
  const readSmall = createReadAhead(
    storage,
    small.map(({ name }) => name),
  );
  const newest = Math.max(0, ...files.map(({ last }) => last));
  for (let number = place.number + 1; number <= newest; ) {
    const file = fileWith(files, number);
    if (!file) return yield { missing: number };
    if (!isPackName(file.name)) {
      const open = () => readSmall(file.name) ?? read(storage, file.name);
      yield { number, at: file.at, address: storage.addressOf(file.name), open };
      number++;
      continue;
    }
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    try {
      await unpack(await read(storage, file.name), folder);
      const packed = parseLogNames(readdirSync(folder)).sort((a, b) => a.first - b.first);
      for (const { name, first, at } of packed.filter(({ first }) => first >= number)) {
        if (first !== number) return yield { missing: number };
        const address = `${name} in ${storage.addressOf(file.name)}`;
        yield { number, at, address, open: async () => readStored(join(folder, name)) };
        number++;
      }
      if (number <= file.last) return yield { missing: number };
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }
}

/** Undefined for a name that is not one of them. */
function createReadAhead(storage: BackupStorage, names: readonly string[]) {
  const begun = new Map<string, Promise<Uint8Array>>();
  const places = new Map(names.map((name, at) => [name, at]));
  const begin = (name: string): Promise<Uint8Array> => {
    const bytes = storage.readListed(name);
    // Who wants it gets the error.
    bytes.catch(() => undefined);
    return bytes;
  };
  return (name: string): Promise<Uint8Array> | undefined => {
    const at = places.get(name);
    if (at === undefined) return undefined;
    const wanted = begun.get(name) ?? begin(name);
    for (const next of names.slice(at + 1, at + AHEAD)) if (!begun.has(next)) begun.set(next, begin(next));
    begun.delete(name);
    return wanted;
  };
}

const readStored = (path: string) =>
  statSync(path).size <= SMALL_BYTES ? readFileSync(path) : Bun.file(path).stream();

async function read(storage: BackupStorage, name: string): Promise<ReadableStream<Uint8Array>> {
  const file = await storage.read(name);
  if (!file) throw new Error("it was deleted meanwhile");
  return file.body;
}

/** Only segments: a pack may have been changed on its way. */
async function unpack(bytes: ReadableStream<Uint8Array>, folder: string): Promise<void> {
  const { createTarDecoder } = await import("modern-tar");
  for await (const { header, body } of bytes.pipeThrough(createTarDecoder({ strict: true }))) {
    const target = join(folder, header.name);
    if (!parseLogName(header.name)) await body.cancel();
    else if (header.size > SMALL_BYTES) await Bun.write(target, new Response(body));
    else writeFileSync(target, await new Response(body).bytes());
  }
}
