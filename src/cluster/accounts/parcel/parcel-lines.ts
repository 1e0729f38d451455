// Reads a parcel line by line.
import { createPacer } from "../../../kernel/util/pacing.ts";
import { fromText, type ParcelHeader } from "./parcel.ts";

export async function readHeader(path: string): Promise<ParcelHeader> {
  for await (const { line } of linesOf(path)) return line as ParcelHeader;
  throw new Error("The parcel is empty.");
}

/** The lines of a parcel, and where each ends. Other work of the process goes on in between. */
export async function* linesOf(path: string): AsyncGenerator<{ line: unknown; end: number }> {
  let rest = Buffer.alloc(0);
  let end = 0;
  const pace = createPacer();
  for await (const part of Bun.file(path).stream()) {
    rest = rest.length === 0 ? Buffer.from(part) : Buffer.concat([rest, part]);
    let from = 0;
    for (let at = rest.indexOf(10); at >= 0; at = rest.indexOf(10, from)) {
      end += at + 1 - from;
      yield { line: fromText(rest.toString("utf8", from, at)), end };
      from = at + 1;
      await pace();
    }
    rest = rest.subarray(from);
  }
}
