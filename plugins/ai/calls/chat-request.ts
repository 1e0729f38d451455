// Checks chat requests by hand, since a schema would visit and copy every message.
import { type Issue, invalidInput } from "../../../src/kernel/errors.ts";
import { eventStream, passedEvent } from "../../../src/kernel/http/openapi/event-streams.ts";
import { taskTypes } from "../providers/catalogue-entry.ts";

/** The fields of a chat request that Berth reads; all others pass through unread. */
export interface ChatBody {
  model?: string | null;
  stream?: boolean | null;
  stream_options?: object | null;
  max_tokens?: number | null;
  max_completion_tokens?: number | null;
  taskType?: string | null;
  n?: number | null;
}

type Check = (value: unknown) => boolean;

const ROLES: readonly unknown[] = ["system", "developer", "user", "assistant", "tool", "function"];
const isText = (value: unknown): value is string => typeof value === "string";
const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const isNumberBetween =
  (min: number, max: number): Check =>
  (value) =>
    typeof value === "number" && value >= min && value <= max;
const isCount: Check = (value) => Number.isSafeInteger(value) && Number(value) >= 1;

/** Checks of optional fields, where null counts as missing, as with OpenAI. */
const OPTIONAL_FIELDS: Readonly<Record<string, readonly [Check, string]>> = {
  model: [(value) => isText(value) && value !== "" && value.length <= 200, "The model is text of 1 to 200 characters."],
  taskType: [(value) => isText(value) && value.length <= 64, "The task type is text."],
  stream: [(value) => typeof value === "boolean", "stream is true or false."],
  stream_options: [isObject, "stream_options is an object."],
  temperature: [isNumberBetween(0, 2), "temperature is a number from 0 to 2."],
  top_p: [isNumberBetween(0, 1), "top_p is a number from 0 to 1."],
  max_tokens: [isCount, "max_tokens is a whole number of at least 1."],
  max_completion_tokens: [isCount, "max_completion_tokens is a whole number of at least 1."],
  n: [(value) => isCount(value) && Number(value) <= 128, "n is a whole number from 1 to 128."],
};

/** Checks the fields that Berth uses and leaves the others to the provider. Throws 400 with issues. */
export function parseChatBody(body: unknown): ChatBody {
  if (!isObject(body)) throw invalidInput({ path: "", message: "Send a JSON object with messages." });
  const issues: Issue[] = [];
  const { messages } = body;
  if (!Array.isArray(messages) || messages.length === 0) {
    issues.push({ path: "messages", message: "Give messages: a list of at least one." });
  } else {
    for (const [index, message] of messages.entries()) checkMessage(message, `messages.${index}`, issues);
  }
  for (const name in OPTIONAL_FIELDS) {
    const value = body[name];
    if (value === undefined || value === null) continue;
    const [check, message] = OPTIONAL_FIELDS[name] ?? [];
    if (check && message && !check(value)) issues.push({ path: name, message });
  }
  if (issues.length > 0) throw invalidInput(issues.slice(0, 20));
  return body;
}

function checkMessage(message: unknown, path: string, issues: Issue[]): void {
  if (!isObject(message)) {
    issues.push({ path, message: "A message is an object with role and content." });
    return;
  }
  const { role, content } = message;
  if (!ROLES.includes(role)) issues.push({ path: `${path}.role`, message: `A role is one of: ${ROLES.join(", ")}.` });
  // An assistant's message may consist of tool calls alone.
  const hasNoContent = content === undefined || content === null;
  if (hasNoContent ? role !== "assistant" : !isText(content) && !Array.isArray(content)) {
    issues.push({ path: `${path}.content`, message: "The content is text, or a list of parts." });
  }
}

const numberSchema = (description: string) => ({ type: "number" as const, description });
const taskTypeList = taskTypes.join(", ");

/** The request body in the OpenAPI document. */
export const chatRequestBody = {
  required: true,
  description: "As OpenAI has it. Other fields are passed on to the provider, except those that may cost extra.",
  content: {
    "application/json": {
      schema: {
        type: "object" as const,
        required: ["messages"],
        additionalProperties: true,
        properties: {
          messages: {
            type: "array" as const,
            minItems: 1,
            items: {
              type: "object" as const,
              required: ["role"],
              additionalProperties: true,
              properties: {
                role: { type: "string" as const, enum: [...ROLES] },
                content: { description: "Text, or a list of parts; may be null beside tool calls" },
              },
            },
          },
          model: {
            type: "string" as const,
            description: "An id, or provider_N:id; left out: chosen for the task type",
          },
          taskType: { type: "string" as const, description: `${taskTypeList}; another counts as general` },
          stream: { type: "boolean" as const },
          stream_options: { type: "object" as const, additionalProperties: true },
          temperature: numberSchema("0 to 2"),
          top_p: numberSchema("0 to 1"),
          max_tokens: numberSchema("At most 4096; more is taken as 4096"),
          max_completion_tokens: numberSchema("The same under its newer name"),
        },
      },
    },
  },
};

/** The error codes of a chat call, by status. */
export const chatErrors = {
  400: ["INVALID_INPUT", "PROVIDER_REFUSED", "UNSUPPORTED_FIELD"],
  401: "UNAUTHORIZED",
  402: ["BUDGET_EXCEEDED", "PRICE_UNKNOWN"],
  404: ["NO_MODELS", "PROVIDER_REFUSED"],
  413: "PROVIDER_REFUSED",
  422: "PROVIDER_REFUSED",
  429: "PROVIDER_RATE_LIMITED",
  502: ["PROVIDER_FAILED", "PROVIDER_MISCONFIGURED", "PROVIDER_RESTING", "PROVIDER_TIMEOUT", "PROVIDER_UNREACHABLE"],
  503: "PRICE_UNAVAILABLE",
};

/** The responses in the OpenAPI document. */
export const chatResponses = {
  200: {
    description:
      "The provider's chat completion, byte for byte; with stream: true its server-sent events as they come.",
    headers: { "x-berth-model": { description: "provider_N:id that answered", schema: { type: "string" as const } } },
    content: {
      "application/json": { schema: { type: "object" as const, additionalProperties: true } },
      ...eventStream(passedEvent("ChatCompletionEvent", "A chunk as the provider sends it; at the end `[DONE]`.")),
    },
  },
};
