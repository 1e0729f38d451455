// Finds the upstreams that have a model of a kind (transcription, speech, pictures) for an agent, with its price there.
import { AppError } from "../../../src/kernel/errors.ts";
import type { Candidate } from "../providers/candidates.ts";
import type { UnknownPrice } from "../providers/price-check.ts";
import { FREE } from "../providers/pricing.ts";
import type {
  PictureModel,
  ProviderDefinition,
  ProviderId,
  SpeechModel,
  TranscriptionModel,
} from "../providers/provider.ts";
import type { Providers, Upstream } from "../providers/providers.ts";

/** What models of one kind have in common. */
export interface ModelKind<Model extends { id: string }> {
  modelsOf(definition: ProviderDefinition): readonly Model[];
  /** A model that costs as much as the dearest of these; nothing if there are none. */
  priced(id: string, known: readonly Model[]): Model;
}

const most = (prices: readonly number[]) => Math.max(0, ...prices);

export const TRANSCRIPTION: ModelKind<TranscriptionModel> = {
  modelsOf: ({ transcriptionModels = [] }) => transcriptionModels,
  priced: (id, known) => ({ id, perMinute: most(known.map(({ perMinute }) => perMinute)) }),
};

/** For a server whose models have names of their own: the format that chat apps take. */
const USUAL = { voice: "alloy", format: "opus" } as const;

export const SPEECH: ModelKind<SpeechModel> = {
  modelsOf: ({ speechModels = [] }) => speechModels,
  priced: (id, known) => ({
    ...{ id, ...USUAL },
    perMinute: most(known.map(({ perMinute }) => perMinute)),
    perMillionCharacters: most(known.map(({ perMillionCharacters }) => perMillionCharacters)),
  }),
};

/** What stands before the number of a version, such as `gpt-image-`: models with the same take the same fields. */
const familyOf = (id: string) => /^\D*/.exec(id)?.[0] ?? id;

export const PICTURES: ModelKind<PictureModel> = {
  modelsOf: ({ pictureModels = [] }) => pictureModels,
  priced(id, known) {
    const counted = known.flatMap(({ perMillion = [] }) => perMillion);
    const relative = known.find((one) => familyOf(one.id) === familyOf(id));
    return {
      fields: { response_format: "b64_json" },
      ...relative,
      id,
      perPicture: most(known.map(({ perPicture }) => perPicture)),
      // The picture may be a dearer one than the dearest of these: the tokens that the answer counts decide.
      ...(counted.length > 0 && {
        perMillion: {
          input: most(counted.map(({ input }) => input)),
          output: most(counted.map(({ output }) => output)),
        },
      }),
    };
  },
};

/** An upstream that can serve a call; its price is in `model`. */
export interface MediaCandidate<Model> extends Candidate {
  readonly model: Model;
}

/** The candidates for an agent, tried in order. */
export interface MediaChoice<Model> {
  readonly candidates: readonly MediaCandidate<Model>[];
  /** The key is the agent's or its owner's. */
  readonly ownKey: boolean;
}

interface Deps {
  providers: Pick<Providers, "registry" | "configuredUpstreams" | "operatorUpstream" | "upstreamWithKey">;
  isDown(provider: ProviderId): boolean;
  unknownPrice: UnknownPrice;
}

/** Keys of the agent or its owner. */
export type OwnKeys = Readonly<Partial<Record<ProviderId, string>>>;

export function createMediaModels({ providers, isDown, unknownPrice }: Deps) {
  const { registry } = providers;

  /**
   * The candidates for a model (`provider_N:id` or an id), or for the first known one of each provider. Keys of the agent
   * or its owner are preferred and have no fallback. Empty if no provider can do it.
   * @throws AppError 402 `PRICE_UNKNOWN` for a model that must not be called for want of a price
   */
  return <Model extends { id: string }>(
    { modelsOf, priced }: ModelKind<Model>,
    reference: string | undefined,
    keys: OwnKeys,
  ): MediaChoice<Model> => {
    function candidate(upstream: Upstream, modelId: string, ownKey = false): MediaCandidate<Model> {
      const made = (model: Model) => ({ upstream, modelId, pricing: FREE, model });
      // The operator's own server costs nothing.
      if (upstream.local) return made(priced(modelId, []));
      const known = modelsOf(upstream.definition).find(({ id }) => id === modelId);
      // As for turns: who pays with a key of their own is not refused.
      if (!known && !ownKey && unknownPrice === "refuse") throw unknownPriceError(modelId);
      return made(known ?? priced(modelId, registry.all.flatMap(modelsOf)));
    }

    const named = reference === undefined ? undefined : registry.parseReference(reference);
    if (named) {
      const key = keys[named.provider];
      const ownKey = key !== undefined;
      const upstream = ownKey
        ? providers.upstreamWithKey(named.provider, key)
        : providers.operatorUpstream(named.provider);
      return { candidates: upstream && !upstream.demo ? [candidate(upstream, named.modelId, ownKey)] : [], ownKey };
    }
    const offers = (upstream: Upstream) => {
      // The models of the public provider say nothing about a local server.
      const listed = upstream.local ? [] : modelsOf(upstream.definition);
      const found = listed.find(({ id }) => reference === undefined || id === reference);
      return found ? [candidate(upstream, found.id)] : [];
    };
    for (const id of registry.ids) {
      const [own] = keys[id] === undefined ? [] : offers(providers.upstreamWithKey(id, keys[id]));
      if (own) return { candidates: [own], ownKey: true };
    }
    const configured = providers.configuredUpstreams().filter(({ demo }) => !demo);
    const offered = configured
      .flatMap(offers)
      .sort((a, b) => Number(isDown(a.upstream.provider)) - Number(isDown(b.upstream.provider)));
    const [first] = configured;
    if (offered.length > 0 || reference === undefined || !first) return { candidates: offered, ownKey: false };
    // Lists are incomplete: the first provider decides on a model that none of them has.
    return { candidates: [candidate(first, reference)], ownKey: false };
  };
}

const unknownPriceError = (id: string) =>
  new AppError(402, "PRICE_UNKNOWN", `Nobody knows the price of ${id}, so it is not used here. Choose another model.`);
