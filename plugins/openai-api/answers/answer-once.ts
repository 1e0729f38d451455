// Answers a request that comes again with the same Idempotency-Key with the first answer, so that a provider is paid once.
import type { Idempotency } from "../../../src/kernel/http/idempotency.ts";
import type { ModelSources } from "../sources/model-sources.ts";

interface Asked {
  request: Request;
  userId: string | undefined;
  /** The model as the client wrote it. */
  model: unknown;
}

/**
 * Models of a source are left to it, which also finds the answer after a crash. Streams are not kept. Without a key this only calls
 * `answer`.
 */
export type AnswerOnce = (asked: Asked, answer: () => Promise<Response>) => Promise<Response>;

interface Deps {
  idempotency: Pick<Idempotency, "respond">;
  sources: Pick<ModelSources, "sourceOf">;
}

export const createAnswerOnce =
  ({ idempotency, sources }: Deps): AnswerOnce =>
  ({ request, userId, model }, answer) =>
    sources.sourceOf(model) ? answer() : idempotency.respond({ request, userId }, answer);
