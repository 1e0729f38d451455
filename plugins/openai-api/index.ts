// The plugin of /v1: the APIs of OpenAI and Anthropic, over the models of providers and of other plugins' sources.
import { plugin } from "../../src/kernel/plugin.ts";
import { once } from "../../src/kernel/util/cache.ts";
import { ai } from "../ai/index.ts";
import { createAnswerOnce } from "./answers/answer-once.ts";
import { createAnswers } from "./answers/answers.ts";
import { createDescribeError } from "./answers/stream-errors.ts";
import { backendRoutes } from "./backend-routes.ts";
import { errorFormats } from "./error-formats.ts";
import { responsesKind } from "./responses/responses-retention.ts";
import { openaiApiSettings } from "./settings.ts";
import { createListedModels } from "./sources/listed-models.ts";
import { createModelSources } from "./sources/model-sources.ts";
import { createV1Bodies } from "./v1-bodies.ts";
import type { V1Service } from "./v1-service.ts";

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

export const openaiApi = plugin("openai-api", ({ kernel, use }) => {
  const { api } = use(ai);
  const sources = createModelSources();
  const service: V1Service = {
    ai: api,
    sources,
    listed: createListedModels({ models: api.models, sources }),
    answers: createAnswers({ sources, chat: api.chat }),
    once: createAnswerOnce({ idempotency: kernel.idempotency, sources }),
    bodies: createV1Bodies(api.callers.isForwarded),
    describe: createDescribeError(kernel.log),
  };
  const stored = once(async () => {
    const { createStoredResponses } = await import("./responses/stored-responses.ts");
    return createStoredResponses(kernel);
  });
  kernel.retention.register(responsesKind(kernel.database));

  return {
    service: {
      /** Offers the models of a source under /v1, beside those of the providers. Called while plugins are set up. */
      registerModelSource: sources.register,
    },
    errorFormats,
    latePrefixes: ["/v1/"],
    backend: backendRoutes(service),
    lateRoutes: {
      web: [
        async () =>
          (await import("./web-routes.ts")).webRoutes({
            backend: kernel.backend,
            callers: api.callers,
            isPublic: kernel.config.of(openaiApiSettings).isPublicOnWeb,
            bodies: service.bodies,
          }),
      ],
      backend: [async () => (await import("./late-routes.ts")).lateRoutes({ ...service, stored: await stored() })],
    },
  };
});
