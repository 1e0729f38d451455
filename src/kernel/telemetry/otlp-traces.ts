// Sends traces by OTLP over HTTP, as JSON, with OpenTelemetry's own SDK. Parents are passed by hand: nothing is patched or tracked.
import {
  type Attributes,
  type Context,
  type Span as OtelSpan,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
} from "@opentelemetry/api";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { resourceFromAttributes } from "@opentelemetry/resources";
import { BatchSpanProcessor, RandomIdGenerator, type SpanExporter, TracerProvider } from "@opentelemetry/sdk-trace";
import { version } from "../../../package.json";
import type { Log } from "./log.ts";
import type { OutageWatch } from "./outages.ts";
import type { Span, SpanAttributes, SpanOptions, TraceSettings, Traces } from "./traces.ts";

/** With a collector that is away, the SDK's own shutdown takes ten seconds. */
const CLOSE_MS = 2_000;
/** First spans that later ones may follow on. */
const MAX_REMEMBERED = 5_000;
const KINDS = { internal: SpanKind.INTERNAL, client: SpanKind.CLIENT, producer: SpanKind.PRODUCER };

export function openTraces(
  { url, headers, serviceName, withContents }: TraceSettings,
  log: Log,
  outage: OutageWatch,
): Traces {
  const random = new RandomIdGenerator();
  /** The id of the trace that begins next; the SDK asks for it within `startSpan`. */
  let wantedTraceId: string | undefined;
  const exporter = reportingExporter(new OTLPTraceExporter({ url, headers: { ...headers } }), log, outage);
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ "service.name": serviceName, "service.version": version }),
    idGenerator: {
      generateTraceId: () => wantedTraceId ?? random.generateTraceId(),
      generateSpanId: () => random.generateSpanId(),
    },
    spanProcessors: [new BatchSpanProcessor({ exporter })],
  });
  const tracer = provider.getTracer("berth");
  /** The first spans, by the id of the work. */
  const first = new Map<string, Context>();

  function start(name: string, { kind = "internal", attributes = {} }: SpanOptions, parent: Context): OtelSpan {
    return tracer.startSpan(name, { kind: KINDS[kind], attributes: defined(attributes) }, parent);
  }

  function startFirst(id: string, name: string, options: SpanOptions): OtelSpan {
    wantedTraceId = traceIdOf(id);
    try {
      return start(name, options, ROOT_CONTEXT);
    } finally {
      wantedTraceId = undefined;
    }
  }

  function toSpan(span: OtelSpan, context: Context): Span {
    return {
      withContents,
      begin(name, options = {}) {
        const child = start(name, options, context);
        return toSpan(child, trace.setSpan(context, child));
      },
      set: (attributes) => void span.setAttributes(defined(attributes)),
      end(failure) {
        if (failure !== undefined) {
          span.setAttribute("error.type", failure);
          span.setStatus({ code: SpanStatusCode.ERROR });
        }
        span.end();
      },
    };
  }

  return {
    withContents,
    begin(id, name, options = {}) {
      const span = startFirst(id, name, options);
      const context = trace.setSpan(ROOT_CONTEXT, span);
      first.set(id, context);
      if (first.size > MAX_REMEMBERED) first.delete(first.keys().next().value ?? id);
      return toSpan(span, context);
    },
    follow(id, name, options = {}) {
      const parent = first.get(id);
      const span = parent ? start(name, options, parent) : startFirst(id, name, options);
      return toSpan(span, trace.setSpan(parent ?? ROOT_CONTEXT, span));
    },
    async close() {
      const limit = Promise.withResolvers<void>();
      const timer = setTimeout(limit.resolve, CLOSE_MS);
      await Promise.race([provider.shutdown().catch(() => undefined), limit.promise]);
      clearTimeout(timer);
    },
  };
}

/** The same exporter, which logs when the endpoint begins to refuse traces, and when it takes them again. */
function reportingExporter(exporter: OTLPTraceExporter, log: Log, outage: OutageWatch): SpanExporter {
  return {
    export(spans, done) {
      exporter.export(spans, (result) => {
        if (result.code === 0) {
          if (outage.worked()) log.info("traces are sent again");
        } else if (outage.failed(result.error ?? "the collector does not take them")) {
          log.warn("traces can't be sent; they are dropped", { error: result.error });
        }
        done(result);
      });
    },
    shutdown: () => exporter.shutdown(),
    forceFlush: () => exporter.forceFlush(),
  };
}

/** Undefined for what is no UUID: the trace then gets a random id. */
function traceIdOf(id: string): string | undefined {
  const hex = id.replaceAll("-", "").toLowerCase();
  return /^[0-9a-f]{32}$/.test(hex) ? hex : undefined;
}

function defined(attributes: SpanAttributes): Attributes {
  return Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== undefined));
}
