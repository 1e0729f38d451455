// A collector of traces: receives OTLP over HTTP, and checks each payload against the protocol's JSON form.
// https://github.com/open-telemetry/opentelemetry-proto/blob/main/opentelemetry/proto/trace/v1/trace.proto, and "JSON Protobuf
// Encoding" in the OTLP specification: ids are hex, 64-bit numbers are texts, enums are numbers, names are in lowerCamelCase.
import { type Static, type TSchema, Type as t } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { createWatch } from "./eventually.ts";

const strict = { additionalProperties: false };
const nanoseconds = t.String({ pattern: "^[1-9]\\d{18}$" });
const count = t.Integer({ minimum: 0 });

/** Without `kvlistValue` and `bytesValue`, which Berth does not send. */
const scalar = {
  stringValue: t.Optional(t.String()),
  boolValue: t.Optional(t.Boolean()),
  intValue: t.Optional(t.Union([t.Integer(), t.String({ pattern: "^-?\\d+$" })])),
  doubleValue: t.Optional(t.Number()),
};
const anyValue = t.Object(
  {
    ...scalar,
    arrayValue: t.Optional(t.Object({ values: t.Array(t.Object(scalar, { ...strict, minProperties: 1 })) }, strict)),
  },
  { ...strict, minProperties: 1, maxProperties: 1 },
);
const attributes = t.Array(t.Object({ key: t.String({ minLength: 1 }), value: anyValue }, strict));

const span = t.Object(
  {
    traceId: t.String({ pattern: "^[0-9a-f]{32}$" }),
    spanId: t.String({ pattern: "^[0-9a-f]{16}$" }),
    parentSpanId: t.Optional(t.String({ pattern: "^[0-9a-f]{16}$" })),
    traceState: t.Optional(t.String()),
    flags: t.Optional(count),
    name: t.String({ minLength: 1 }),
    kind: t.Integer({ minimum: 0, maximum: 5 }),
    startTimeUnixNano: nanoseconds,
    endTimeUnixNano: nanoseconds,
    attributes,
    droppedAttributesCount: t.Optional(count),
    events: t.Array(t.Object({}, strict), { maxItems: 0 }),
    droppedEventsCount: t.Optional(count),
    links: t.Array(t.Object({}, strict), { maxItems: 0 }),
    droppedLinksCount: t.Optional(count),
    status: t.Object(
      { code: t.Optional(t.Integer({ minimum: 0, maximum: 2 })), message: t.Optional(t.String()) },
      strict,
    ),
  },
  strict,
);
const scope = t.Object({ name: t.String(), version: t.Optional(t.String()) }, strict);
const exportTraceServiceRequest = t.Object(
  {
    resourceSpans: t.Array(
      t.Object(
        {
          resource: t.Object({ attributes, droppedAttributesCount: t.Optional(count) }, strict),
          scopeSpans: t.Array(t.Object({ scope, spans: t.Array(span), schemaUrl: t.Optional(t.String()) }, strict)),
          schemaUrl: t.Optional(t.String()),
        },
        strict,
      ),
    ),
  },
  strict,
);

export interface ReceivedSpan {
  name: string;
  kind: number;
  traceId: string;
  spanId: string;
  parentSpanId: string | undefined;
  /** 0 unset, 1 ok, 2 error. */
  status: number;
  attributes: Record<string, unknown>;
  service: unknown;
}

export interface Collector {
  /** For `OTEL_EXPORTER_OTLP_ENDPOINT`. */
  readonly url: string;
  readonly spans: ReceivedSpan[];
  /** The whole payloads, as text. */
  readonly payloads: string[];
  readonly headers: Headers[];
  /** Where payloads broke the protocol. */
  readonly violations: string[];
  /** Answers with this status from now on. */
  answer(status: number): void;
  waitForSpans(isDone: (spans: readonly ReceivedSpan[]) => boolean): Promise<void>;
  stop(): Promise<void>;
}

type Values = Static<typeof attributes>;

const toRecord = (list: Values) => Object.fromEntries(list.map(({ key, value }) => [key, toValue(value)]));

function toValue({ arrayValue, intValue, ...rest }: Values[number]["value"]): unknown {
  if (arrayValue) return arrayValue.values.map((value) => Object.values(value)[0]);
  return intValue === undefined ? Object.values(rest)[0] : Number(intValue);
}

export function startCollector(): Collector {
  const watch = createWatch();
  const spans: ReceivedSpan[] = [];
  const payloads: string[] = [];
  const headers: Headers[] = [];
  const violations: string[] = [];
  let status = 200;

  function check<Schema extends TSchema>(schema: Schema, value: unknown): value is Static<Schema> {
    for (const { path, message } of Value.Errors(schema, value)) violations.push(`${path}: ${message}`);
    return Value.Check(schema, value);
  }

  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const text = await request.text();
      if (status !== 200) return new Response("no", { status });
      if (request.method !== "POST" || new URL(request.url).pathname !== "/v1/traces") violations.push(request.url);
      if (request.headers.get("content-type") !== "application/json") violations.push("content-type");
      headers.push(request.headers);
      payloads.push(text);
      const body: unknown = JSON.parse(text);
      if (check(exportTraceServiceRequest, body)) {
        for (const { resource, scopeSpans } of body.resourceSpans) {
          const service = toRecord(resource.attributes)["service.name"];
          for (const one of scopeSpans.flatMap((group) => group.spans)) {
            if (BigInt(one.endTimeUnixNano) < BigInt(one.startTimeUnixNano))
              violations.push(`${one.name} ends before it begins`);
            const { name, kind, traceId, spanId, parentSpanId } = one;
            const more = { status: one.status.code ?? 0, attributes: toRecord(one.attributes), service };
            spans.push({ name, kind, traceId, spanId, parentSpanId, ...more });
          }
        }
      }
      watch.changed();
      return Response.json({});
    },
  });

  return {
    url: `http://127.0.0.1:${server.port}`,
    spans,
    payloads,
    headers,
    violations,
    answer(code) {
      status = code;
    },
    waitForSpans: async (isDone) => void (await watch.waitFor(() => isDone(spans))),
    stop: () => server.stop(true),
  };
}
