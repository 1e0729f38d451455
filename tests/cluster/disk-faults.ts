// What may happen to the disks of machines and of NATS' servers: they are slow, or full. Needs root and strace, which holds system calls back.
import { type Child, launch } from "../support/process.ts";
import { type Fault, type FaultDeps, settled } from "./faults.ts";
import { processOf } from "./processes.ts";

/** What a program waits for its disk in. */
const WRITES = "fsync,fdatasync,pwrite64,pwritev,pwritev2";

/** Makes each write of a process to its disk wait, for a while. */
async function slowDown(pid: number, { random }: FaultDeps): Promise<void> {
  const delayMs = random.pick([5, 50, 400]);
  const tracer = launch({
    command: [
      ...["/usr/bin/strace", "--quiet=all", "-f", "-p", String(pid), "-e", `trace=${WRITES}`],
      ...["-e", `inject=${WRITES}:delay_enter=${delayMs * 1_000}`, "-o", "/dev/null"],
    ],
    env: {},
    dir: "/",
  });
  await Promise.race([Bun.sleep(random.integer(2_000, 15_000)), tracer.exited]);
  await letGo(tracer);
}

/** By SIGINT it leaves the process as it found it. */
async function letGo(tracer: Child): Promise<void> {
  if (!tracer.running) throw new Error(`strace ended: ${tracer.output().stderr}`);
  tracer.signal("SIGINT");
  await tracer.exited;
}

export const DISK_FAULTS: readonly Fault[] = [
  {
    name: "make the disk of a cell's owner slow",
    weight: 3,
    async run(deps) {
      const cell = deps.random.integer(0, deps.cells - 1);
      const pid = await processOf(await deps.cluster.owner(cell), cell);
      const ended = deps.interrupt();
      await slowDown(pid, deps);
      ended();
    },
  },
  {
    name: "make the disk of a server of NATS slow",
    weight: 3,
    async run(deps) {
      const ended = deps.interrupt();
      await slowDown(deps.random.pick(deps.cluster.nats.servers).pid, deps);
      ended();
    },
  },
  {
    // NATS does without the server's JetStream then, until the server is started again.
    name: "fill the disk of a server of NATS, make room and start it again",
    weight: 2,
    async run(deps) {
      const { cluster, random, interrupt } = deps;
      const server = random.pick(cluster.nats.servers);
      if (!server.disk) throw new Error("The servers of NATS have no disks of their own.");
      const ended = interrupt();
      await server.disk.fill();
      await Bun.sleep(random.integer(1_000, 15_000));
      await server.kill(random.pick(["SIGTERM", "SIGKILL"]));
      server.disk.free();
      await server.start();
      await settled(deps);
      ended();
    },
  },
];
