// Refuses a command that needs a database where there is none: with a forgotten DATA_DIR, it would work on a new, empty one.

import { existsSync } from "node:fs";
import type { Config } from "../../kernel/config/config.ts";
import { programName } from "../../kernel/config/program-name.ts";
import { localDatabasePath } from "../../kernel/database/database-path.ts";
import { StartError } from "../../kernel/errors.ts";
import { cellsOf } from "../backups/staging.ts";
import { cellDatabaseUrl } from "./folders.ts";

/** Throws StartError if the file of the database, or that of a cell, is missing. A database on a server is not looked at. */
export function requireDatabase(config: Pick<Config, "dataDir" | "database" | "of" | "sources">): void {
  for (const cell of cellsOf(config)) {
    const path = localDatabasePath(cellDatabaseUrl(config, cell));
    if (path === undefined || existsSync(path)) continue;
    throw new StartError(
      `There is no database at ${path}. ${originOf(config)} Give the service's folder as DATA_DIR, or begin a new service there: ${programName()} serve`,
    );
  }
}

/** Which setting leads to the file, and where it is set. */
function originOf({ dataDir, sources }: Pick<Config, "dataDir" | "sources">): string {
  const isGiven = (name: string) => ["environment", ".env file"].includes(sources[name] ?? "");
  if (isGiven("DATABASE_URL")) return `DATABASE_URL, from the ${sources.DATABASE_URL}, names it.`;
  if (isGiven("DATA_DIR")) return `DATA_DIR is ${dataDir}, from the ${sources.DATA_DIR}.`;
  return `DATA_DIR is not set, so it is data in the folder of the command: ${dataDir}.`;
}
