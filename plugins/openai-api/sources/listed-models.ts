// Lists the models under /v1: those of providers, and those that sources offer to the caller.
import { notFound } from "../../../src/kernel/errors.ts";
import type { ApiCaller } from "../../ai/index.ts";
import type { SourceModel } from "./model-source.ts";
import type { ModelSources } from "./model-sources.ts";
import { toSourceCaller } from "./source-answers.ts";

/** A model as OpenAI lists it. */
export interface ListedModel {
  id: string;
  object: "model";
  /** Unix time in seconds. */
  created: number;
  owned_by: string;
}

/** A model of a provider, in the order of preference. */
export interface ProviderModel {
  readonly id: string;
  readonly provider: string;
  readonly available: boolean;
  /** Unix time in seconds, if the provider says it. */
  readonly releasedAt?: number;
}

/**
 * Shown for a model whose date is not known, as Unix time in seconds: clients need a number here, and show 0 as a day in 1970. It is
 * that of the built-in list of models, and the same in every answer.
 */
export const LIST_DATE = Date.UTC(2026, 0, 1) / 1000;

interface Deps {
  /** The providers' models. */
  models(): Promise<readonly ProviderModel[]>;
  sources: ModelSources;
}

export function createListedModels({ models, sources }: Deps) {
  /** A model of several providers has its bare id at the first of them only. */
  async function ofProviders(): Promise<ListedModel[]> {
    const seen = new Set<string>();
    return (await models())
      .filter(({ available }) => available)
      .map(({ id, provider, releasedAt = dateIn(id) ?? LIST_DATE }) => {
        const isDuplicate = seen.has(id);
        seen.add(id);
        return {
          id: isDuplicate ? `${provider}:${id}` : id,
          object: "model",
          created: releasedAt,
          owned_by: provider,
        };
      });
  }

  return {
    async list(caller: ApiCaller): Promise<ListedModel[]> {
      const own = toSourceCaller(caller);
      const offered = own ? await Promise.all(sources.all.map((source) => source.list(own))) : [];
      return [...(await ofProviders()), ...offered.flat().map(ofSource)];
    },

    /** Also for `provider_N:id` of a listed model. Throws 404 `UNKNOWN_MODEL`. */
    async find(id: string, caller: ApiCaller): Promise<ListedModel> {
      const found = sources.sourceOf(id);
      if (found) {
        const own = toSourceCaller(caller);
        const model = own && (await found.source.find(found.name, own));
        if (!model) throw unknownModel(id);
        return ofSource(model);
      }
      const model = (await ofProviders()).find((one) => one.id === id || `${one.owned_by}:${one.id}` === id);
      if (!model) throw unknownModel(id);
      return { ...model, id };
    },
  };
}

export type ListedModels = ReturnType<typeof createListedModels>;

/** One that no list has, and one of another account alike. */
export const unknownModel = (id: string) =>
  notFound(
    `There is no model ${JSON.stringify(id.slice(0, 200))} for you. GET /v1/models lists them.`,
    "UNKNOWN_MODEL",
  );

const ofSource = ({ id, createdAt }: SourceModel): ListedModel => ({
  id,
  object: "model",
  created: Math.floor(createdAt / 1000),
  owned_by: "berth",
});

/** Of an id that ends with a date, such as `claude-haiku-4-5-20251001` and `gpt-4o-2024-05-13`; Unix time in seconds. */
function dateIn(id: string): number | undefined {
  const [, year, month, day] = /[-@](20\d\d)-?([01]\d)-?([0-3]\d)$/.exec(id) ?? [];
  const time = Date.parse(`${year}-${month}-${day}T00:00:00Z`);
  return Number.isNaN(time) ? undefined : time / 1000;
}

/**
 * The list as Anthropic's clients read it; it has the fields of OpenAI's, too. A date that is not known is the start of 1970 there.
 * https://docs.anthropic.com/en/api/models-list
 */
export const toAnthropicModel = (model: ListedModel) => ({
  ...model,
  type: "model" as const,
  display_name: model.id,
  created_at: new Date(model.created === LIST_DATE ? 0 : model.created * 1000).toISOString(),
});
