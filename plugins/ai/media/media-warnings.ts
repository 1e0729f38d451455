// Warns about configured models for speech, recordings and pictures that the agent can't use, when a configuration is saved.
import { AppError, type Issue } from "../../../src/kernel/errors.ts";
import type { AgentSettings } from "../../agents/index.ts";
import { createMediaModels, type ModelKind, type OwnKeys, PICTURES, SPEECH, TRANSCRIPTION } from "./media-models.ts";

interface Deps {
  models: Parameters<typeof createMediaModels>[0];
  /** The model by which the operator's agents speak. */
  operatorSpeech: string | undefined;
}

const NO_SPEECH =
  "No provider has a model that speaks, so replies stay text. Add a key of a provider that has one, or name a model of your own server.";
const unusable = (model: string) =>
  `There is no key for ${model}, of the agent or the operator. Add one, or leave the model out.`;

const unknownModel = (id: string, known: readonly string[]) =>
  known.length === 0
    ? `Berth knows no model of this provider that can do this. ${id} is tried as it is.`
    : `Berth does not know ${id}, and tries it as it is. Known ones of this provider: ${known.join(", ")}.`;

export function createMediaWarnings({ models, operatorSpeech }: Deps) {
  const modelsFor = createMediaModels(models);

  /** @param keys of the agent or its owner */
  return ({ voice = {}, transcription = {}, pictures = {} }: AgentSettings, keys: OwnKeys): Issue[] => {
    /** `missing`: what to say if no provider can be used. */
    function check<Model extends { id: string }>(
      kind: ModelKind<Model>,
      path: string,
      model: string | undefined,
      missing: string,
    ): Issue[] {
      try {
        const [first] = modelsFor(kind, model, keys).candidates;
        if (!first) return [{ path, message: missing }];
        const known = kind.modelsOf(first.upstream.definition).map(({ id }) => id);
        // The operator's own server has models of its own, and a list is never complete.
        const isKnown = first.upstream.local || known.includes(first.modelId);
        return isKnown ? [] : [{ path, message: unknownModel(first.modelId, known) }];
      } catch (error) {
        if (!(error instanceof AppError)) throw error;
        return [{ path, message: error.message }];
      }
    }
    const named = <Model extends { id: string }>(kind: ModelKind<Model>, path: string, model: string | undefined) =>
      model === undefined ? [] : check(kind, path, model, unusable(model));
    const speaks = voice.replies !== undefined && voice.replies !== "never";
    return [
      ...named(TRANSCRIPTION, "transcription.model", transcription.model),
      ...named(SPEECH, "voice.model", voice.model),
      ...(speaks && voice.model === undefined ? check(SPEECH, "voice.replies", operatorSpeech, NO_SPEECH) : []),
      ...named(PICTURES, "pictures.model", pictures.model),
    ];
  };
}
