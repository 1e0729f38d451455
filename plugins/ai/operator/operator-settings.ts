// Merges the environment's settings of model providers with those that admins stored. The environment wins, so that a
// deployment decides by its configuration alone if it wants to.

import type { SettingsOf } from "../../../src/kernel/config/config.ts";
import type { Database, Statement } from "../../../src/kernel/database/database.ts";
import { AppError } from "../../../src/kernel/errors.ts";
import type { ProviderRegistry } from "../providers/registry.ts";
import {
  MODEL_CHOICES,
  type ModelChoice,
  type ModelRef,
  type ProviderId,
  type ProviderSettings,
  parseModelRef,
  type providerSettings,
} from "../settings.ts";
import { keyEndOf, type StoredProvider, type StoredProviders, type StoredRows } from "./stored-providers.ts";

/** Where a setting comes from. */
export type SettingSource = "environment" | "stored" | "default";

/** A change of what is stored of a provider: omitted fields stay, null removes. */
export interface ProviderChange {
  apiKey?: string | null;
  baseUrl?: string | null;
}

export interface OperatorSettings {
  readonly registry: ProviderRegistry;
  /** The settings in force. */
  of(id: ProviderId): Readonly<ProviderSettings>;
  /** The models in force behind the choices of agents. */
  readonly models: Readonly<Record<ModelChoice, ModelRef>>;
  keySource(id: ProviderId): SettingSource;
  addressSource(id: ProviderId): SettingSource;
  modelSource(choice: ModelChoice): SettingSource;
  stored(id: ProviderId): StoredProvider | undefined;
  /** Reads what is stored. Call it once, before the first model call. */
  load(): Promise<void>;
  /** Stores a change with its entry of the audit log. Throws 409 `SET_BY_ENVIRONMENT`, 400 `KEY_REQUIRED`. */
  save(id: ProviderId, change: ProviderChange, auditStatement: Statement): Promise<void>;
  /** Removes what is stored of a provider; throws 404 `NOTHING_STORED`. */
  remove(id: ProviderId, auditStatement: Statement): Promise<void>;
  /** Stores default models; null restores the built-in one. Throws 409 `SET_BY_ENVIRONMENT`. */
  saveModels(models: Partial<Record<ModelChoice, ModelRef | null>>, auditStatement: Statement): Promise<void>;
  /** Registers a callback for changes of `of`. */
  onChange(listener: () => void): void;
}

interface Deps {
  environment: SettingsOf<typeof providerSettings>;
  storedProviders: StoredProviders;
  database: Pick<Database, "write">;
}

