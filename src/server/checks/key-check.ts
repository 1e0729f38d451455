// Checks that the root key is the one with which the database was made: with another one, or none, what is encrypted can't be read.

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Config, Finding } from "../../kernel/config/config.ts";
import { error } from "../../kernel/config/section.ts";
import { type Connection, openReadOnly } from "../../kernel/database/connection.ts";
import { createVault } from "../../kernel/security/vault.ts";

/** Only if the database is a file. The start is refused for the same reasons. */
export function checkRootKey({ database, dataDir, secretKey, secretKeyPrevious }: Config): Finding[] {
  const { file } = database;
  const stored = file && existsSync(file) ? readFingerprint(file) : undefined;
  if (stored === undefined) return [];
  const path = join(dataDir, "secret.key");
  if (secretKey === undefined && !existsSync(path)) {
    return [
      error(
        "SECRET_KEY",
        `${path} is missing, and ${file} was made with it: what is encrypted there can't be read. Put the file back from a backup, or give the key as SECRET_KEY.`,
      ),
    ];
  }
  const key = secretKey ?? readKey(path);
  if (key === undefined) return [];
  if (secretKey === undefined && !/^[0-9a-f]{64}$/.test(key))
    return [error("SECRET_KEY", `${path} holds no key: 64 hex characters are expected. Put it back from a backup.`)];
  const vault = createVault({ key, previous: secretKeyPrevious });
  if (stored === vault.fingerprint() || stored === vault.previousFingerprint()) return [];
  const name = secretKey === undefined ? path : "the key that is set";
  return [
    error(
      "SECRET_KEY",
      `${name} is not the one with which ${file} was made. Put the old key back, or give it as SECRET_KEY_PREVIOUS to rotate.`,
    ),
  ];
}

function readFingerprint(file: string): string | undefined {
  let connection: Connection | undefined;
  try {
    connection = openReadOnly(file);
    const [row] = connection.run("SELECT value FROM meta WHERE key = 'secret_fingerprint'").rows;
    return row === undefined ? undefined : String(row.value);
  } catch {
    // Errors of a damaged database are reported by the start.
    return undefined;
  } finally {
    connection?.close();
  }
}

/** Undefined if this user may not read it: the service may run as another one. */
function readKey(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8").trim();
  } catch {
    return undefined;
  }
}
