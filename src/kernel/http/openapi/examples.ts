// Puts recorded requests and answers into the document as examples.
import { type MediaTypes, type OpenApiDocument, type Operation, parseOperationName } from "./document.ts";

/** A request that was sent to the running program, and its answer. */
export interface RecordedExample {
  /** What it shows, if an operation has several. */
  summary?: string;
  /** Parameters of the path, the query and the headers, by name. */
  parameters?: Record<string, string>;
  /** The request's body, parsed if it is JSON. */
  body?: unknown;
  /** The body's media type, if it is not JSON. */
  bodyType?: string;
  status: number;
  /** The answer's media type. */
  type?: string;
  /** The answer's body, parsed if it is JSON. */
  response?: unknown;
}

/** By operation ("GET /api/agents/{id}"), at least one. */
export type RecordedExamples = Record<string, RecordedExample[]>;

const JSON_TYPE = "application/json";
const EVENT_STREAM = "text/event-stream";
/** Documented for files of any type. */
const BINARY = "application/octet-stream";

/** Adds the examples to the operations that the document has; changes the document. */
export function addExamples(document: OpenApiDocument, examples: RecordedExamples): void {
  for (const [name, recorded] of Object.entries(examples)) {
    const { method, path } = parseOperationName(name);
    const operation = document.paths[path]?.[method];
    if (!operation) continue;
    for (const [index, example] of recorded.entries()) addExample(operation, example, `example${index + 1}`);
  }
}

function addExample(operation: Operation, example: RecordedExample, name: string): void {
  const { summary, parameters = {}, body, bodyType = JSON_TYPE, status, type, response } = example;
  const add = (content: MediaTypes | undefined, mediaType: string, value: unknown, key = name) => {
    const media = content?.[mediaType] ?? content?.[BINARY];
    if (media) media.examples = { ...media.examples, [key]: { ...(summary && { summary }), value } };
  };
  for (const parameter of operation.parameters ?? []) {
    const value = parameters[parameter.name];
    if (value !== undefined) parameter.example ??= typedParameter(value, parameter.schema?.type);
  }
  if (body !== undefined) add(operation.requestBody?.content, bodyType, body);
  if (type === undefined || response === undefined) return;
  const content = operation.responses?.[status]?.content;
  // Of a stream, one event of each kind.
  if (type === EVENT_STREAM && Array.isArray(response)) {
    for (const [index, event] of response.entries()) {
      add(content, type, event, String(event.event ?? event.data?.type ?? `event${index + 1}`));
    }
  } else add(content, type, response);
}

const typedParameter = (value: string, type: unknown) =>
  type === "integer" || type === "number" ? Number(value) : value;
