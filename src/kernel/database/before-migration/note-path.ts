// Tells at no cost whether a start has left migrations unconfirmed; only then the rest of this folder is loaded.
import { existsSync } from "node:fs";

export const migrationNotePath = (path: string) => `${path}.upgrading`;

/** Whether there are migrations that no start has confirmed. */
export const hasUnconfirmedMigrations = (path: string) => existsSync(migrationNotePath(path));
