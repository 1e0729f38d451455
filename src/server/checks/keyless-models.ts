// Finds settings that name a model of a provider without a key.
import {
  audioSettings,
  embeddingSettings,
  parseModelRef,
  pictureSettings,
  providerSettings,
} from "../../../plugins/ai/settings.ts";
import type { Config, Finding } from "../../kernel/config/config.ts";
import { isGiven, warning } from "../../kernel/config/section.ts";
import { storedProviders } from "./stored-providers.ts";

/** With a database on a server, which this does not ask, the key may be stored there: nothing is found then. */
export function findKeylessModels(config: Config): Finding[] {
  const { registry, models, of } = config.of(providerSettings);
  const { transcription, speech } = config.of(audioSettings);
  const texts = {
    EMBEDDING_MODEL: config.of(embeddingSettings).model,
    TRANSCRIPTION_MODEL: transcription,
    SPEECH_MODEL: speech,
    PICTURE_MODEL: config.of(pictureSettings).model,
  };
  const named = [
    ["MODEL_A", models.model_a] as const,
    ["MODEL_B", models.model_b] as const,
    ...Object.entries(texts).map(([name, text]) => [name, parseModelRef(registry, text ?? "")] as const),
  ];
  const isSetUp = ({ id, credential }: (typeof registry.all)[number]) =>
    of(id).apiKey !== undefined || (!credential.required && of(id).hasCustomBaseUrl);
  const keyless = named.flatMap(([name, ref]) => {
    const provider = ref && isGiven(config.sources[name]) ? registry.get(ref.provider) : undefined;
    return provider && !isSetUp(provider) ? [{ name, provider }] : [];
  });
  if (keyless.length === 0 || config.database.file === undefined) return [];
  const stored = new Set(storedProviders(config).map(({ id }) => id));
  // Without any provider, an Ollama is looked for in the place of the first that can be local.
  const ollama = registry.all.find(({ capabilities }) => capabilities.localServer);
  const mayBeOllama = stored.size === 0 && !registry.all.some(isSetUp);
  return keyless
    .filter(({ provider }) => !stored.has(provider.id) && !(mayBeOllama && provider === ollama))
    .map(({ name, provider: { env, credential } }) => {
      const settings = credential.required ? `${env}_API_KEY` : `${env}_API_KEY or ${env}_BASE_URL`;
      return warning(
        name,
        `names a model of a provider that has no key, so only agents with a key of their own get it. Set ${settings}, or store a key in the console under Models.`,
      );
    });
}
