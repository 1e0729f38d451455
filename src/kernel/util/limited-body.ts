// Reads bodies up to a limit of bytes, and those of requests within limits of time, so that no sender can fill the memory
// or hold a connection.
import { AppError } from "../errors.ts";
import { SECOND } from "./time.ts";

/** How slowly a request's body may arrive. */
export interface BodyPace {
  /** Milliseconds without a judgement; the rate is measured over each such period. */
  periodMs: number;
  /** The least rate within each period. */
  bytesPerSecond: number;
  /** Milliseconds for the whole body, however much is allowed. */
  totalMs: number;
  /** The least rate of large bodies, which may take longer in total. */
  largeBytesPerSecond: number;
}

const PACE: BodyPace = {
  periodMs: 10 * SECOND,
  bytesPerSecond: 1024,
  totalMs: 30 * SECOND,
  largeBytesPerSecond: 64 * 1024,
};

/** Bodies up to this declared size are read in one step, which takes a third of the time. */
const ONE_STEP_BYTES = 64 * 1024;

/**
 * Returns the bytes of a response's body; undefined when they are more than `limit`. A body without a length is measured
 * while it is read. The caller's signal limits the time.
 */
export async function readLimitedBody(body: Response, limit: number): Promise<Uint8Array | undefined> {
  const length = declaredLength(body);
  if (length !== undefined && length > limit) return undefined;
  // A body of a known length ends there by HTTP itself.
  if (length !== undefined && body.headers.get("content-encoding") === null) {
    const bytes = new Uint8Array(await body.arrayBuffer());
    return bytes.byteLength > limit ? undefined : bytes;
  }
  return readChunks(body, limit, () => undefined);
}

/**
 * Returns the bytes of a request's body; undefined when they are more than `limit`. Throws 408 `BODY_TIMEOUT`, which
 * closes the connection, when the body arrives more slowly than `pace`.
 */
export async function readRequestBody(
  request: Request,
  limit: number,
  pace: BodyPace = PACE,
): Promise<Uint8Array | undefined> {
  const length = declaredLength(request);
  if (length !== undefined && length > limit) return undefined;
  if (length !== undefined && length <= ONE_STEP_BYTES) {
    return readAtOnce(request, Math.min(pace.totalMs, pace.periodMs + (length / pace.bytesPerSecond) * SECOND));
  }
  const { promise: timeout, reject } = Promise.withResolvers<never>();
  const totalMs = Math.max(pace.totalMs, (limit / pace.largeBytesPerSecond) * SECOND);
  const minimum = (pace.bytesPerSecond * pace.periodMs) / SECOND;
  let received = 0;
  let elapsedMs = 0;
  const timer = setInterval(() => {
    elapsedMs += pace.periodMs;
    if (received < minimum || elapsedMs >= totalMs) reject(bodyTimeout());
    received = 0;
  }, pace.periodMs);
  const bytes = readChunks(request, limit, (count) => {
    received += count;
  });
  return Promise.race([bytes, timeout]).finally(() => clearInterval(timer));
}

/** With one promise, since a race makes five, and this runs for nearly every request that has a body. */
function readAtOnce(request: Request, ms: number): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(bodyTimeout()), ms);
    request.arrayBuffer().then(
      (buffer) => {
        clearTimeout(timer);
        resolve(new Uint8Array(buffer));
      },
      (error: unknown) => {
        clearTimeout(timer);
        reject(error);
      },
    );
  });
}

function declaredLength({ headers }: Request | Response): number | undefined {
  const length = headers.get("content-length");
  return length === null ? undefined : Number(length);
}

/** A larger body gets memory for its whole length with the first chunk, because doubling would copy the bytes that have come. The system backs only the pages that are written. */
const DOUBLED_BYTES = 1024 * 1024;

/**
 * Stops as soon as the body is too large. Each chunk is copied when it comes, into room that doubles: to join those of 32 MiB at the end
 * takes 30 ms. Before the first chunk there is no room, so that headers alone fill no memory.
 */
async function readChunks(
  message: Request | Response,
  limit: number,
  onChunk: (bytes: number) => void,
): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const declared = declaredLength(message) ?? 0;
  const most = declared > 0 && declared <= limit ? declared : limit;
  let bytes = new Uint8Array(0);
  let size = 0;
  for await (const chunk of message.body ?? []) {
    onChunk(chunk.byteLength);
    const end = size + chunk.byteLength;
    if (end > limit) return undefined;
    if (end > bytes.length) {
      const room = declared > DOUBLED_BYTES ? most : Math.min(most, 2 * bytes.length);
      const larger = new Uint8Array(Math.max(end, room));
      larger.set(bytes.subarray(0, size));
      bytes = larger;
    }
    bytes.set(chunk, size);
    size = end;
  }
  return size === bytes.length ? bytes : bytes.slice(0, size);
}

const bodyTimeout = () => {
  const text = "The body arrived too slowly. Send it again over a faster connection.";
  return new AppError(408, "BODY_TIMEOUT", text, {}, { headers: { connection: "close" } });
};
