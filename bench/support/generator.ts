// The program behind load(): reads a plan from standard input, runs it, writes the outcomes. It uses raw sockets, since fetch
// would cost more than the measured work.

import type { Socket } from "bun";
import { median, quantile } from "./figures.ts";
import { type Outcome, type Plan, type Stage, wire } from "./load.ts";
import { cpuOf } from "./process-usage.ts";

/** How long a round waits for its last responses, in ms. */
const PATIENCE = 20_000;

interface Connection {
  socket: Socket<undefined> | undefined;
  asks: Buffer[];
  turn: number;
  sentAt: number;
  /** The received part of a response. */
  rest: Buffer | undefined;
  answered(status: number, latency: number): void;
}

interface Round {
  latencies: number[];
  seconds: number;
  /** Processor time in ms of each process. */
  cpu: number[];
}

const headEnd = Buffer.from("\r\n\r\n");
const lastChunk = Buffer.from("0\r\n\r\n");

/** The status once the response is complete. A connection has one open request, so no bytes can follow. */
function complete(bytes: Buffer): number | undefined {
  const end = bytes.indexOf(headEnd);
  if (end < 0) return undefined;
  const head = bytes.toString("latin1", 0, end);
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
  const whole =
    length !== undefined
      ? bytes.length >= end + 4 + Number(length)
      : /\r\ntransfer-encoding: *chunked/i.test(head)
        ? bytes.subarray(-5).equals(lastChunk)
        : true;
  return whole ? Number(head.slice(9, 12)) : undefined;
}

function send(connection: Connection): void {
  const bytes = connection.asks[connection.turn++ % connection.asks.length];
  if (!bytes) throw new Error("A connection has no request to send.");
  connection.sentAt = performance.now();
  const written = connection.socket?.write(bytes);
  if (written !== bytes.length) throw new Error("A request did not fit into the socket.");
}

async function connect(stage: Stage): Promise<Connection[]> {
  const { hostname, port } = new URL(stage.origin);
  const asks = stage.asks.map((ask) => wire(ask, stage.origin));
  const open = async (index: number) => {
    const own = asks.filter((_, at) => at % stage.connections === index % asks.length);
    const used = own.length > 0 ? own : asks;
    const connection: Connection = {
      socket: undefined,
      asks: used,
      // Anywhere: if each of many short loads began at the first one, its conversation would get long.
      turn: Math.floor(Math.random() * used.length),
      sentAt: 0,
      rest: undefined,
      answered: () => undefined,
    };
    connection.socket = await Bun.connect({
      hostname,
      port: Number(port),
      socket: {
        data(_, data) {
          const bytes = connection.rest ? Buffer.concat([connection.rest, data]) : data;
          const status = complete(bytes);
          connection.rest = status === undefined ? Buffer.from(bytes) : undefined;
          if (status !== undefined) connection.answered(status, performance.now() - connection.sentAt);
        },
        close: () => fail(`${stage.name}: a connection was closed.`),
        error: (_, error) => fail(`${stage.name}: ${error.message}`),
      },
    });
    return connection;
  };
  return Promise.all(Array.from({ length: stage.connections }, (_, index) => open(index)));
}

function round(stage: Stage, connections: Connection[], statuses: Record<string, number>): Promise<Round> {
  const { pids = [] } = stage;
  return new Promise((resolve) => {
    const latencies: number[] = [];
    const before = pids.map(cpuOf);
    const began = performance.now();
    const until = began + stage.seconds * 1000;
    let open = connections.length;
    let sent = 0;
    const late = setTimeout(() => fail(`${stage.name}: ${open} answers are missing.`), until - began + PATIENCE);
    const next = (connection: Connection) => {
      if (performance.now() < until && sent < (stage.atMost ?? Number.POSITIVE_INFINITY)) {
        sent++;
        send(connection);
        return;
      }
      if (--open > 0) return;
      clearTimeout(late);
      const seconds = (performance.now() - began) / 1000;
      resolve({ latencies, seconds, cpu: pids.map((pid, index) => cpuOf(pid) - (before[index] ?? 0)) });
    };
    for (const connection of connections) {
      connection.answered = (status, latency) => {
        statuses[status] = (statuses[status] ?? 0) + 1;
        latencies.push(latency);
        const wait = stage.everyMs === undefined ? 0 : stage.everyMs - latency;
        if (wait > 0) setTimeout(next, wait, connection);
        else next(connection);
      };
      next(connection);
    }
  });
}

function fail(why: string): never {
  process.stderr.write(`${why}\n`);
  process.exit(1);
}

async function run({ stages, rounds }: Plan): Promise<Record<string, Outcome>> {
  const targets = await Promise.all(
    stages.map(async (stage) => ({
      stage,
      connections: await connect(stage),
      statuses: {} as Record<string, number>,
      rounds: [] as Round[],
    })),
  );
  for (let n = 0; n <= rounds; n++) {
    const begin = n % targets.length;
    for (const { stage, connections, statuses, rounds } of [...targets.slice(begin), ...targets.slice(0, begin)]) {
      const found = await round(stage, connections, statuses);
      if (n > 0) rounds.push(found);
    }
  }
  return Object.fromEntries(
    targets.map(({ stage, statuses, rounds }) => [
      stage.name,
      {
        answers: Object.values(statuses).reduce((sum, count) => sum + count, 0),
        statuses,
        rate: median(rounds.map(({ latencies, seconds }) => latencies.length / seconds)),
        p50: median(rounds.map(({ latencies }) => median(latencies))),
        p99: median(rounds.map(({ latencies }) => quantile(latencies, 0.99))),
        max: Math.max(...rounds.map(({ latencies }) => quantile(latencies, 1))),
        rounds: rounds.map(({ latencies, seconds, cpu }) => ({
          rate: latencies.length / seconds,
          p50: median(latencies),
          cpu: cpu.map((time) => time / latencies.length),
        })),
      },
    ]),
  );
}

const outcomes = await run((await Bun.stdin.json()) as Plan);
process.stdout.write(JSON.stringify(outcomes));
process.exit(0);
