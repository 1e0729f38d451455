// What the API document says of the routes under /v1, on both surfaces alike.
import { eventStream, passedEvent } from "../../src/kernel/http/openapi/event-streams.ts";
import { documentErrors } from "../../src/kernel/http/openapi/route-documentation.ts";
import {
  cacheHeader,
  chatErrors,
  chatRequestBody,
  chatResponses,
  embeddingsRequestBody,
  embeddingsResponses,
} from "../ai/index.ts";
import { anthropicErrorSchema, openAiErrorSchema } from "./error-formats.ts";

const openAi = { tags: ["OpenAI"], "x-error-schema": openAiErrorSchema };
const anthropic = { tags: ["Anthropic"], "x-error-schema": anthropicErrorSchema };

type Properties = Record<string, object>;
const text = { type: "string" as const };
const object = { type: "object" as const, additionalProperties: true };
const anyObject = { "application/json": { schema: object } };

const objectOf = (properties: Properties, required: readonly string[], title?: string) => ({
  ...(title !== undefined && { title }),
  ...object,
  required: [...required],
  properties,
});
const jsonBody = (properties: Properties, required: readonly string[], description: string) => ({
  requestBody: {
    required: true,
    description,
    content: { "application/json": { schema: objectOf(properties, required) } },
  },
});
const answerOf = <Content extends Record<string, object>>(description: string, content: Content) => ({
  responses: { 200: { description, content } },
});
const model = { ...text, description: "An id, provider_N:id, or the id of an agent's model" };
const stream = { type: "boolean" as const, description: "Server-sent events" };
/** Of requests with an `Idempotency-Key`. */
const ONCE = { 409: ["IDEMPOTENCY_MISMATCH", "IDEMPOTENCY_IN_PROGRESS"] };
const callErrors = { ...chatErrors, ...ONCE };
/** Also of models that are agents, which answer these requests alone. */
const answerErrors = {
  ...callErrors,
  404: [...chatErrors[404], "MODEL_NOT_FOUND"],
  409: [...ONCE[409], "AGENT_STOPPED", "AGENT_FROZEN"],
  429: [chatErrors[429], "TOO_MANY_WAITING"],
  502: [...chatErrors[502], "MODEL_UNAVAILABLE"],
  503: [chatErrors[503], "AGENT_CHANGING", "STOPPING"],
};
const mediaErrors = { ...callErrors, 404: ["NO_MODELS", "PROVIDER_REFUSED"] };

const created = {
  type: "integer" as const,
  description:
    "Unix time in seconds: when the model came out, as its provider says, or when the agent was made. Of a model whose date is not known, the date of Berth's own list of models",
};
const modelItem = objectOf(
  { id: text, object: { ...text, enum: ["model"] }, created, owned_by: text },
  ["id", "object", "created", "owned_by"],
  "OpenAiModel",
);

