// Sends the requests of the scenarios to the running program, and keeps one exchange of each operation.

import type { OpenApiDocument } from "../../src/kernel/http/openapi/document.ts";
import type { RecordedExample, RecordedExamples } from "../../src/kernel/http/openapi/examples.ts";
import type { Berth } from "../support/berth.ts";
import type { Client } from "../support/client.ts";
import { patient } from "../support/eventually.ts";
import { readEvents } from "../support/sse.ts";
import { createNormaliser } from "./normalise.ts";

export type Side = "web" | "backend";

export interface CallOptions {
  /** Of the path; `id` is the tour's agent if it is left out. */
  path?: Record<string, string>;
  query?: Record<string, string>;
  body?: unknown;
  headers?: Record<string, string>;
  /** Who asks; null: without a credential. Default: the tour's owner. */
  as?: Client | null;
  /** A form with this file, in place of a body. */
  file?: File;
  /** The form's other fields. */
  fields?: Record<string, string>;
  /** Reads this many server-sent events, or to the end of the stream. */
  events?: number;
}

/** The answer of a step. `body` is any JSON: scenarios take ids of it. */
export interface StepAnswer {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: the answers of all routes, of which scenarios read an id here and there
  body: any;
}

export interface Tour {
  readonly side: Side;
  readonly berth: Berth;
  owner: Client;
  /** The agent that paths without an id are about. */
  agentId: string;
  /** Sends a request ("POST /api/agents/{id}/start") to the surface of this round, or to the web if only that has the route. */
  call(operation: string, options?: CallOptions): Promise<StepAnswer>;
  /** Sends it to this surface in either round. */
  on(side: Side, operation: string, options?: CallOptions): Promise<StepAnswer>;
  /** Steps that were refused, for the person who writes scenarios. */
  readonly refused: string[];
}

