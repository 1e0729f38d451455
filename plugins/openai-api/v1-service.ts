// What the routes under /v1 work with.
import type { ServiceOf } from "../../src/kernel/plugin.ts";
import type { ai } from "../ai/index.ts";
import type { AnswerOnce } from "./answers/answer-once.ts";
import type { Answers } from "./answers/answers.ts";
import type { DescribeError } from "./answers/stream-errors.ts";
import type { ListedModels } from "./sources/listed-models.ts";
import type { ModelSources } from "./sources/model-sources.ts";
import type { V1Bodies } from "./v1-bodies.ts";

export interface V1Service {
  ai: ServiceOf<typeof ai>["api"];
  sources: ModelSources;
  listed: ListedModels;
  answers: Answers;
  once: AnswerOnce;
  bodies: V1Bodies;
  describe: DescribeError;
}
