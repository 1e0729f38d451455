// Runs `berth restart`: the running service executes its program again, in its process and with its sockets.
import { environment } from "../../../kernel/config/config.ts";
import { StartError } from "../../../kernel/errors.ts";
import type { ProcessState } from "../../handover/restarts.ts";
import { loadAllSettings } from "../../settings.ts";
import { askService, operator } from "../run-command.ts";

/** Milliseconds beyond the grace period. */
const START_MS = 60_000;
const BETWEEN_LOOKS_MS = 50;

export async function restartCommand(): Promise<number> {
  const config = loadAllSettings(environment());
  const before = (await askService(config, "process.restart", { operator: operator() })) as ProcessState | undefined;
  if (!before) throw new StartError("No service runs on this data folder, so there is none to restart.");
  const state = await untilRestarted(config, before);
  process.stdout.write(
    `Restarted: version ${state.version}, process ${state.pid}; requests waited for ${state.pausedMs} ms.\n`,
  );
  return 0;
}

/** Waits for the next start of the service. Throws StartError if there is none in time. */
export async function untilRestarted(
  config: ReturnType<typeof loadAllSettings>,
  before: ProcessState,
): Promise<ProcessState> {
  const until = performance.now() + config.shutdownGraceMs + START_MS;
  while (performance.now() < until) {
    await Bun.sleep(BETWEEN_LOOKS_MS);
    const state = (await askService(config, "process.state").catch(() => undefined)) as ProcessState | undefined;
    if (state && state.startedAt > before.startedAt) return state;
  }
  throw new StartError("The service has not answered since. Its log says why.");
}
