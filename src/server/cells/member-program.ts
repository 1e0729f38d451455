// How the process of a cell other than the first is started.
import { programCommand } from "../backups/backup-process.ts";
import type { CellOptions } from "../service/cell.ts";
import { cellEnvironment } from "./folders.ts";

export const memberProgram = ({ config, env, pluginFiles }: CellOptions, key: string, cell: number, count: number) => ({
  command: [
    ...programCommand(),
    "cells",
    "run",
    String(cell),
    String(count),
    ...pluginFiles.flatMap((file) => ["--plugin", file]),
  ],
  env: cellEnvironment(config, env, key, cell),
});
