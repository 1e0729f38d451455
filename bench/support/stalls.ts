// Watches how long a service keeps other requests waiting: a prober in a process of its own asks /healthz every 5 ms.
import { join } from "node:path";
import type { Berth } from "../../tests/support/berth.ts";
import { bun } from "../../tests/support/process.ts";
import { type Figure, ms } from "./figures.ts";

/** No request may hold the event loop for longer. */
const STALL_MS = 50;

export interface StallWatch extends Disposable {
  /** The longest answer in ms since the last call. */
  longest(): Promise<number>;
  /** The figure of this longest answer, beside that of the idle service. Its goal is 50 ms unless another is given. */
  figure(what: string, longest: number, goalMs?: number): Figure;
}

/** Starts a prober, and measures the idle service for a second. Disposal ends the prober. */
export async function watchStalls({ web, pid }: Pick<Berth, "web" | "pid">): Promise<StallWatch> {
  let report: (longest: number) => void = () => undefined;
  const prober = Bun.spawn([bun, join(import.meta.dir, "prober.ts"), web, String(pid)], {
    ipc: (longest: number) => report(longest),
    stderr: "inherit",
  });
  const longest = () =>
    new Promise<number>((resolve) => {
      report = resolve;
      prober.send("report");
    });
  await Bun.sleep(1_000);
  await longest();
  await Bun.sleep(1_000);
  const quiet = await longest();
  return {
    longest,
    figure: (what, worst, goalMs = STALL_MS) => ({
      what,
      ratio: worst / quiet,
      figure: ms(worst),
      baseline: `${ms(quiet)} alone`,
      goal: `≤ ${goalMs} ms`,
      met: worst <= goalMs,
    }),
    [Symbol.dispose]: () => prober.kill(),
  };
}
