// The way from the process of a cell to the first process of its machine: calls over the channel between them.

import { type CallHandlers, callHandler, createCalls } from "../../cluster/cells/calls.ts";
import type { CellCalls } from "../../cluster/cells/cell-calls.ts";
import { StartError } from "../../kernel/errors.ts";

export type ParentLink = ReturnType<typeof openParentLink>;

/** Throws StartError if this process was not started by another one of this program. */
export function openParentLink(cell: number, firstCount: number) {
  let count = firstCount;
  const send = process.send?.bind(process);
  if (!send) throw new StartError("A cell is started by the service: set CELLS, then run serve.");
  let side: (name: string, args: unknown) => Promise<unknown> = () =>
    Promise.reject(new StartError("This cell is not open yet."));
  let stop: () => void = () => process.exit(0);
  const { call, receive } = createCalls((message) => void send(message), {
    cell: ({ name, args }: { name: string; args: unknown }) => side(name, args),
    alive: () => true,
    count: (cells: number) => {
      count = cells;
    },
    stop: () => stop(),
  });
  process.on("message", receive);
  // The service was killed. Its next start needs the lock of this cell's database.
  process.once("disconnect", () => process.exit(1));
  const callCell: CellCalls["call"] = (to, name, args, waitMs) => call("cell", { to, name, args, waitMs });
  return {
    cell,
    /** How many cells there are on a machine alone. */
    count: () => count,
    /** Says what the first process and the other cells may call here. */
    serve(handlers: CallHandlers) {
      side = (name, args) => callHandler(handlers, name, args);
    },
    /** Sets what ends this process in good order, once it serves. */
    onStop(given: () => void) {
      stop = given;
    },
    ready: (address: string) => call<void>("ready", { address }),
    /** Tells the first process what this one does. */
    report: (report: unknown) => call<void>("report", report),
    /** Calls another cell, wherever it is. */
    callCell,
  };
}
