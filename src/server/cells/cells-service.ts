// Serves several cells on one machine: cell 0 in this process, with the router and the directory, the others in processes of
// their own, so that the machine uses all its processors.

import { keysOfRequest } from "../../cluster/accounts/request-keys.ts";
import type { Calls } from "../../cluster/cells/calls.ts";
import { createCellCalls } from "../../cluster/cells/cell-calls.ts";
import { type CellProcess, startCellProcess } from "../../cluster/cells/cell-process.ts";
import { remoteDirectory } from "../../cluster/cells/remote-directory.ts";
import { createRelayGrants } from "../../cluster/relay/grants.ts";
import type { Place } from "../../cluster/relay/place.ts";
import { createRouter } from "../../cluster/relay/router.ts";
import { createVault, loadOrCreateSecretKey } from "../../kernel/security/vault.ts";
import { createLog } from "../../kernel/telemetry/log.ts";
import { createBell } from "../service/bell.ts";
import { type CellOptions, findFirstAdmin, type OpenCell, openCell } from "../service/cell.ts";
import { runAll } from "../service/run-all.ts";
import type { Service } from "../service/service.ts";
import { accountQuestions, createCellCommands } from "./cell-commands.ts";
import { createFirstCell } from "./first-cell.ts";
import { markRemoved, requireAllCells, unmarkRemoved } from "./folders.ts";
import { createMachineRoutes } from "./machine-routes.ts";
import { memberProgram } from "./member-program.ts";

export async function openCellsService(options: CellOptions, cellCount: number): Promise<Service> {
  const { config } = options;
  requireAllCells(config, cellCount);
  for (let cell = 1; cell < cellCount; cell++) unmarkRemoved(config, cell);
  const log = createLog(config.log);
  let open = cellCount;
  const count = () => open;
  const changes = createBell();
  const processes = new Map<number, CellProcess>();
  let callFirst: Calls["call"] | undefined;
  // Made before the first database is: it keeps the key.
  const key = config.secretKey ?? loadOrCreateSecretKey(config.dataDir, log);
  const grants = createRelayGrants(createVault({ key, previous: config.secretKeyPrevious }));
  const answering = (cell: number) => {
    const found = processes.get(cell);
    return found?.address === undefined ? undefined : { ...found, address: found.address };
  };
  const { call } = createCellCalls({
    local: (cell) => (cell === 0 ? callFirst : answering(cell)?.call),
    node: () => undefined,
    grants,
    changed: changes.wait,
  });
  const others = () => [...processes.values()];
  const tellCount = () => {
    for (const process of others()) process.tellCount(open);
  };

  async function closed(cell: number): Promise<void> {
    open = cell;
    tellCount();
    await processes.get(cell)?.stop(config.shutdownGraceMs);
    processes.delete(cell);
    markRemoved(config, cell);
  }
  const firstCell = createFirstCell({ count, call, closed, log });
  const first: OpenCell = await openCell({
    ...options,
    seams: { ...options.seams, log, cells: firstCell.cells },
  });
  const begun = firstCell.begin(first);
  callFirst = begun.call;
  for (let cell = 1; cell < cellCount; cell++) {
    processes.set(
      cell,
      startCellProcess({
        cell,
        ...memberProgram(options, key, cell, cellCount),
        handlers: {
          cell: ({ to, name, args, waitMs }: { to: number; name: string; args: unknown; waitMs?: number }) =>
            call(to, name, args, waitMs),
        },
        log,
        onChange() {
          // One that has started anew was told the number of the service's start.
          if (open < cellCount) tellCount();
          changes.ring();
        },
      }),
    );
  }
  const stopOthers = () => Promise.all(others().map((one) => one.stop(config.shutdownGraceMs)));
  const stopFirst = async () => {
    begun.end();
    await first.app.stop();
  };
  try {
    await Promise.all(others().map(({ started }) => started));
    await firstCell.readLoads();
  } catch (error) {
    await runAll([stopOthers, stopFirst, first.kernel.jobs.stop, first.kernel.close]);
    throw error;
  }

  function placeOf(cell: number): Place | undefined {
    if (cell === 0) return { kind: "here", surfaces: begun.surfaces };
    const process = answering(cell);
    return process && { kind: "process", address: process.address };
  }
  const own = createMachineRoutes({
    config,
    count,
    isReady: () => others().every(({ address }) => address !== undefined),
  });
  const questions = accountQuestions(call);
  const router = createRouter({
    address: undefined,
    count,
    agentsDomain: config.agentsDomain,
    grants,
    placeOf,
    own,
    call: async () => undefined,
    movedTo: (cell, request) => questions.whereabouts(cell, keysOfRequest(request, config.agentsDomain)),
    onRelayed: () => undefined,
    changed: changes.wait,
  });
  return {
    log,
    web: router.web,
    backend: router.backend,
    runCommand: createCellCommands({
      count,
      firstCell,
      pidOf: (cell) => (cell === 0 ? process.pid : processes.get(cell)?.pid),
      directory: remoteDirectory(call),
      ...questions,
      runIn: (cell, name, args) => call(cell, "command", { name, args }, 0),
    }),
    defaultModel: first.app.defaultModel,
    place: () => `${open} cells, each with its own process and database`,
    firstAdmin: await findFirstAdmin(first.app),
    stop: () => runAll([() => Promise.all([stopOthers(), stopFirst()])]),
    stopJobs: first.kernel.jobs.stop,
    close: first.kernel.close,
  };
}
