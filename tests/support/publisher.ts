// An RTMP 1.0 publisher that sends bytes directly, for input that no encoder would send.

import type { Socket } from "bun";
import { eventually } from "./eventually.ts";

export interface RawPublisher extends AsyncDisposable {
  send(...parts: (Uint8Array | number[])[]): void;
  /** Performs the handshake (C0, C1, C2); resolves after S0, S1 and S2 arrived. */
  handshake(): Promise<void>;
  /** Performs the handshake and the commands up to `publish` with this key. */
  requestPublish(key: string): Promise<void>;
  /** All bytes received so far, as Latin-1 text, so that status codes can be found in it. */
  received(): string;
  readonly isOpen: boolean;
  /** Resolves when the server has closed the connection. */
  readonly closed: Promise<void>;
}

const HANDSHAKE = 1536;

export async function connectRaw(port: number): Promise<RawPublisher> {
  let received = Buffer.alloc(0);
  let isOpen = true;
  const closed = Promise.withResolvers<void>();
  const over = () => {
    isOpen = false;
    closed.resolve();
  };
  let unsent: Uint8Array = new Uint8Array();
  const flush = (socket: Socket<undefined>) => {
    if (isOpen) unsent = unsent.subarray(Math.max(0, socket.write(unsent)));
  };
  const socket = await Bun.connect<undefined>({
    hostname: "127.0.0.1",
    port,
    socket: {
      data: (_, bytes) => {
        received = Buffer.concat([received, bytes]);
      },
      drain: flush,
      close: over,
      end: over,
      error: over,
    },
  });
  const send = (...parts: (Uint8Array | number[])[]) => {
    unsent = Buffer.concat([unsent, ...parts.map((part) => Buffer.from(part))]);
    flush(socket);
  };
  const waitFor = (what: string) =>
    eventually(() => received.includes(what) || !isOpen, { timeoutMs: 15_000, what: `${what} is heard` });

  const publisher: RawPublisher = {
    send,
    async handshake() {
      send([3], new Uint8Array(HANDSHAKE));
      await eventually(() => received.length >= 1 + 2 * HANDSHAKE || !isOpen, {
        timeoutMs: 15_000,
        what: "S0, S1, S2",
      });
      send(new Uint8Array(HANDSHAKE));
    },
    async requestPublish(key) {
      await publisher.handshake();
      send(command("connect", 1, { app: "live", tcUrl: "rtmp://127.0.0.1/live" }));
      await waitFor("NetConnection.Connect.Success");
      send(command("createStream", 2, null), command("publish", 3, null, key, "live"));
      await waitFor("NetStream.Publish");
    },
    received: () => received.toString("latin1"),
    get isOpen() {
      return isOpen;
    },
    closed: closed.promise,
    async [Symbol.asyncDispose]() {
      socket.terminate();
    },
  };
  return publisher;
}

/** A command message (type 20, §7.2.1) in one chunk, after a message that sets a large enough chunk size. */
export function command(...values: unknown[]): Uint8Array {
  const body = Buffer.concat(values.map(amf));
  return Buffer.concat([setChunkSize(65_536), message(20, body)]);
}

export const setChunkSize = (size: number) => message(1, Buffer.from(Uint32Array.of(size).buffer).swap32(), 2);

/** A message with a full header (§5.3.1.2.1). `length` may differ from the real length. */
export function message(type: number, body: Uint8Array, chunkStream = 3, length = body.length, clock = 0): Buffer {
  const header = Buffer.alloc(12);
  header[0] = chunkStream;
  header.writeUIntBE(clock, 1, 3);
  header.writeUIntBE(length, 4, 3);
  header[7] = type;
  header.writeUInt32LE(1, 8);
  return Buffer.concat([header, body]);
}

/** Encodes AMF 0, as far as commands need it. */
function amf(value: unknown): Buffer {
  if (typeof value === "number") {
    const bytes = Buffer.alloc(9);
    bytes.writeDoubleBE(value, 1);
    return bytes;
  }
  if (typeof value === "string") return Buffer.concat([Buffer.from([2]), named(value)]);
  if (value === null || typeof value !== "object") return Buffer.from([5]);
  const fields = Object.entries(value).flatMap(([name, field]) => [named(name), amf(field)]);
  return Buffer.concat([Buffer.from([3]), ...fields, Buffer.from([0, 0, 9])]);
}

function named(text: string): Buffer {
  const size = Buffer.alloc(2);
  size.writeUInt16BE(Buffer.byteLength(text));
  return Buffer.concat([size, Buffer.from(text)]);
}
