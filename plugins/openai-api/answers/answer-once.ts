// Answers a request that comes again with the same Idempotency-Key with the first answer, so that a provider is paid once.
import type { Idempotency } from "../../../src/kernel/http/idempotency.ts";
import type { ModelSources } from "../sources/model-sources.ts";

interface Asked {
  request: Request;
  userId: string | undefined;
  /** As the client sent it, parsed. */
  body: object;
}

/**
 * The answer of a source's model is left to the source, which also finds it after a crash; here its key is held to one body. Streams
 * of providers are not kept. Without a key this only calls `answer`. Throws 409 `IDEMPOTENCY_MISMATCH` for another body.
 */
export type AnswerOnce = (asked: Asked, answer: () => Promise<Response>) => Promise<Response>;

interface Deps {
  idempotency: Pick<Idempotency, "respond" | "holdToOneBody">;
  sources: Pick<ModelSources, "sourceOf">;
}

export const createAnswerOnce =
  ({ idempotency, sources }: Deps): AnswerOnce =>
  ({ request, userId, body }, answer) => {
    const { model, stream: _, stream_options: __, ...asked }: Record<string, unknown> = { ...body };
    if (!sources.sourceOf(model)) return idempotency.respond({ request, userId }, answer);
    if (!request.headers.has("idempotency-key")) return answer();
    // Streamed or whole, it is the same answer.
    return idempotency.holdToOneBody({ request, userId }, JSON.stringify({ model, ...asked }), answer);
  };
