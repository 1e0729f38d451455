// The plugin of /v1: the APIs of OpenAI and Anthropic, over the models of providers and of other plugins' sources.
import { plugin } from "../../src/kernel/plugin.ts";
import { createModelSources } from "./sources/model-sources.ts";

export type {
  AnswerPart,
  AnswerUsage,
  ContentPart,
  FinishReason,
  FunctionCall,
  FunctionTool,
  ModelSource,
  SourceCaller,
  SourceMessage,
  SourceModel,
  SourceRequest,
} from "./sources/model-source.ts";

export const openaiApi = plugin("openai-api", () => {
  const sources = createModelSources();
  return {
    service: {
      /** Offers the models of a source under /v1, beside those of the providers. Called while plugins are set up. */
      registerModelSource: sources.register,
    },
  };
});
