// A clock for the compiled binary that a test moves, by libfaketime. Timers keep their own pace, as on a machine that
// was asleep: the clock jumps, and whoever waits for a time of day has to notice it.
import { existsSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const LIBRARIES = ["/usr/lib/x86_64-linux-gnu/faketime", "/usr/lib/aarch64-linux-gnu/faketime"].map(
  (folder) => `${folder}/libfaketimeMT.so.1`,
);

export interface Clock {
  /** For the environment of each process that lives in this time. */
  readonly env: Record<string, string>;
  /** For a process that lives at another time (epoch ms). */
  envAt(time: number): Record<string, string>;
  /** Epoch ms. */
  now(): number;
  /** Moves the clock on, or back by a negative time. Processes notice it within a second. */
  forward(ms: number): Promise<void>;
}

export function createClock(folder: string, startsAt: Date): Clock {
  const library = LIBRARIES.find((path) => existsSync(path));
  if (!library) throw new Error("The clock of a program is moved by libfaketime: apt-get install faketime");
  const file = join(folder, "clock");
  let offsetMs = startsAt.getTime() - Date.now();
  const offset = (ms: number) => `${ms < 0 ? "" : "+"}${(ms / 1000).toFixed(3)}`;
  const write = () => {
    writeFileSync(`${file}.new`, `${offset(offsetMs)}\n`);
    renameSync(`${file}.new`, file);
  };
  write();
  return {
    env: {
      LD_PRELOAD: library,
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_CACHE_DURATION: "1",
      FAKETIME_DONT_FAKE_MONOTONIC: "1",
    },
    envAt: (time) => ({ LD_PRELOAD: library, FAKETIME: offset(time - Date.now()) }),
    now: () => Date.now() + offsetMs,
    async forward(ms) {
      offsetMs += ms;
      write();
      // As long as a process keeps what it has read of the file.
      await Bun.sleep(1_100);
    },
  };
}
