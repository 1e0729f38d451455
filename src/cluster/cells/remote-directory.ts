// The directory of names as every cell sees it: cell 0 keeps it, wherever that is.
import type { Name } from "../../kernel/cells/cells.ts";
import type { CellCalls } from "./cell-calls.ts";
import type { Directory } from "./directory.ts";

export type RemoteDirectory = Pick<Directory, "find" | "reserve" | "confirm"> & { leastLoaded(): Promise<number> };

export const remoteDirectory = (call: CellCalls["call"]): RemoteDirectory => ({
  find: async (name: Name) => (await call<number | null>(0, "find", name)) ?? undefined,
  reserve: async (cell: number, names: readonly Name[]) =>
    (await call<{ taken: Name; cell: number } | null>(0, "reserve", { cell, names })) ?? undefined,
  confirm: (cell: number, names: readonly Name[]) => call<void>(0, "confirm", { cell, names }),
  leastLoaded: () => call<number>(0, "leastLoaded"),
});
