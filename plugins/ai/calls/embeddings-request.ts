// Checks the fields of an embeddings request that Berth reads.
import { type Issue, invalidInput } from "../../../src/kernel/errors.ts";

/** The body as it came, with its checked model. */
export interface EmbeddingsBody extends Record<string, unknown> {
  model: string;
}

/** Checks the fields that Berth uses and leaves the others to the provider. Throws 400 with issues. */
export function parseEmbeddingsBody(body: unknown): EmbeddingsBody {
  const { model, input } = Object(body) as { model?: unknown; input?: unknown };
  const hasModel = typeof model === "string" && model !== "" && model.length <= 200;
  const issues: Issue[] = [];
  if (!hasModel) issues.push({ path: "model", message: "Name the model: text of 1 to 200 characters." });
  const hasInput = typeof input === "string" || Array.isArray(input);
  if (!hasInput || input.length === 0) {
    issues.push({ path: "input", message: "Give the input: text, a list of texts, or tokens." });
  }
  if (!hasModel || issues.length > 0) throw invalidInput(issues);
  return { ...Object(body), model };
}

const text = { type: "string" as const };

/** The request body in the OpenAPI document. */
export const embeddingsRequestBody = {
  required: true,
  description: "As OpenAI has it. Other fields are passed on to the provider, except those that may cost extra.",
  content: {
    "application/json": {
      schema: {
        type: "object" as const,
        required: ["model", "input"],
        additionalProperties: true,
        properties: {
          model: { ...text, description: "An id, or provider_N:id" },
          input: { description: "Text, a list of texts, or tokens" },
          dimensions: { type: "integer" as const },
          encoding_format: { ...text, enum: ["float", "base64"] },
        },
      },
    },
  },
};

export const embeddingsResponses = {
  200: {
    description: "The provider's answer, byte for byte.",
    headers: { "x-berth-model": { description: "provider_N:id that answered", schema: text } },
    content: { "application/json": { schema: { type: "object" as const, additionalProperties: true } } },
  },
};