export function createTour(
  side: Side,
  berth: Berth,
  owner: Client,
  documents: Record<Side, OpenApiDocument>,
  recorded: Record<Side, RecordedExamples>,
): Tour {
  const refused: string[] = [];
  const hasRoute = (on: Side, operation: string) => {
    const [method = "", path = ""] = operation.split(" ");
    return documents[on].paths[path]?.[method.toLowerCase()] !== undefined;
  };

  async function send(on: Side, operation: string, options: CallOptions): Promise<StepAnswer> {
    const [method = "", template = ""] = operation.split(" ");
    // In the order of the path, in which the ids of the example are numbered.
    const parameters: Record<string, string> = {};
    const path = template.replace(/\{(\w+)\}/g, (_, name: string) => {
      parameters[name] = options.path?.[name] ?? (name === "id" ? tour.agentId : "unknown");
      return encodeURIComponent(parameters[name]);
    });
    Object.assign(parameters, options.path, options.query);
    const query = new URLSearchParams(options.query).toString();
    const { as = tour.owner, body, file, fields = {}, events } = options;
    const headers = new Headers({ "user-agent": "berth-tests/1.0", "x-operation": operation, ...options.headers });
    if (as?.cookie) headers.set("cookie", as.cookie);
    if (events !== undefined) headers.set("accept", "text/event-stream");
    let sent: FormData | string | null = null;
    if (file) {
      const form = new FormData();
      form.set("file", file);
      for (const [name, value] of Object.entries(fields)) form.set(name, value);
      sent = form;
    } else if (body !== undefined) {
      sent = typeof body === "string" ? body : JSON.stringify(body);
      if (!headers.has("content-type")) headers.set("content-type", "application/json");
    }
    const abort = new AbortController();
    const answer = await fetch(`${berth[on]}${path}${query === "" ? "" : `?${query}`}`, {
      method,
      headers,
      body: sent,
      redirect: "manual",
      signal: AbortSignal.any([abort.signal, AbortSignal.timeout(patient(STEP_MS))]),
    });
    const [type = ""] = (answer.headers.get("content-type") ?? "").split(";");
    let response: unknown;
    if (type === "text/event-stream" && answer.body) {
      response = await takeEvents(answer.body, events ?? 100);
      abort.abort();
    } else {
      // Bytes of a recording or an archive are no text.
      const text = /^audio\/|gzip$/.test(type) ? await answer.arrayBuffer().then(() => "") : await answer.text();
      response = type.endsWith("json") && text !== "" ? JSON.parse(text) : text;
    }
    if (answer.status >= 400)
      refused.push(`${on} ${operation}: ${answer.status} ${JSON.stringify(response)}`.slice(0, 300));
    keep(on, operation, answer.status, {
      ...(Object.keys(parameters).length > 0 && { parameters }),
      ...(body !== undefined && shownBody(body, headers.get("content-type") ?? "")),
      ...(file && { body: { file: file.name, ...fields }, bodyType: "multipart/form-data" }),
      status: answer.status,
      ...(type !== "" && response !== "" && { type, response }),
    });
    return { status: answer.status, body: response };
  }

  /** The first answer that is no error is the example; an error only until there is another. */
  function keep(on: Side, operation: string, status: number, example: RecordedExample): void {
    const known = recorded[on][operation] ?? [];
    const isStream = example.type === "text/event-stream";
    const isBetter = known.every((one) => one.status >= 400) && (known.length === 0 || status < 400);
    /** Another kind of request or answer than those that are known. */
    const isAnotherForm =
      status < 400 &&
      known.length < MAX_EXAMPLES &&
      known.every(
        (one) =>
          one.status !== status || one.type !== example.type || (one.bodyType ?? "") !== (example.bodyType ?? ""),
      );
    if (!isBetter && !isAnotherForm) return;
    const normaliser = createNormaliser([berth.web, berth.backend]);
    const shown: RecordedExample = {
      ...example,
      ...(example.parameters && { parameters: normaliser.value(example.parameters, false) as Record<string, string> }),
      ...(example.body !== undefined && { body: normaliser.value(example.body, false) }),
      ...(example.response !== undefined && { response: normaliser.value(example.response, !isStream) }),
    };
    recorded[on][operation] = isBetter ? [shown] : [...known, shown];
  }

  const tour: Tour = {
    side,
    berth,
    owner,
    agentId: "",
    refused,
    async call(operation, options = {}) {
      const on = [side, "web" as const].find((one) => hasRoute(one, operation));
      return on ? send(on, operation, options) : { status: 0, body: {} };
    },
    on: (wanted, operation, options = {}) => send(wanted, operation, options),
  };
  return tour;
}

/** The body of an example: of a form, its fields. */
function shownBody(body: unknown, type: string): Pick<RecordedExample, "body" | "bodyType"> {
  if (typeof body !== "string" || type === "application/json") return { body };
  const isForm = type === "application/x-www-form-urlencoded";
  return { body: isForm ? Object.fromEntries(new URLSearchParams(body)) : body, bodyType: type };
}

/** Of one operation. */
const MAX_EXAMPLES = 3;
/** The longest that a step may take. */
const STEP_MS = 15_000;

/** One event of each kind, in order. Where events have no name, the `type` in their data tells kinds apart. */
async function takeEvents(stream: ReadableStream<Uint8Array>, count: number): Promise<object[]> {
  const found = new Map<string, object>();
  let read = 0;
  for await (const { id, event, data: text } of readEvents(stream)) {
    const data: unknown = text.startsWith("{") ? JSON.parse(text) : text;
    const type = event === "message" ? typeOf(data) : undefined;
    const kind = type ?? event;
    if (text !== "" && !found.has(kind)) found.set(kind, { ...(id && { id }), ...(!type && { event }), data });
    if (++read >= count) break;
  }
  return [...found.values()];
}

const typeOf = (data: unknown): string | undefined => {
  if (typeof data !== "object" || data === null) return String(data);
  return "type" in data ? String(data.type) : undefined;
};
