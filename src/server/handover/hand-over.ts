// Replaces this process by a program that goes on with its sockets: the same process id, and not one connection is refused or reset.
//
// 1. It waits, for at most the grace period, for a moment without a response under way.
// 2. New connections and requests wait in the system from then on.
// 3. What is left ends: streams, turns in flight, jobs, the database.
// 4. It executes the program, which inherits the listeners and the idle connections.
import { version } from "../../../package.json";
import type { Environment } from "../../kernel/config/config.ts";
import { openEventStreams } from "../../kernel/http/sse-streams.ts";
import type { Listener } from "../connections/listener.ts";
import { type Freeze, freeze } from "./freeze.ts";
import { INHERITED_VARIABLE, type Inherited } from "./inherited.ts";
import { openSystem, peerKey, type System } from "./system.ts";

export interface HandOver {
  listeners: readonly Pick<Listener, "name" | "host" | "port" | "server" | "webSockets">[];
  /** The most milliseconds that responses under way may take. */
  graceMs: number;
  /** Ends what is left. `untilAnswered` waits for the last responses. */
  end(untilAnswered: () => Promise<void>): Promise<void>;
  program: Program;
}

export interface Program {
  file: string;
  args: readonly string[];
  env: Environment;
}

/** Milliseconds that requests wait while it is tried whether all responses end. */
const TRY_MS = 20;
/** Milliseconds between two tries. */
const BETWEEN_TRIES_MS = 100;
/** Milliseconds for responses that were cut off. */
const LAST_RESPONSES_MS = 300;

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** Does not return, unless the program can't be executed; then nothing is served any more. */
export async function handOver({ listeners, graceMs, end, program }: HandOver): Promise<never> {
  const system = await openSystem();
  const ports = new Set(listeners.map(({ port }) => port));
  /** Requests without a response; streams of events end only when the service does. */
  const underWay = () => listeners.reduce((sum, { server }) => sum + server.pendingRequests, 0);
  const answered = async (most: () => number, ms: number) => {
    const until = performance.now() + ms;
    while (underWay() > most() && performance.now() < until) await pause(1);
    return underWay() <= most();
  };

  // They close while the service ends, but their connections stay open for a moment.
  const webSockets = new Set<string>();
  const noteWebSockets = () => {
    for (const { webSockets: sessions } of listeners)
      for (const { peer } of sessions) if (peer) webSockets.add(peerKey(peer.address, peer.port));
  };

  const frozen = system && (await untilQuiet(system, ports, graceMs, () => answered(openEventStreams, TRY_MS)));
  const since = Date.now();
  noteWebSockets();
  for (const { descriptor, peer } of frozen?.sockets() ?? []) if (peer === undefined) system?.lengthenQueue(descriptor);
  await end(async () => void (await answered(() => 0, LAST_RESPONSES_MS)));
  // Each connection is in the middle of nothing, if there is no response under way. Else it is not known which ones are.
  const isQuiet = underWay() === 0;
  frozen?.again();
  const sockets = frozen?.sockets() ?? [];
  const inherited: Inherited = {
    from: version,
    since,
    ended: Date.now(),
    listeners: listeners.flatMap(({ name, host, port }) => {
      const own = sockets.filter(({ localPort }) => localPort === port);
      const listening = own.find(({ peer }) => peer === undefined)?.descriptor;
      const idle = isQuiet ? own.filter(({ peer }) => peer !== undefined && !webSockets.has(peer)) : [];
      const connections = idle.map(({ descriptor }) => descriptor);
      return listening === undefined ? [] : [{ name, host, port, listening, connections }];
    }),
  };
  const kept = inherited.listeners.flatMap(({ listening, connections }) => [listening, ...connections]);
  const env = { ...program.env, ...(kept.length > 0 && { [INHERITED_VARIABLE]: JSON.stringify(inherited) }) };
  if (system) system.execute(program.file, program.args, env, kept);
  else process.execve?.(program.file, program.args, env);
  throw new Error(`${program.file} can't be executed. Start it anew.`);
}

/** Returns with requests held, once there is a moment without a response under way, or the time is over. */
async function untilQuiet(
  system: System,
  ports: ReadonlySet<number>,
  graceMs: number,
  allAnswered: () => Promise<boolean>,
): Promise<Freeze> {
  const deadline = performance.now() + graceMs;
  for (;;) {
    const frozen = freeze(system, ports);
    if ((await allAnswered()) || performance.now() >= deadline) return frozen;
    frozen.end();
    await pause(BETWEEN_TRIES_MS);
  }
}
