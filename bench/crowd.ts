// Measures what people cost who are only there: idle sockets of agents' gateways, readers of the stream of events, and a storm of sign-ins.

import { PASSWORD } from "../tests/support/accounts.ts";
import type { Berth } from "../tests/support/berth.ts";
import { createClient } from "../tests/support/client.ts";
import { type Benchmark, type Figure, kib, mib, ms } from "./support/figures.ts";
import { memoryOf } from "./support/process-usage.ts";
import { type Owner, ownerOf, startService, startUpstream } from "./support/service.ts";
import { watchStalls } from "./support/stalls.ts";

const SOCKETS = 10_000;
const READERS = 1_000;
const AT_ONCE = 200;
const SIGN_INS = 200;
/** Idle, until the code is compiled, and again to be measured. */
const IDLE_MS = 10_000;
/** Of the p99 of the idle service. */
const GOAL = 2;
/** An account may have 20 streams of events. */
const ACCOUNTS = 60;
/** After connections, until their handshakes are collected. */
const SETTLE_MS = 5_000;

export const crowd: Benchmark = {
  name: "crowd",
  summary: `${SOCKETS.toLocaleString("en")} idle sockets, ${READERS.toLocaleString("en")} readers of events, ${SIGN_INS} sign-ins at once`,
  async run() {
    await using upstream = await startUpstream();
    // All connections come from one address, which a proxy in front of the service would have, too.
    const env = { TRUSTED_PROXIES: "127.0.0.1/32" };
    await using sockets = await startService(upstream, { env });
    await using readers = await startService(upstream, { env });
    await using signing = await startService(upstream);
    return [
      await memoryOfConnections("an idle WebSocket of an agent", sockets, SOCKETS, upgradeTo),
      await memoryOfConnections("a reader of /api/events", readers, READERS, readEvents),
      await signInStorm(signing),
    ];
  },
};

/** A request whose connection stays open, and the first line of its answer. */
type Opening = (owner: Owner, host: string) => { request: string; answer: string };

const head = (path: string, host: string, { headers }: Owner, more: readonly string[]) =>
  `${[`GET ${path} HTTP/1.1`, `host: ${host}`, `cookie: ${headers.cookie}`, ...more].join("\r\n")}\r\n\r\n`;

const upgradeTo: Opening = (owner, host) => ({
  request: head(`/agent/${owner.agentIds[0]}`, host, owner, [
    ...[`origin: http://${host}`, "connection: upgrade", "upgrade: websocket"],
    ...["sec-websocket-version: 13", `sec-websocket-key: ${Buffer.alloc(16, "berth").toString("base64")}`],
  ]),
  answer: "HTTP/1.1 101",
});
const readEvents: Opening = (owner, host) => ({
  request: head("/api/events", host, owner, ["accept: text/event-stream"]),
  answer: "HTTP/1.1 200",
});

/** Opens connections, and divides the memory that the service has gained by their number. */
async function memoryOfConnections(what: string, berth: Berth, count: number, opening: Opening): Promise<Figure> {
  const owners: Owner[] = [];
  for (let n = 0; n < ACCOUNTS; n++) owners.push(await ownerOf(berth, 1));
  const { hostname, port, host } = new URL(berth.web);
  let opened = 0;
  const open = () =>
    new Promise<Bun.Socket>((resolve, reject) => {
      const { request, answer } = opening(owners[opened++ % ACCOUNTS] as Owner, host);
      let isOpen = false;
      const closed = () => void (isOpen || reject(new Error(`${what}: a connection was closed.`)));
      void Bun.connect({
        hostname,
        port: Number(port),
        socket: {
          open: (socket) => void socket.write(request),
          data(socket, data) {
            if (isOpen) return;
            isOpen = true;
            if (data.toString().startsWith(answer)) resolve(socket);
            else reject(new Error(`${what}: ${data.toString().slice(0, 300)}`));
          },
          close: closed,
          error: closed,
        },
      }).catch(reject);
    });
  const connections: Bun.Socket[] = [];
  // The first ones load the code.
  for (let n = 0; n < AT_ONCE; n++) connections.push(await open());
  await Bun.sleep(SETTLE_MS);
  const before = memoryOf(berth.pid);
  for (let n = 0; n < count; n += AT_ONCE)
    connections.push(...(await Promise.all(Array.from({ length: AT_ONCE }, open))));
  await Bun.sleep(SETTLE_MS);
  const after = memoryOf(berth.pid);
  for (const connection of connections) connection.end();
  return {
    what: `memory of ${what}, ${count.toLocaleString("en")} of them`,
    figure: kib((after.rss - before.rss) / count),
    baseline: `${mib(before.rss)} with ${AT_ONCE} of them, ${mib(after.rss)} with all`,
    goal: "",
  };
}

/** The prober and the service are warm after the first round of idle probes. */
async function signInStorm(berth: Berth): Promise<Figure> {
  const people = Array.from({ length: 10 }, () => createClient(berth));
  for (const person of people) await person.signUp();
  // In a process of its own: 200 clients keep the event loop of this one busy.
  using watch = await watchStalls(berth);
  await Bun.sleep(IDLE_MS);
  await watch.probed();
  await Bun.sleep(IDLE_MS);
  const idle = await watch.probed();
  await Promise.all(
    Array.from({ length: SIGN_INS }, async (_, n) => {
      const email = people[n % people.length]?.account.email;
      const credentials = { email, password: PASSWORD };
      const { status } = await createClient(berth).post("/api/auth/callback/credentials", credentials);
      if (status !== 200) throw new Error(`A sign-in was answered with ${status}.`);
    }),
  );
  const busy = await watch.probed();
  return {
    what: `p99 of /healthz while ${SIGN_INS} people sign in at once, ${busy.count.toLocaleString("en")} probes`,
    ratio: busy.p99 / idle.p99,
    figure: ms(busy.p99),
    baseline: `${ms(idle.p99)} idle, ${idle.count.toLocaleString("en")} probes`,
    goal: `≤ ${GOAL}×`,
    met: busy.p99 <= GOAL * idle.p99,
  };
}
