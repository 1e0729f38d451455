// Watches how long a service keeps other requests waiting: a prober in a process of its own asks /healthz every 5 ms.
import { join } from "node:path";
import type { Berth } from "../../tests/support/berth.ts";
import { bun } from "../../tests/support/process.ts";
import { type Figure, ms } from "./figures.ts";

/** No request may hold the event loop for longer. */
const STALL_MS = 50;

/** What the prober has measured since it was last asked. */
export interface Probed {
  /** The longest answer in ms, without the time in which the service or the prober had no processor. */
  longest: number;
  /** By the clock, in ms. */
  p99: number;
  /** Number of answers. */
  count: number;
}

export interface StallWatch extends Disposable {
  /** All that was measured since the last call. */
  probed(): Promise<Probed>;
  /** The longest answer in ms since the last call. */
  longest(): Promise<number>;
  /** The figure of this longest answer, beside that of the idle service. Its goal is 50 ms unless another is given. */
  figure(what: string, longest: number, goalMs?: number): Figure;
}

/** Starts a prober, and measures the idle service for a second. Disposal ends the prober. */
export async function watchStalls({ web, pid }: Pick<Berth, "web" | "pid">): Promise<StallWatch> {
  let report: (probed: Probed) => void = () => undefined;
  const prober = Bun.spawn([bun, join(import.meta.dir, "prober.ts"), web, String(pid)], {
    ipc: (probed: Probed) => report(probed),
    stderr: "inherit",
  });
  const probed = () =>
    new Promise<Probed>((resolve) => {
      report = resolve;
      prober.send("report");
    });
  const longest = async () => (await probed()).longest;
  await Bun.sleep(1_000);
  await longest();
  await Bun.sleep(1_000);
  const quiet = await longest();
  return {
    probed,
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
