// Serves /healthz, /readyz with the state of each part, and /metrics for Prometheus.
import { createHash, timingSafeEqual } from "node:crypto";
import { Elysia, t } from "elysia";
import { isLoopbackHost } from "../config/config.ts";
import { forbidden, unauthorized } from "../errors.ts";
import type { createHost } from "../plugin-host.ts";
import { documentErrors } from "./openapi/route-documentation.ts";
import { isLocalRequest } from "./request-context.ts";
import { openRoutes } from "./route-guards.ts";

/** Milliseconds after which a part counts as not ready. */
const CHECK_TIMEOUT_MS = 2_000;

const parts = t.Record(t.String(), t.Boolean(), { description: "Every part, and whether it does its work" });
const ready = t.Object({ status: t.String(), parts });
const notReady = t.Object(
  { status: t.String(), error: t.String(), message: t.String(), code: t.String(), parts },
  { description: "A part does not do its work" },
);

/** Makes the health routes of one surface. Only the backend serves metrics. */
export function healthRoutes(surfaceName: "web" | "backend", host: ReturnType<typeof createHost>) {
  const { config, database, jobs, log, metrics } = host.kernel;
  const detail = { tags: ["Health"] };

  async function check(name: string, ready: () => boolean | Promise<boolean>): Promise<[string, boolean]> {
    const timeout = new Promise<boolean>((resolve) => setTimeout(resolve, CHECK_TIMEOUT_MS, false).unref());
    try {
      return [name, await Promise.race([ready(), timeout])];
    } catch (error) {
      log.warn("not ready", { part: name, error });
      return [name, false];
    }
  }

  async function checkAll(): Promise<Record<string, boolean>> {
    const checks = [check("database", () => database.ready())];
    if (config.role !== "web") {
      checks.push(check("worker", () => jobs.ready()));
      for (const { name, parts } of host.built) if (parts.ready) checks.push(check(name, parts.ready));
    }
    return Object.fromEntries(await Promise.all(checks));
  }

  // Requests at the same time share one check: without a rate limit, a flood of them must not become one of queries.
  let running: Promise<Record<string, boolean>> | undefined;
  function checkTogether(): Promise<Record<string, boolean>> {
    running ??= checkAll().finally(() => {
      running = undefined;
    });
    return running;
  }

  const routes = new Elysia({ name: `health.${surfaceName}` })
    .use(openRoutes)
    .get("/healthz", () => ({ status: "ok" }), {
      open: true,
      response: { 200: t.Object({ status: t.String() }) },
      detail: {
        ...detail,
        summary: "Alive",
        description:
          "Answers 200 while the process runs. It checks nothing else, so a load balancer should ask `/readyz`.",
        operationId: "getHealth",
      },
    })
    .get(
      "/readyz",
      async ({ status }) => {
        const parts = await checkTogether();
        const failing = Object.keys(parts).filter((name) => !parts[name]);
        if (failing.length === 0) return { status: "ready", parts };
        const text = `Not ready: ${failing.join(", ")}.`;
        return status(503, { status: "error", error: text, message: text, code: "NOT_READY", parts });
      },
      {
        open: true,
        response: { 200: ready, 503: notReady },
        detail: {
          ...detail,
          summary: "Ready to serve: database, migrations, worker",
          description:
            "Checks each part that requests need, and lists them in `parts`. 503 while one of them is not ready.",
          operationId: "getReadiness",
        },
      },
    );
  if (surfaceName === "web") return routes;

  const { metricsToken } = config;
  const expected = metricsToken === undefined ? undefined : sha256(`Bearer ${metricsToken}`);
  const isLoopback = isLoopbackHost(config.backend.host);
  return routes.get(
    "/metrics",
    async ({ headers, request }) => {
      if (expected !== undefined) {
        if (!timingSafeEqual(sha256(headers.authorization ?? ""), expected))
          throw unauthorized("Send METRICS_TOKEN as the bearer token.");
      } else if (!isLoopback || !isLocalRequest(request)) {
        throw forbidden(
          "METRICS_CLOSED",
          "Without METRICS_TOKEN, metrics are only for requests from this machine to a loopback address, without a proxy.",
        );
      }
      return new Response(await metrics.scrape(), { headers: { "content-type": "text/plain; version=0.0.4" } });
    },
    {
      open: true,
      detail: {
        ...detail,
        summary: "Figures in Prometheus' text format",
        description:
          "For Prometheus. Only from this machine, unless the operator has set METRICS_TOKEN, which is then required.",
        operationId: "getMetrics",
        security: [{ metricsToken: [] }, {}],
        ...documentErrors({ 401: "UNAUTHORIZED", 403: "METRICS_CLOSED" }),
        responses: { 200: { description: "All figures", content: { "text/plain": { schema: { type: "string" } } } } },
      },
    },
  );
}

/** Hashes have one length, so that comparing them takes the same time for any token. */
const sha256 = (text: string) => createHash("sha256").update(text).digest();
