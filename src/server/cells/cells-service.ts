// Serves several cells on one machine: cell 0 in this process, with the router and the directory, the others in processes of
// their own, so that the machine uses all its processors.
import { cellAway } from "../../cluster/cells/calls.ts";
import { type CellNames, createCellNames } from "../../cluster/cells/cell-names.ts";
import { type CellProcess, startCellProcess } from "../../cluster/cells/cell-process.ts";
import { createCellRouter } from "../../cluster/cells/cell-router.ts";
import { createDirectory, type Directory } from "../../cluster/cells/directory.ts";
import { type CellLoad, createLoads } from "../../cluster/cells/loads.ts";
import { createRelayGrants } from "../../cluster/relay/grants.ts";
import type { Name } from "../../kernel/cells/cells.ts";
import { StartError } from "../../kernel/errors.ts";
import { createVault, loadOrCreateSecretKey } from "../../kernel/security/vault.ts";
import { createLog } from "../../kernel/telemetry/log.ts";
import { MINUTE, SECOND } from "../../kernel/util/time.ts";
import { programCommand } from "../backups/backup-process.ts";
import { createBell } from "../service/bell.ts";
import { type CellOptions, findFirstAdmin, type OpenCell, openCell, runAll } from "../service/cell.ts";
import type { Service } from "../service/service.ts";
import { type CellState, createCellCommands } from "./cell-commands.ts";
import { cellEnvironment, requireAllCells } from "./folders.ts";
import { readLoad } from "./load.ts";
import { createMachineRoutes } from "./machine-routes.ts";

/** How often each cell is asked what it has. */
const LOADS_MS = 10 * SECOND;
const SWEEP_MS = MINUTE;

export async function openCellsService(options: CellOptions, count: number): Promise<Service> {
  const { config, env } = options;
  requireAllCells(config, count);
  const log = createLog(config.log);
  const loads = createLoads(count);
  const changes = createBell();
  const processes = new Map<number, CellProcess>();
  let open: { directory: Directory; names: CellNames } | undefined;

  const processOf = (cell: number) => {
    const found = processes.get(cell);
    if (!found) throw cellAway();
    return found;
  };
  const ask = async (to: number, question: string, text: string): Promise<string> =>
    to === 0 ? namesHere().answerTo(question, text) : processOf(to).call("answer", { question, text });
  function opened() {
    if (!open) throw new StartError("The directory of cells is not open yet.");
    return open;
  }
  const namesHere = () => opened().names;

  const first: OpenCell = await openCell({
    ...options,
    seams: {
      ...options.seams,
      log,
      cells(database) {
        const directory = createDirectory({
          database,
          knows: async (cell, name) =>
            cell === 0 ? namesHere().knows(name) : processOf(cell).call<boolean>("knows", name),
          usedInFirst: (name) => namesHere().uses(name),
          log,
        });
        const names = createCellNames({ here: 0, count, directory, leastLoaded: async () => loads.next(), ask, log });
        open = { directory, names };
        return names;
      },
    },
  });
  const { directory, names } = opened();
  /** A cell that does not answer now keeps what it told last. */
  const readLoads = () =>
    Promise.allSettled(
      Array.from({ length: count }, async (_, cell) =>
        loads.report(cell, cell === 0 ? await readLoad(first.kernel) : await processOf(cell).call<CellLoad>("load")),
      ),
    );
  const timers = [
    setInterval(() => void readLoads(), LOADS_MS),
    setInterval(() => {
      directory.sweep().catch((error: unknown) => log.warn("names could not be swept", { error }));
    }, SWEEP_MS),
  ];
  for (const timer of timers) timer.unref();
  const key = config.secretKey ?? loadOrCreateSecretKey(config.dataDir, log);
  const plugins = options.pluginFiles.flatMap((file) => ["--plugin", file]);
  for (let cell = 1; cell < count; cell++) {
    processes.set(
      cell,
      startCellProcess({
        cell,
        command: [...programCommand(), "cells", "run", String(cell), String(count), ...plugins],
        env: cellEnvironment(config, env, key, cell),
        handlers: {
          find: async (name: Name) => (await names.find(name)) ?? null,
          reserve: async (wanted: Name[]) => (await directory.reserve(cell, wanted)) ?? null,
          confirm: (used: Name[]) => directory.confirm(cell, used),
          leastLoaded: () => loads.next(),
          ask: ({ to, question, text }: { to: number; question: string; text: string }) => ask(to, question, text),
        },
        log,
        onChange: changes.ring,
      }),
    );
  }
  const others = () => [...processes.values()];
  const stopOthers = () => Promise.all(others().map((one) => one.stop(config.shutdownGraceMs)));
  const stopFirst = async () => {
    for (const timer of timers) clearInterval(timer);
    await first.app.stop();
  };
  try {
    await Promise.all(others().map(({ started }) => started));
    await readLoads();
  } catch (error) {
    await runAll([stopOthers, stopFirst, first.kernel.jobs.stop, first.kernel.close]);
    throw error;
  }

  async function states(): Promise<CellState[]> {
    await readLoads();
    return Array.from({ length: count }, (_, cell) => ({
      cell,
      pid: cell === 0 ? process.pid : processes.get(cell)?.pid,
      ...(loads.of(cell) ?? { accounts: 0, agents: 0 }),
      state: cell === 0 || processes.get(cell)?.address !== undefined ? "ok" : "starting",
    }));
  }
  const router = createCellRouter({
    count,
    agentsDomain: config.agentsDomain,
    local: first.app,
    own: createMachineRoutes({ config, isReady: () => others().every(({ address }) => address !== undefined) }),
    grants: createRelayGrants(createVault({ key, previous: config.secretKeyPrevious })),
    addressOf: (cell) => processes.get(cell)?.address,
    changed: changes.wait,
  });
  return {
    log,
    web: router.web,
    backend: router.backend,
    runCommand: createCellCommands({
      count,
      states,
      cells: names,
      runIn: (cell, name, args) =>
        cell === 0 ? first.runCommand(name, args) : processOf(cell).call("command", { name, args }),
    }),
    defaultModel: first.app.defaultModel,
    place: () => `${count} cells, each with its own process and database`,
    firstAdmin: await findFirstAdmin(first.app),
    stop: () => runAll([() => Promise.all([stopOthers(), stopFirst()])]),
    stopJobs: first.kernel.jobs.stop,
    close: first.kernel.close,
  };
}
