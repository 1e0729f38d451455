// Asks /healthz every 5 ms in a process of its own: bun prober.ts <origin> <pid of the service>. Answers each message with the
// longest time in ms since the last one. Time in which a thread was ready but had no processor doesn't count (Linux), since
// other work on the machine causes it.

import { readFileSync } from "node:fs";

const EVERY_MS = 5;
const [origin, pid] = Bun.argv.slice(2);

/** Milliseconds that the main threads of the service and of this process have waited for a processor. */
function waited(): number {
  const threads = [`/proc/${pid}/task/${pid}/schedstat`, `/proc/self/task/${process.pid}/schedstat`];
  return threads.reduce((sum, path) => sum + Number(readFileSync(path, "utf8").split(" ")[1]) / 1e6, 0);
}

let longest = 0;
process.on("message", () => {
  process.send?.(longest);
  longest = 0;
});

for (;;) {
  const [at, before] = [performance.now(), waited()];
  await (await fetch(`${origin}/healthz`)).text();
  longest = Math.max(longest, performance.now() - at - (waited() - before));
  await Bun.sleep(EVERY_MS);
}
