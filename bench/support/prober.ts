// Asks /healthz every 5 ms in a process of its own: bun prober.ts <origin> <pid of the service>. Answers each message with what
// it has measured since the last one. `longest` leaves out the time in which a thread was ready but had no processor (Linux), since
// other work on the machine causes it; the quantile is by the clock, as people wait.

import { readFileSync } from "node:fs";
import { quantile } from "./figures.ts";
import type { Probed } from "./stalls.ts";

const EVERY_MS = 5;
const [origin, pid] = Bun.argv.slice(2);

/** Milliseconds that the main threads of the service and of this process have waited for a processor. */
function waited(): number {
  const threads = [`/proc/${pid}/task/${pid}/schedstat`, `/proc/self/task/${process.pid}/schedstat`];
  return threads.reduce((sum, path) => sum + Number(readFileSync(path, "utf8").split(" ")[1]) / 1e6, 0);
}

let longest = 0;
let times: number[] = [];
process.on("message", () => {
  const probed: Probed = { longest, p99: quantile(times, 0.99), count: times.length };
  process.send?.(probed);
  longest = 0;
  times = [];
});

for (;;) {
  const [at, before] = [performance.now(), waited()];
  await (await fetch(`${origin}/healthz`)).text();
  const took = performance.now() - at;
  times.push(took);
  longest = Math.max(longest, took - (waited() - before));
  await Bun.sleep(EVERY_MS);
}
