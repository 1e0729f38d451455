// Observes a response on its way to the client: extracts its token usage, and removes the usage frame that the client did not
// request.
import {
  type CallUsage,
  countContentBytes,
  estimateUsage,
  findLastUsage,
  findModel,
  type ReadCharge,
} from "../providers/token-usage.ts";

export interface UsageTap {
  /** Takes the next part of the body; returns the bytes that go to the client now. */
  push(part: Uint8Array): Uint8Array | undefined;
  /** Returns the bytes that were held back when the stream ended. */
  flush(): Uint8Array | undefined;
  /** The usage of the response as far as it arrived, and the model that the provider says has answered. Call it once. */
  result(requestText: string): { usage: CallUsage; answeredModel: string | undefined };
}

/** Bytes at the end of the body that are searched for usage; more only if the last part is larger. */
const TAIL_BYTES = 16 * 1024;
/** A larger frame is passed on as it arrives. */
const MAX_HELD_BYTES = 1024 * 1024;

/**
 * @param hideUsage Berth requested usage and the client did not, so the frame that holds only usage is removed. Only then are
 *   bytes held back: those after the last complete frame, which the client could not use yet.
 */
export function createUsageTap(hideUsage: boolean, readCharge?: ReadCharge): UsageTap {
  let tail: Buffer[] = [];
  let tailBytes = 0;
  let total = 0;
  let held: Buffer | undefined;

  function keepTail(part: Buffer): void {
    total += part.length;
    tail.push(part);
    tailBytes += part.length;
    while (tail.length > 1 && tailBytes - (tail[0]?.length ?? 0) >= TAIL_BYTES) tailBytes -= tail.shift()?.length ?? 0;
  }

  return {
    push(part) {
      const bytes = Buffer.from(part.buffer, part.byteOffset, part.byteLength);
      keepTail(bytes);
      if (!hideUsage) return part;
      const all = held ? Buffer.concat([held, bytes]) : bytes;
      const end = lastFrameEnd(all);
      if (end === 0 && all.length > MAX_HELD_BYTES) {
        held = undefined;
        return all;
      }
      held = end < all.length ? all.subarray(end) : undefined;
      return end === 0 ? undefined : withoutUsageFrames(all.subarray(0, end));
    },
    flush() {
      const last = held;
      held = undefined;
      return last && withoutUsageFrames(last);
    },
    result(requestText) {
      const end = tail.length === 1 && tail[0] ? tail[0] : Buffer.concat(tail);
      tail = [];
      const answeredModel = findModel(end);
      const found = findLastUsage(end, readCharge);
      if (found) return { usage: { ...found, estimated: false }, answeredModel };
      // Extrapolates the share of text in the tail to the whole body.
      const characters = end.length === 0 ? 0 : (countContentBytes(end) / end.length) * total;
      return { usage: estimateUsage(requestText, characters), answeredModel };
    },
  };
}

const LF = 0x0a;
const CR = 0x0d;
const BLANK = Buffer.from("\n\n");
const CRLF_BLANK = Buffer.from("\n\r\n");
const USAGE = Buffer.from('"usage"');

/** The offset after the last blank line; 0 if no frame is complete. Line ends may be LF or CRLF (WHATWG HTML, 9.2.6). */
function lastFrameEnd(bytes: Buffer): number {
  const { length } = bytes;
  if (length >= 2 && bytes[length - 1] === LF && bytes[length - 2] === LF) return length;
  const plain = bytes.lastIndexOf(BLANK);
  const returned = bytes.includes(CR) ? bytes.lastIndexOf(CRLF_BLANK) : -1;
  return Math.max(plain === -1 ? 0 : plain + 2, returned === -1 ? 0 : returned + 3);
}

/** The offset after the first blank line. */
function nextFrameEnd(bytes: Buffer, from: number): number {
  const plain = bytes.indexOf(BLANK, from);
  const returned = bytes.includes(CR) ? bytes.indexOf(CRLF_BLANK, from) : -1;
  if (plain === -1 && returned === -1) return bytes.length;
  return returned === -1 || (plain !== -1 && plain < returned) ? plain + 2 : returned + 3;
}

function withoutUsageFrames(frames: Buffer): Buffer | undefined {
  let kept: Buffer[] | undefined;
  let from = 0;
  for (let at = findUsage(frames, 0); at !== -1; ) {
    const start = Math.max(from, lastFrameEnd(frames.subarray(0, at)));
    const end = nextFrameEnd(frames, at);
    if (isUsageOnlyFrame(frames.toString("utf8", start, end))) {
      kept ??= [];
      kept.push(frames.subarray(from, start));
      from = end;
    }
    at = findUsage(frames, end);
  }
  if (!kept) return frames;
  kept.push(frames.subarray(from));
  const left = Buffer.concat(kept);
  return left.length > 0 ? left : undefined;
}

/** The offset of a `"usage"` with an object as value: many providers put a null into every frame if usage is requested. */
function findUsage(bytes: Buffer, from: number): number {
  for (let at = bytes.indexOf(USAGE, from); at !== -1; at = bytes.indexOf(USAGE, at + 1)) {
    let value = at + USAGE.length;
    while (bytes[value] === 0x20 || bytes[value] === 0x3a) value++;
    if (bytes[value] === 0x7b) return at;
  }
  return -1;
}

function isUsageOnlyFrame(frame: string): boolean {
  const data = frame.split(/\r?\n/).flatMap((line) => (line.startsWith("data:") ? [line.slice(5)] : []));
  try {
    const value: unknown = JSON.parse(data.join("\n"));
    if (typeof value !== "object" || value === null || !("choices" in value)) return false;
    return Array.isArray(value.choices) && value.choices.length === 0;
  } catch {
    return false;
  }
}
