// Reads many server-sent event streams at once as raw bytes, in a separate process: bodies and times to the first frame.

import { parseArgs } from "node:util";
import { bun } from "../../tests/support/process.ts";
import { quantile } from "./figures.ts";
import { type Ask, wire } from "./load.ts";

export interface Streams {
  /** The distinct bodies and how many streams had each: one entry if all are equal. */
  bodies: { text: string; count: number }[];
  /** Milliseconds from the request to the first byte of the first frame. */
  p50: number;
  p99: number;
}

/** Opens `count` streams at once in a separate process and reads them to their end. */
export async function readStreams(origin: string, ask: Ask, count: number): Promise<Streams> {
  const command = [bun, import.meta.path, "--origin", origin, "--count", String(count), "--ask", JSON.stringify(ask)];
  const child = Bun.spawn(command, { stdout: "pipe", stderr: "inherit", timeout: 30_000 });
  const text = await child.stdout.text();
  if ((await child.exited) !== 0) throw new Error("The reader of streams failed, or did not end within 30 s.");
  return JSON.parse(text) as Streams;
}

interface Stream {
  firstAt: number;
  body: string;
}

async function readOne(origin: string, bytes: Buffer): Promise<Stream> {
  const { hostname, port } = new URL(origin);
  const parts: Buffer[] = [];
  let firstAt = 0;
  let sentAt = 0;
  await new Promise<void>((resolve, reject) => {
    const look = (data: Buffer) => {
      parts.push(Buffer.from(data));
      if (firstAt === 0 && data.includes("data: ")) firstAt = performance.now();
      if (data.subarray(-5).equals(Buffer.from("0\r\n\r\n"))) resolve();
    };
    Bun.connect({
      hostname,
      port: Number(port),
      socket: {
        open(socket) {
          sentAt = performance.now();
          socket.write(bytes);
        },
        data: (_, data) => look(data),
        close: () => resolve(),
        error: (_, error) => reject(error),
      },
    }).catch(reject);
  });
  return { firstAt: firstAt - sentAt, body: bodyOf(Buffer.concat(parts)) };
}

/** The body of a chunked response (RFC 9112 §7.1); any response but a complete 200 is returned unchanged. */
function bodyOf(answer: Buffer): string {
  const start = answer.indexOf("\r\n\r\n") + 4;
  if (!answer.toString("latin1", 0, start).startsWith("HTTP/1.1 200")) return answer.toString();
  const parts: Buffer[] = [];
  for (let at = start; at < answer.length; ) {
    const line = answer.indexOf("\r\n", at);
    const size = Number.parseInt(answer.toString("latin1", at, line), 16);
    if (size === 0) return Buffer.concat(parts).toString();
    parts.push(answer.subarray(line + 2, line + 2 + size));
    at = line + 2 + size + 2;
  }
  return `[cut] ${Buffer.concat(parts)}`;
}

if (import.meta.main) {
  const { values } = parseArgs({
    args: Bun.argv.slice(2),
    options: { origin: { type: "string" }, count: { type: "string" }, ask: { type: "string" } },
  });
  const { origin = "", count = "1", ask = "{}" } = values;
  const bytes = wire(JSON.parse(ask) as Ask, origin);
  const streams = await Promise.all(Array.from({ length: Number(count) }, () => readOne(origin, bytes)));
  const bodies = new Map<string, number>();
  for (const { body } of streams) bodies.set(body, (bodies.get(body) ?? 0) + 1);
  const first = streams.map(({ firstAt }) => firstAt);
  const found: Streams = {
    bodies: [...bodies].map(([text, count]) => ({ text, count })),
    p50: quantile(first, 0.5),
    p99: quantile(first, 0.99),
  };
  process.stdout.write(JSON.stringify(found));
  // Exit explicitly, since the servers keep the connections open.
  process.exit(0);
}
