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
  /** Unix time in seconds; 0 if nobody says. */
  created: number;
  owned_by: string;
}

/** A model of a provider, in the order of preference. */
export interface ProviderModel {
  readonly id: string;
  readonly provider: string;
  readonly available: boolean;
}

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
      .map(({ id, provider }) => {
        const isDuplicate = seen.has(id);
        seen.add(id);
        return { id: isDuplicate ? `${provider}:${id}` : id, object: "model", created: 0, owned_by: provider };
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

/** The list as Anthropic's clients read it; it has the fields of OpenAI's, too. */
export const toAnthropicModel = (model: ListedModel) => ({
  ...model,
  type: "model" as const,
  display_name: model.id,
  created_at: new Date(model.created * 1000).toISOString(),
});