export const documentation = {
  models: {
    ...openAi,
    summary: "Models that can be called",
    operationId: "listOpenAiModels",
    description: "With the header `anthropic-version` each has the fields of Anthropic's list, too.",
    ...answerOf("The models", {
      "application/json": {
        schema: objectOf({ object: text, data: { type: "array", items: modelItem } }, ["object", "data"]),
      },
    }),
  },
  model: {
    ...openAi,
    summary: "One model",
    description: "The row of `GET /v1/models` for one model.",
    ...documentErrors({ 404: "UNKNOWN_MODEL" }),
    ...answerOf("The model", { "application/json": { schema: modelItem } }),
  },
  chat: {
    ...openAi,
    summary: "Chat completions, passed through",
    description: "The same as /api/ai/chat, for OpenAI's clients. Models of agents answer here, too.",
    operationId: "createOpenAiChatCompletion",
    ...documentErrors(answerErrors),
    parameters: [cacheHeader],
    requestBody: chatRequestBody,
    responses: chatResponses,
  },
  embeddings: {
    ...openAi,
    summary: "Embeddings, passed through",
    description: "In the shape of OpenAI's embeddings.",
    ...documentErrors(callErrors),
    parameters: [cacheHeader],
    requestBody: embeddingsRequestBody,
    responses: embeddingsResponses,
  },
  responses: {
    ...openAi,
    summary: "Make a response",
    description:
      "Translated to a chat completion of the model's provider. It is stored for 30 days unless `store` is false, and `previous_response_id` continues it; without an account it is kept for an hour.",
    ...documentErrors({
      ...answerErrors,
      400: [...chatErrors[400], "PREVIOUS_RESPONSE_NOT_FOUND"],
      404: [...answerErrors[404], "UNKNOWN_ITEM"],
    }),
    ...jsonBody(
      {
        model,
        input: { description: "Text, or a list of items" },
        instructions: text,
        stream,
        store: { type: "boolean" as const },
        previous_response_id: text,
        tools: { type: "array" as const, items: object, description: "Functions, which the client runs" },
        max_output_tokens: { type: "integer" as const },
        metadata: { type: "object" as const, additionalProperties: text },
      },
      ["model", "input"],
      "As OpenAI has it. Fields that can't be kept are refused.",
    ),
    ...answerOf("The response, or its events", {
      ...anyObject,
      ...eventStream(passedEvent("ResponseEvent", "An event as OpenAI has it.")),
    }),
  },
  storedResponse: {
    ...openAi,
    summary: "A stored response",
    description: "The response as it was made, with its output.",
    ...documentErrors({ 404: "RESPONSE_NOT_FOUND" }),
    ...answerOf("The response", anyObject),
  },
  deleteResponse: {
    ...openAi,
    summary: "Delete a stored response",
    description: "It can no longer be continued with `previous_response_id`.",
    ...documentErrors({ 404: "RESPONSE_NOT_FOUND" }),
    ...answerOf("It is deleted", {
      "application/json": {
        schema: objectOf(
          { id: text, object: text, deleted: { type: "boolean" as const } },
          ["id", "object", "deleted"],
          "DeletedResponse",
        ),
      },
    }),
  },
  inputItems: {
    ...openAi,
    summary: "The input of a stored response",
    description: "The items that the model was given, in OpenAI's list.",
    operationId: "listResponseInputItems",
    ...documentErrors({ 404: "RESPONSE_NOT_FOUND" }),
    ...answerOf("The items", anyObject),
  },
  messages: {
    ...anthropic,
    summary: "Messages, for Anthropic's clients",
    description:
      "Translated to a chat completion of the provider that serves the model. The key may come as `x-api-key` or as bearer token.",
    ...documentErrors(answerErrors),
    ...jsonBody(
      {
        model,
        max_tokens: { type: "integer" as const, description: "At most 4096; more is taken as 4096" },
        messages: { type: "array" as const, items: object, minItems: 1 },
        system: { description: "Text, or a list of text blocks" },
        stream,
        tools: { type: "array" as const, items: object, description: "Tools that the client runs" },
      },
      ["model", "max_tokens", "messages"],
      "As Anthropic has it. Fields that can't be kept are refused.",
    ),
    ...answerOf("The message, or its events", {
      ...anyObject,
      ...eventStream(passedEvent("MessageEvent", "An event as Anthropic has it.")),
    }),
  },
  transcriptions: {
    ...openAi,
    summary: "Write down a recording",
    description: "The text of a recording, by a model for transcription.",
    operationId: "createTranscription",
    ...documentErrors(mediaErrors),
    requestBody: {
      required: true,
      content: {
        "multipart/form-data": {
          schema: objectOf(
            {
              file: { type: "string" as const, format: "binary" },
              model: { ...text, description: "Left out: the operator's" },
              language: text,
              prompt: text,
              response_format: { ...text, enum: ["json", "text", "srt", "verbose_json", "vtt"] },
            },
            ["file"],
          ),
        },
      },
    },
    ...answerOf("The provider's answer, in the format that was asked for", {
      ...anyObject,
      "text/plain": { schema: text },
    }),
  },
  speech: {
    ...openAi,
    summary: "Read a text aloud",
    description: "A recording of the text, by a model for speech.",
    operationId: "createSpeech",
    ...documentErrors(mediaErrors),
    ...jsonBody(
      { model: { ...text, description: "Left out: the operator's" }, input: text, voice: text, response_format: text },
      ["input"],
      "As OpenAI has it.",
    ),
    ...answerOf("The sound", { "audio/mpeg": { schema: { type: "string" as const, format: "binary" } } }),
  },
  images: {
    ...openAi,
    summary: "Make pictures",
    description: "Pictures of what the text describes, by a model for images.",
    operationId: "createImage",
    ...documentErrors({ ...mediaErrors, ...ONCE }),
    ...jsonBody(
      {
        model: { ...text, description: "Left out: the operator's" },
        prompt: text,
        n: { type: "integer" as const },
        size: text,
      },
      ["prompt"],
      "As OpenAI has it. A higher quality than medium is for accounts without a limit.",
    ),
    ...answerOf("The provider's answer", anyObject),
  },
};
