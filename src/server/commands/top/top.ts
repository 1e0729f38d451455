// Runs `berth top`: shows the running service live in a terminal, or once, as text or JSON. It asks over the control socket.
import { setTimeout as sleep } from "node:timers/promises";
import type { LiveSnapshot } from "../../../../plugins/fleet/index.ts";
import { environment } from "../../../kernel/config/config.ts";
import { StartError } from "../../../kernel/errors.ts";
import { loadAllSettings } from "../../settings.ts";
import { askService } from "../run-command.ts";
import { drawScreen, ratesBetween } from "./top-screen.ts";

const INTERVAL_MS = 2_000;
/** Between the two looks of which rates are made where the service is shown once. */
const ONCE_MS = 1_000;
/** Of an output that is no terminal. */
const PLAIN = { columns: 110, rows: Number.POSITIVE_INFINITY, isColoured: false };

const ALTERNATE_SCREEN = "\x1b[?1049h\x1b[?25l";
const NORMAL_SCREEN = "\x1b[?25h\x1b[?1049l";
const HOME = "\x1b[H";
const CLEAR_LINE = "\x1b[K";
const CLEAR_BELOW = "\x1b[J";

export async function topCommand({ once, json }: { once: boolean; json: boolean }): Promise<number> {
  const config = loadAllSettings(environment());
  const look = async (): Promise<LiveSnapshot> => {
    const found = await askService(config, "fleet.live");
    if (found === undefined) {
      throw new StartError(`No service runs on ${config.dataDir}. Start it, or give its folder as DATA_DIR.`);
    }
    return found as LiveSnapshot;
  };
  if (!once && !json && process.stdout.isTTY) return watch(look);
  const before = await look();
  await sleep(ONCE_MS);
  const now = await look();
  const rates = ratesBetween(before, now);
  const text = json ? JSON.stringify({ ...now, rates }, null, 2) : drawScreen(now, rates, PLAIN).join("\n");
  process.stdout.write(`${text}\n`);
  return 0;
}

/** Draws until `q`, Ctrl-C or a signal; the terminal is then as it was. */
async function watch(look: () => Promise<LiveSnapshot>): Promise<number> {
  const { stdin, stdout } = process;
  const ended = new AbortController();
  const end = () => ended.abort();
  const onKey = (key: Buffer) => {
    if (["q", "Q", "\x03", "\x04"].includes(key.toString())) end();
  };
  let before = await look();
  let draw: () => void = () => undefined;
  const restore = () => {
    stdout.write(NORMAL_SCREEN);
    if (stdin.isTTY) stdin.setRawMode(false);
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, end);
  process.on("exit", restore);
  stdout.on("resize", () => draw());
  if (stdin.isTTY) stdin.setRawMode(true).resume().on("data", onKey);
  stdout.write(ALTERNATE_SCREEN);
  try {
    await pause(ONCE_MS, ended.signal);
    while (!ended.signal.aborted) {
      const now = await look();
      const rates = ratesBetween(before, now);
      before = now;
      draw = () => {
        const { columns = PLAIN.columns, rows = 24 } = stdout;
        const lines = drawScreen(now, rates, {
          columns,
          rows: rows - 1,
          isColoured: environment().NO_COLOR === undefined,
        });
        stdout.write(`${HOME}${lines.map((line) => `${line}${CLEAR_LINE}`).join("\r\n")}${CLEAR_BELOW}`);
      };
      draw();
      await pause(INTERVAL_MS, ended.signal);
    }
    return 0;
  } finally {
    process.off("exit", restore);
    restore();
    stdin.off("data", onKey).pause();
  }
}

const pause = (ms: number, signal: AbortSignal) => sleep(ms, undefined, { signal }).catch(() => undefined);
