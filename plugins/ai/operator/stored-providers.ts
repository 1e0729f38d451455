// Stores the keys and addresses of model providers, sealed, and the default models that admins set in the running service.

import type { Statement } from "../../../src/kernel/database/database.ts";
import { AppError } from "../../../src/kernel/errors.ts";
import type { Kernel } from "../../../src/kernel/plugin.ts";
import type { ModelChoice, ProviderId } from "../settings.ts";

/** What is stored of one provider. */
export interface StoredProvider {
  /** In clear; must not be logged or shown. Undefined for a server without keys, and for a key that can't be opened. */
  readonly apiKey: string | undefined;
  /** The last characters of the key. */
  readonly keyEnd: string | undefined;
  readonly baseUrl: string | undefined;
  /** Epoch ms. */
  readonly updatedAt: number;
}

export interface StoredRows {
  readonly providers: ReadonlyMap<string, StoredProvider>;
  readonly models: ReadonlyMap<string, string>;
}

export interface StoredProviders {
  /** The listener is called when cell 0 has changed something, if this is another cell. */
  onChangedElsewhere(listener: () => Promise<void>): void;
  load(): Promise<StoredRows>;
  saveStatement(provider: ProviderId, stored: StoredProvider): Statement;
  removeStatement(provider: ProviderId): Statement;
  /** `model`: `provider_N:id`; undefined deletes the choice. */
  modelStatement(choice: ModelChoice, model: string | undefined): Statement;
}

const SAVE_SQL = `INSERT INTO model_providers (provider, sealed_key, key_end, base_url, updated_at) VALUES (?, ?, ?, ?, ?)
  ON CONFLICT (provider) DO UPDATE SET sealed_key = excluded.sealed_key, key_end = excluded.key_end,
    base_url = excluded.base_url, updated_at = excluded.updated_at`;
const SAVE_MODEL_SQL = `INSERT INTO default_models (choice, model, updated_at) VALUES (?, ?, ?)
  ON CONFLICT (choice) DO UPDATE SET model = excluded.model, updated_at = excluded.updated_at`;

const sealContext = (provider: string) => `model-provider:${provider}:key`;

/** The end of a shorter key is not shown, since it would be too large a part of the key. */
const LEAST_KEY = 16;
const END_CHARACTERS = 4;

/** The end by which people know a key. */
export const keyEndOf = (key: string) => (key.length < LEAST_KEY ? undefined : key.slice(-END_CHARACTERS));

interface RawRows {
  providers: Record<string, unknown>[];
  models: Record<string, unknown>[];
}

/** Asked of cell 0, which has what admins stored, for all cells. */
const ROWS = "ai.stored-providers";
/** Told to the others after a change. */
const CHANGED = "ai.stored-providers-changed";

export function createStoredProviders({
  database,
  vault,
  keyRotation,
  log,
  cells,
}: Pick<Kernel, "database" | "vault" | "keyRotation" | "log" | "cells">): StoredProviders {
  keyRotation.registerColumn({
    label: "model provider keys",
    table: "model_providers",
    keyColumns: ["provider"],
    sealed: "sealed_key",
    sealContext: ({ provider }) => sealContext(String(provider)),
  });

  function open(provider: string, sealed: string): string | undefined {
    try {
      const key = vault.open(sealed, sealContext(provider));
      log.redactSecret(key, "always");
      return key;
    } catch (error) {
      log.error("the stored key of a model provider can't be opened; store it again", { provider, error });
      return undefined;
    }
  }

  async function readHere(): Promise<RawRows> {
    const [providers, models] = await Promise.all([
      database.read("SELECT provider, sealed_key, key_end, base_url, updated_at FROM model_providers"),
      database.read("SELECT choice, model FROM default_models"),
    ]);
    return { providers: providers.rows.map((row) => ({ ...row })), models: models.rows.map((row) => ({ ...row })) };
  }
  // Keys stay sealed on their way.
  cells?.answer(ROWS, async () => JSON.stringify(await readHere()));
  const readRows = async (): Promise<RawRows> =>
    cells && cells.here !== 0 ? (JSON.parse(await cells.ask(0, ROWS, "")) as RawRows) : readHere();

  /** One that is away reads them when it starts. */
  const tellOthers = () => {
    for (const cell of cells?.others ?? [])
      cells
        ?.ask(cell, CHANGED, "")
        .catch((error: unknown) => log.debug("a cell was not told of a key", { cell, error }));
  };
  function requireFirst(): void {
    if (cells && cells.here !== 0) throw setInFirstCell();
  }

  return {
    onChangedElsewhere(listener) {
      cells?.answer(CHANGED, async () => {
        await listener();
        return "";
      });
    },
    async load() {
      const rows = await readRows();
      const providers = rows.providers.map(({ provider, sealed_key, key_end, base_url, updated_at }) => {
        const one: StoredProvider = {
          apiKey: sealed_key === null ? undefined : open(String(provider), String(sealed_key)),
          keyEnd: key_end === null ? undefined : String(key_end),
          baseUrl: base_url === null ? undefined : String(base_url),
          updatedAt: Number(updated_at),
        };
        return [String(provider), one] as const;
      });
      const models = rows.models.map(({ choice, model }) => [String(choice), String(model)] as const);
      return { providers: new Map(providers), models: new Map(models) };
    },
    saveStatement(provider, { apiKey, keyEnd = null, baseUrl = null, updatedAt }) {
      requireFirst();
      if (apiKey !== undefined) log.redactSecret(apiKey, "always");
      const sealed = apiKey === undefined ? null : vault.seal(apiKey, sealContext(provider));
      return { sql: SAVE_SQL, args: [provider, sealed, keyEnd, baseUrl, updatedAt], after: tellOthers };
    },
    removeStatement(provider) {
      requireFirst();
      return { sql: "DELETE FROM model_providers WHERE provider = ?", args: [provider], after: tellOthers };
    },
    modelStatement(choice, model) {
      requireFirst();
      return model === undefined
        ? { sql: "DELETE FROM default_models WHERE choice = ?", args: [choice], after: tellOthers }
        : { sql: SAVE_MODEL_SQL, args: [choice, model, Date.now()], after: tellOthers };
    },
  };
}

const setInFirstCell = () =>
  new AppError(
    409,
    "SET_IN_FIRST_CELL",
    "Keys and default models are kept in cell 0, for all cells. Change them as an admin whose account is there, or set them in the environment.",
  );
