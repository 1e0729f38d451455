// Reads which model providers admins have stored in the database, also while the service runs.
import { existsSync } from "node:fs";
import { providerSettings } from "../../../plugins/ai/settings.ts";
import type { Config } from "../../kernel/config/config.ts";
import { type Connection, openReadOnly } from "../../kernel/database/connection.ts";

export interface StoredProvider {
  id: string;
  label: string;
  /** The last characters of its key. */
  keyEnd: string | undefined;
  hasKey: boolean;
  baseUrl: string | undefined;
  /** The variable that is used in its place. */
  overriddenBy: string | undefined;
}

const STORED_SQL =
  "SELECT provider, key_end, sealed_key IS NOT NULL AS has_key, base_url FROM model_providers ORDER BY provider";

/** The model providers that admins stored in the database, if it is a file. */
export function storedProviders(config: Config): StoredProvider[] {
  const { file } = config.database;
  if (!file || !existsSync(file)) return [];
  const settings = config.of(providerSettings);
  let connection: Connection | undefined;
  try {
    connection = openReadOnly(file);
    return connection.run(STORED_SQL).rows.map(({ provider, key_end: keyEnd, has_key: hasKey, base_url: baseUrl }) => {
      const definition = settings.registry.find(String(provider));
      const isOverridden = definition !== undefined && settings.of(definition.id).apiKey !== undefined;
      return {
        id: String(provider),
        label: definition?.label ?? String(provider),
        keyEnd: keyEnd === null ? undefined : String(keyEnd),
        hasKey: hasKey === 1,
        baseUrl: baseUrl === null ? undefined : String(baseUrl),
        overriddenBy: isOverridden ? `${definition.env}_API_KEY` : undefined,
      };
    });
  } catch {
    // A database of an earlier version has no such table; errors of a damaged one are reported by the start.
    return [];
  } finally {
    connection?.close();
  }
}
