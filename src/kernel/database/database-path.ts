// Finds the file of a local database, without loading the database.
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { StartError } from "../errors.ts";

/** Returns the absolute path of a `file:` URL (relative to the working directory); undefined for a server's URL. */
export function localDatabasePath(url: string): string | undefined {
  if (/^(?:https?|libsql|wss?):\/\//.test(url)) return undefined;
  const path = /^file:(?!\/\/(?!\/))([^?#]+)$/.exec(url)?.[1];
  if (path === undefined || path === ":memory:") {
    throw new StartError("DATABASE_URL must be file:<path>, or the http(s), libsql or ws(s) address of a server.");
  }
  return path.startsWith("///") ? fileURLToPath(url) : resolve(decodeURIComponent(path));
}