export function createOperatorSettings({ environment, storedProviders, database }: Deps): OperatorSettings {
  const { registry } = environment;
  let providers = new Map<string, StoredProvider>();
  let chosen = new Map<string, ModelRef>();
  const inForce = new Map<ProviderId, Readonly<ProviderSettings>>();
  const listeners: (() => void)[] = [];
  /** Changes are made one after the other, since each builds on the one before. */
  let lastChange: Promise<unknown> = Promise.resolve();

  const hasKey = (id: ProviderId) => environment.of(id).apiKey !== undefined;
  const hasAddress = (id: ProviderId) => environment.of(id).hasCustomBaseUrl;

  function merge(id: ProviderId): Readonly<ProviderSettings> {
    const given = environment.of(id);
    const stored = providers.get(id);
    if (!stored || hasKey(id)) return given;
    const baseUrl = hasAddress(id) ? undefined : stored.baseUrl;
    return Object.freeze({
      ...given,
      apiKey: stored.apiKey,
      ...(baseUrl === undefined ? {} : { baseUrl, hasCustomBaseUrl: true, hasStoredBaseUrl: true }),
    });
  }

  function of(id: ProviderId): Readonly<ProviderSettings> {
    let settings = inForce.get(id);
    if (!settings) {
      settings = merge(id);
      inForce.set(id, settings);
    }
    return settings;
  }

  function setStored({ providers: rows, models }: StoredRows): void {
    providers = new Map(rows);
    chosen = new Map(
      [...models].flatMap(([choice, text]) => {
        const ref = parseModelRef(registry, text);
        return ref ? [[choice, ref] as const] : [];
      }),
    );
    inForce.clear();
  }

  function notify(): void {
    inForce.clear();
    for (const listener of listeners) listener();
  }

  async function load(): Promise<void> {
    const hadAny = providers.size > 0;
    setStored(await storedProviders.load());
    if (hadAny || providers.size > 0) notify();
  }
  storedProviders.onChangedElsewhere(load);

  function change<T>(work: () => Promise<T>): Promise<T> {
    const done = lastChange.then(work);
    lastChange = done.catch(() => undefined);
    return done;
  }

  /** An address without a key of its own would get the key that was stored for another one. */
  function applyChange(id: ProviderId, { apiKey, baseUrl }: ProviderChange): StoredProvider {
    const before = providers.get(id);
    const newAddress = baseUrl === undefined ? before?.baseUrl : (baseUrl ?? undefined);
    const addressChanges = newAddress !== before?.baseUrl;
    if (apiKey === undefined && addressChanges && before?.apiKey !== undefined) throw keyRequired();
    const newKey = apiKey === undefined ? before?.apiKey : (apiKey ?? undefined);
    if (newKey === undefined && (registry.get(id).credential.required || newAddress === undefined)) throw keyRequired();
    return {
      apiKey: newKey,
      keyEnd: newKey === undefined ? undefined : keyEndOf(newKey),
      baseUrl: newAddress,
      updatedAt: Date.now(),
    };
  }

  return {
    registry,
    of,
    get models() {
      const inForceOf = (choice: ModelChoice): ModelRef =>
        environment.isModelSet(choice)
          ? environment.models[choice]
          : (chosen.get(choice) ?? environment.models[choice]);
      return { model_a: inForceOf("model_a"), model_b: inForceOf("model_b") };
    },
    keySource: (id) => (hasKey(id) ? "environment" : of(id).apiKey === undefined ? "default" : "stored"),
    addressSource: (id) => (hasAddress(id) ? "environment" : of(id).hasStoredBaseUrl ? "stored" : "default"),
    modelSource: (choice) =>
      environment.isModelSet(choice) ? "environment" : chosen.has(choice) ? "stored" : "default",
    stored: (id) => providers.get(id),

    load,

    save: (id, wanted, auditStatement) =>
      change(async () => {
        const { env } = registry.get(id);
        // A key of the environment must not be sent to an address that only the console knows.
        if (hasKey(id)) throw setByEnvironment(`${env}_API_KEY`);
        if (typeof wanted.baseUrl === "string" && hasAddress(id)) throw setByEnvironment(`${env}_BASE_URL`);
        const stored = applyChange(id, wanted);
        await database.write([storedProviders.saveStatement(id, stored), auditStatement]);
        providers.set(id, stored);
        notify();
      }),

    remove: (id, auditStatement) =>
      change(async () => {
        if (!providers.has(id)) {
          throw new AppError(404, "NOTHING_STORED", "Nothing is stored for this provider.");
        }
        await database.write([storedProviders.removeStatement(id), auditStatement]);
        providers.delete(id);
        notify();
      }),

    saveModels: (models, auditStatement) =>
      change(async () => {
        const wanted = MODEL_CHOICES.flatMap((choice) => {
          const ref = models[choice];
          return ref === undefined ? [] : [{ choice, ref }];
        });
        const fixed = wanted.find(({ choice }) => environment.isModelSet(choice));
        if (fixed) throw setByEnvironment(fixed.choice.toUpperCase());
        const statements = wanted.map(({ choice, ref }) =>
          storedProviders.modelStatement(choice, ref ? `${ref.provider}:${ref.model}` : undefined),
        );
        await database.write([...statements, auditStatement]);
        for (const { choice, ref } of wanted) {
          if (ref) chosen.set(choice, ref);
          else chosen.delete(choice);
        }
      }),

    onChange: (listener) => void listeners.push(listener),
  };
}

const setByEnvironment = (variable: string) =>
  new AppError(
    409,
    "SET_BY_ENVIRONMENT",
    `${variable} is set in the environment, which wins. Remove it there and restart to set it here.`,
    { variable },
  );

const keyRequired = () =>
  new AppError(
    400,
    "KEY_REQUIRED",
    "Give the key, too: this provider needs one, and a stored key is never sent to another address.",
  );
