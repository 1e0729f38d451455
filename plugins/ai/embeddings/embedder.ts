// Makes vectors of texts with the operator's embedding model, paid by an account like its other calls.
import { AppError } from "../../../src/kernel/errors.ts";
import { SECOND } from "../../../src/kernel/util/time.ts";
import type { createApiCalls } from "../calls/api-calls.ts";

/** Characters of one text: the models read about 8,000 tokens. */
const MAX_TEXT = 8_000;
const TIMEOUT_MS = 20 * SECOND;

export interface Embedder {
  /** As configured: vectors of different models can't be compared. */
  readonly model: string;
  /** @throws AppError as API calls do: 402 `BUDGET_EXCEEDED`, 502 `MODEL_UNAVAILABLE` and others */
  embed(texts: readonly string[], userId: string, signal?: AbortSignal): Promise<Float32Array<ArrayBuffer>[]>;
}

export function createEmbedder(calls: Pick<ReturnType<typeof createApiCalls>, "embeddings">, model: string): Embedder {
  return {
    model,
    async embed(texts, userId, signal) {
      const body = { model, input: texts.map((text) => text.slice(0, MAX_TEXT).toWellFormed()) };
      const timeout = AbortSignal.timeout(TIMEOUT_MS);
      const response = await calls.embeddings({
        text: JSON.stringify(body),
        body,
        signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
        userId,
        maxAgeS: undefined,
      });
      const vectors = vectorsIn(await response.json());
      if (vectors.length === texts.length) return vectors;
      throw new AppError(502, "MODEL_UNAVAILABLE", "The embedding model gave no vectors. Try again shortly.");
    },
  };
}

/** The vectors of an answer in OpenAI's form, in the order of the texts. */
function vectorsIn(answer: unknown): Float32Array<ArrayBuffer>[] {
  const data: unknown = typeof answer === "object" && answer !== null ? Reflect.get(answer, "data") : undefined;
  if (!Array.isArray(data)) return [];
  const rows = data.flatMap((row: unknown) => {
    const { index, embedding } = Object(row) as { index?: unknown; embedding?: unknown };
    const isVector = Array.isArray(embedding) && embedding.length > 0 && embedding.every(Number.isFinite);
    return isVector ? [{ index: Number(index ?? 0), vector: new Float32Array(embedding) }] : [];
  });
  return rows.sort((a, b) => a.index - b.index).map(({ vector }) => vector);
}
