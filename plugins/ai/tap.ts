// Listens to an answer on its way to the client: counts what it used, and takes out the one frame nobody asked for.
import { type CallUsage, contentBytes, guessUsage, lastUsage } from "./usage.ts";

export interface Tap {
  /** What of this part, and of what was held back, goes to the client now. */
  push(part: Uint8Array): Uint8Array | undefined;
  /** What was still held back when the stream ended. */
  rest(): Uint8Array | undefined;
  /** What the answer used as far as it came. */
  usage(requestText: string): CallUsage;
}

/** Where usage is looked for at the end: the newest parts, this many bytes at least (more only if one part is larger). */
const TAIL_BYTES = 16 * 1024;
/** A frame larger than this is passed on as it comes. */
const MAX_HELD = 1024 * 1024;

/**
 * `hideUsage`: Berth asked for usage, the client did not; the frame that holds nothing else is taken out again. Only then
 * are parts held back, and only behind the last complete frame, which a client could do nothing with anyway.
 */
export function createTap(hideUsage: boolean): Tap {
  let tail: Buffer[] = [];
  let tailBytes = 0;
  let answered = 0;
  let held: Buffer | undefined;

  function remember(part: Buffer): void {
    answered += contentBytes(part);
    tail.push(part);
    tailBytes += part.length;
    while (tail.length > 1 && tailBytes - (tail[0]?.length ?? 0) >= TAIL_BYTES) tailBytes -= tail.shift()?.length ?? 0;
  }

  return {
    push(part) {
      const bytes = Buffer.from(part.buffer, part.byteOffset, part.byteLength);
      remember(bytes);
      if (!hideUsage) return part;
      const all = held ? Buffer.concat([held, bytes]) : bytes;
      const end = framesEnd(all);
      if (end === 0 && all.length > MAX_HELD) {
        held = undefined;
        return all;
      }
      held = end < all.length ? all.subarray(end) : undefined;
      return end === 0 ? undefined : withoutUsageFrames(all.subarray(0, end));
    },
    rest() {
      const last = held;
      held = undefined;
      return last && withoutUsageFrames(last);
    },
    usage(requestText) {
      const found = lastUsage(Buffer.concat(tail));
      tail = [];
      return found ? { ...found, estimated: false } : guessUsage(requestText, answered);
    },
  };
}

/** Just past the last blank line; 0 when no frame is complete. Line ends may be LF or CRLF (WHATWG HTML, 9.2.6). */
function framesEnd(bytes: Buffer): number {
  if (bytes.length >= 2 && bytes[bytes.length - 1] === 0x0a && bytes[bytes.length - 2] === 0x0a) return bytes.length;
  const plain = bytes.lastIndexOf("\n\n");
  const returned = bytes.lastIndexOf("\n\r\n");
  return Math.max(plain === -1 ? 0 : plain + 2, returned === -1 ? 0 : returned + 3);
}

function withoutUsageFrames(frames: Buffer): Buffer | undefined {
  if (!holdsUsage(frames)) return frames;
  const kept: Buffer[] = [];
  for (let at = 0; at < frames.length; ) {
    const end = frameEnd(frames, at);
    const frame = frames.subarray(at, end);
    if (!holdsUsage(frame) || !isUsageAlone(frame.toString())) kept.push(frame);
    at = end;
  }
  return kept.length === 0 ? undefined : Buffer.concat(kept);
}

/** A `"usage"` whose value is not null: many providers put a null into each frame once usage is asked for. */
function holdsUsage(bytes: Buffer): boolean {
  for (let at = bytes.indexOf('"usage"'); at !== -1; at = bytes.indexOf('"usage"', at)) {
    at += 7;
    while (bytes[at] === 0x20 || bytes[at] === 0x3a) at++;
    if (bytes[at] === 0x7b) return true;
  }
  return false;
}

function frameEnd(bytes: Buffer, from: number): number {
  const plain = bytes.indexOf("\n\n", from);
  const returned = bytes.indexOf("\n\r\n", from);
  if (plain === -1 && returned === -1) return bytes.length;
  if (returned === -1 || (plain !== -1 && plain < returned)) return plain + 2;
  return returned + 3;
}

function isUsageAlone(frame: string): boolean {
  const data = frame.split(/\r?\n/).flatMap((line) => (line.startsWith("data:") ? [line.slice(5)] : []));
  try {
    const value: unknown = JSON.parse(data.join("\n"));
    if (typeof value !== "object" || value === null || !("choices" in value)) return false;
    return Array.isArray(value.choices) && value.choices.length === 0;
  } catch {
    return false;
  }
}
