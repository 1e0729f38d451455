// Where the cells of one machine keep their data: cell 0 in the data folder itself, so that a service grows into cells as it is.
import { existsSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { streamSettings } from "../../../plugins/streams/settings.ts";
import type { Config, Environment } from "../../kernel/config/config.ts";
import { StartError } from "../../kernel/errors.ts";

const folderOfCells = (dataDir: string) => join(dataDir, "cells");

export const cellDataDir = ({ dataDir }: Pick<Config, "dataDir">, cell: number) =>
  cell === 0 ? dataDir : join(folderOfCells(dataDir), String(cell));

export const cellDatabaseUrl = (config: Pick<Config, "dataDir" | "database">, cell: number) =>
  cell === 0 ? config.database.url : `file:${join(cellDataDir(config, cell), "berth.db")}`;

/** In the folder of a cell that was removed: cell 0 has taken over what was in it. */
const removedMark = (config: Pick<Config, "dataDir">, cell: number) => join(cellDataDir(config, cell), "removed");
export const markRemoved = (config: Pick<Config, "dataDir">, cell: number) =>
  writeFileSync(removedMark(config, cell), "This cell was removed. Cell 0 has what was in it.\n");
/** It is opened again, empty. */
export const unmarkRemoved = (config: Pick<Config, "dataDir">, cell: number) =>
  rmSync(removedMark(config, cell), { force: true });

/** The cells other than the first that the data folder has, in their order, without those that were removed. */
export function foldersOfCells({ dataDir }: Pick<Config, "dataDir">): number[] {
  const folder = folderOfCells(dataDir);
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .flatMap((name) => (/^[1-9]\d*$/.test(name) ? [Number(name)] : []))
    .filter((cell) => !existsSync(removedMark({ dataDir }, cell)))
    .toSorted((one, other) => one - other);
}

/** Throws StartError if there are more cells in the data folder: their accounts would be gone, and their names free. */
export function requireAllCells(config: Pick<Config, "dataDir">, count: number): void {
  const last = foldersOfCells(config).at(-1) ?? 0;
  if (last < count) return;
  throw new StartError(
    `${folderOfCells(config.dataDir)} has the data of ${last + 1} cells. Set CELLS=${last + 1} or more. To have fewer, start the service with that and run berth cells remove ${last}.`,
  );
}

/** The settings of a cell's process: those of the service, with its own data, and a listener that only this machine reaches. */
export function cellEnvironment(config: Config, env: Environment, secretKey: string, cell: number): Environment {
  const { rtmpPort, rtmpUrl, hasCustomRtmpUrl } = config.of(streamSettings);
  return {
    ...env,
    // Each of them is set, because the cell reads the `.env` file, too.
    CELLS: "1",
    DATA_DIR: cellDataDir(config, cell),
    DATABASE_URL: cellDatabaseUrl(config, cell),
    SECRET_KEY: secretKey,
    // Nothing listens on it there; the addresses of the service follow from it.
    PORT: String(config.web.port),
    BACKEND_HOST: "127.0.0.1",
    BACKEND_PORT: "0",
    RTMP_PORT: String(rtmpPort === 0 ? 0 : rtmpPort + cell),
    ...(hasCustomRtmpUrl && { STREAM_RTMP_URL: withPort(rtmpUrl, cell) }),
  };
}

/** Each cell takes video on a port of its own, behind that of cell 0. */
function withPort(rtmpUrl: string, cell: number): string {
  const url = new URL(rtmpUrl);
  url.port = String(Number(url.port || 1935) + cell);
  return url.href;
}
