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
        return modelsFor(kind, model, keys).candidates.length > 0 ? [] : [{ path, message: missing }];
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
