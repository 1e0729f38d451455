// Makes pictures with a provider's model for it, over OpenAI's `/images/generations`, paid from the agent's budget like a turn.
import { AppError } from "../../../src/kernel/errors.ts";
import { readLimitedBody } from "../../../src/kernel/util/limited-body.ts";
import type { Agent, AgentSettings } from "../../agents/index.ts";
import { createMediaCalls, type MediaAnswer, type MediaUsage } from "../media/media-calls.ts";
import { createMediaModels, type MediaCandidate, PICTURES } from "../media/media-models.ts";
import type { PictureModel, PictureShape, ProviderId } from "../providers/provider.ts";
import { isTokenCount } from "../providers/token-usage.ts";

export interface PictureRequest {
  /** The inbox entry whose turn makes the call. */
  turnId: string;
  prompt: string;
  shape: PictureShape;
  signal: AbortSignal;
}

export interface Painter {
  /**
   * The bytes of the picture, as the provider gives them.
   * @throws AppError 402 `BUDGET_EXCEEDED` before the call, 502 `PROVIDER_FAILED` for an answer without a picture, and those of
   * `calls/provider-calls.ts`
   */
  paint(request: PictureRequest): Promise<MediaAnswer<Uint8Array<ArrayBuffer>>>;
}

interface Deps {
  models: Parameters<typeof createMediaModels>[0];
  calls: Parameters<typeof createMediaCalls>[0];
  agents: {
    settings(agentId: string): Promise<AgentSettings>;
    credentials: { providerKeys(agentId: string): Promise<Partial<Record<ProviderId, string>>> };
  };
  operatorModel: string | undefined;
}

const PATH = "/images/generations";
const MAX_ANSWER_BYTES = 28_000_000;
/** A token has about four characters; for other scripts than Latin it has fewer. */
export const CHARACTERS_PER_TOKEN = 1;

export function createPictures({ models, calls, agents, operatorModel }: Deps) {
  const modelsFor = createMediaModels(models);
  const call = createMediaCalls(calls);

  return {
    async painterFor({ id, userId }: Pick<Agent, "id" | "userId">): Promise<Painter | undefined> {
      const { pictures = {}, budget } = await agents.settings(id);
      const keys = await agents.credentials.providerKeys(id);
      const choice = modelsFor(PICTURES, pictures.model ?? operatorModel, keys);
      if (choice.candidates.length === 0) return undefined;
      return {
        paint: ({ turnId, prompt, shape, signal }) =>
          call({
            ...choice,
            payer: { agent: { id, userId }, turnId, budget },
            path: PATH,
            signal,
            bodyFor: ({ model, modelId }) => ({
              body: JSON.stringify({
                ...{ model: modelId, prompt, n: 1, ...model.fields },
                ...(model.sizes && { size: model.sizes[shape] }),
              }),
              headers: { "content-type": "application/json" },
            }),
            mostUsd: ({ model }) =>
              model.perPicture + ((prompt.length / CHARACTERS_PER_TOKEN) * (model.perMillion?.input ?? 0)) / 1e6,
            async read(response, candidate) {
              const answer = await readPictures(response);
              const bytes = pictureOf(answer);
              if (!bytes) {
                const text = `${candidate.upstream.label} made no picture. Describe it in other words, or try again later.`;
                throw new AppError(502, "PROVIDER_FAILED", text);
              }
              return { result: bytes, usage: usageOf(answer, candidate) };
            },
          }),
      };
    },
  };
}

/** The picture in an answer. One that is only an address is not fetched: the address comes from outside. */
function pictureOf(answer: unknown): Uint8Array<ArrayBuffer> | undefined {
  const { data } = Object(answer) as { data?: unknown };
  const base64: unknown = Array.isArray(data) ? Object(data[0]).b64_json : undefined;
  if (typeof base64 !== "string" || base64 === "") return undefined;
  const bytes = new Uint8Array(Buffer.from(base64, "base64"));
  return bytes.length > 0 ? bytes : undefined;
}

/** What the answer counts, else the price of so many pictures. */
export function usageOf(answer: unknown, { model }: MediaCandidate<PictureModel>, pictures = 1): MediaUsage {
  const { input_tokens: input, output_tokens: output } = Object(Object(answer).usage) as Record<string, unknown>;
  if (!model.perMillion || !isTokenCount(input) || !isTokenCount(output)) {
    return { inputTokens: 0, outputTokens: 0, usd: pictures * model.perPicture };
  }
  const usd = (input * model.perMillion.input + output * model.perMillion.output) / 1e6;
  return { inputTokens: input, outputTokens: output, usd };
}

export async function readPictures(response: Response): Promise<unknown> {
  const bytes = await readLimitedBody(response, MAX_ANSWER_BYTES);
  if (!bytes) throw new AppError(502, "PROVIDER_FAILED", "The provider's picture is too large.");
  try {
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    return undefined;
  }
}
