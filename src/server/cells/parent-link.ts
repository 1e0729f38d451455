// The way from the process of a cell to the one that started it and has cell 0: calls over the channel between them.
import { createCalls } from "../../cluster/cells/calls.ts";
import type { CellLoad } from "../../cluster/cells/loads.ts";
import type { Name } from "../../kernel/cells/cells.ts";
import { StartError } from "../../kernel/errors.ts";

/** What a cell can be asked by the first one. */
export interface CellSide {
  knows(name: Name): Promise<boolean>;
  answer(asked: { question: string; text: string }): Promise<string>;
  command(command: { name: string; args: Readonly<Record<string, string>> }): Promise<unknown>;
  load(): Promise<CellLoad>;
}

export type ParentLink = ReturnType<typeof openParentLink>;

/** Throws StartError if this process was not started by another one of this program. */
export function openParentLink(cell: number, count: number) {
  const send = process.send?.bind(process);
  if (!send) throw new StartError("A cell is started by the service: set CELLS, then run serve.");
  let side: CellSide | undefined;
  let stop: () => void = () => process.exit(0);
  const open = () => {
    if (!side) throw new StartError("This cell is not open yet.");
    return side;
  };
  const { call, receive } = createCalls((message) => void send(message), {
    knows: (name: Name) => open().knows(name),
    answer: (asked: Parameters<CellSide["answer"]>[0]) => open().answer(asked),
    command: (command: Parameters<CellSide["command"]>[0]) => open().command(command),
    load: () => open().load(),
    stop: () => stop(),
  });
  process.on("message", receive);
  // The service was killed. Its next start needs the lock of this cell's database.
  process.once("disconnect", () => process.exit(1));
  return {
    cell,
    count,
    serve(given: CellSide) {
      side = given;
    },
    /** Sets what ends this process in good order, once it serves. */
    onStop(given: () => void) {
      stop = given;
    },
    ready: (address: string) => call<void>("ready", { address }),
    directory: {
      find: async (name: Name) => (await call<number | null>("find", name)) ?? undefined,
      reserve: async (_: number, names: readonly Name[]) =>
        (await call<{ taken: Name; cell: number } | null>("reserve", names)) ?? undefined,
      confirm: (_: number, names: readonly Name[]) => call<void>("confirm", names),
    },
    leastLoaded: () => call<number>("leastLoaded"),
    ask: (to: number, question: string, text: string) => call<string>("ask", { to, question, text }),
  };
}
