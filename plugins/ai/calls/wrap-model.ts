// Wraps a language model so that the options of its calls can be changed or observed.
import type { LanguageModelV4, LanguageModelV4CallOptions } from "@ai-sdk/provider";

/** The same model, whose calls get the options that `mapOptions` returns. */
export const wrapModel = (
  model: LanguageModelV4,
  mapOptions: (options: LanguageModelV4CallOptions) => LanguageModelV4CallOptions,
): LanguageModelV4 => ({
  specificationVersion: model.specificationVersion,
  provider: model.provider,
  modelId: model.modelId,
  supportedUrls: model.supportedUrls,
  doGenerate: (options) => model.doGenerate(mapOptions(options)),
  doStream: (options) => model.doStream(mapOptions(options)),
});
