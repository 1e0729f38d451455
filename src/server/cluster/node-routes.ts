// Answers what concerns this machine alone, whoever owns the cell: /healthz, /readyz and, without the cell, /metrics.
import { timingSafeEqual } from "node:crypto";
import type { ClusterFigures } from "../../cluster/figures.ts";
import { failure } from "../../cluster/relay/failure.ts";
import { type RouterDeps, WAIT_MS } from "../../cluster/relay/router.ts";
import { type Config, isLoopbackHost } from "../../kernel/config/config.ts";
import { forbidden, notFound } from "../../kernel/errors.ts";
import { createMetrics, type Metrics } from "../../kernel/telemetry/metrics.ts";

export interface NodeRouteDeps {
  config: Config;
  figures: ClusterFigures;
  /** How many cells there are. */
  count(): number;
  state(): { isTrusted: boolean; isHere: boolean; hasOwner: boolean };
}

/**
 * Whether cell 0 has an owner, or lost it so short a time ago that requests wait for the next one: a load balancer that took all machines
 * out meanwhile would refuse them. `look` is called when the owner may have changed.
 */
export function createOwnerWatch(isOwned: () => boolean, now = () => performance.now()) {
  /** Monotonic ms. */
  let awaySince = Number.NEGATIVE_INFINITY;
  let wasOwned = false;
  function look(): void {
    const is = isOwned();
    if (wasOwned && !is) awaySince = now();
    wasOwned = is;
  }
  return {
    look,
    hasOwner(): boolean {
      look();
      return wasOwned || now() - awaySince <= WAIT_MS;
    },
  };
}

export function createNodeRoutes({ config, figures, count, state }: NodeRouteDeps): RouterDeps["own"] {
  let metrics: Metrics | undefined;
  return async (request, surface) => {
    const { isTrusted, isHere, hasOwner } = state();
    const { pathname: path, search } = URL.parse(request.url) ?? {};
    if (path === "/healthz" && !isHere) return Response.json({ status: "ok" });
    if (path === "/readyz" && !isHere) {
      const parts = { lease: isTrusted, owner: hasOwner };
      const failing = Object.entries(parts).flatMap(([name, isReady]) => (isReady ? [] : [name]));
      if (failing.length === 0) return Response.json({ status: "ready", parts });
      const text = `Not ready: ${failing.join(", ")}.`;
      return Response.json({ status: "error", error: text, message: text, code: "NOT_READY", parts }, { status: 503 });
    }
    if (path === "/metrics" && surface === "backend" && (!isHere || search !== "")) {
      const refused = refuseMetrics(request, search ?? "", config, count());
      if (refused) return refused;
      // Those of a cell are where the cell is.
      if (search !== "") return undefined;
      if (!metrics) {
        metrics = createMetrics();
        figures.register(metrics);
      }
      return new Response(await metrics.scrape(), { headers: { "content-type": "text/plain; version=0.0.4" } });
    }
    return undefined;
  };
}

/** Refuses metrics to those who may not read them, and those of a cell that is not there. */
export function refuseMetrics(request: Request, search: string, config: Config, count: number): Response | undefined {
  if (!mayReadMetrics(request, config))
    return failure(forbidden("METRICS_CLOSED", "Metrics need METRICS_TOKEN as the bearer token."));
  const cell = new URLSearchParams(search).get("cell");
  if (cell === null || (/^\d{1,4}$/.test(cell) && Number(cell) < count)) return undefined;
  return failure(notFound("There is no such cell.", "CELL_NOT_FOUND"));
}

/** Whether a request may read metrics: with METRICS_TOKEN, or without one where only this machine reaches the listener. */
function mayReadMetrics(request: Request, { metricsToken, backend }: Config): boolean {
  if (metricsToken === undefined) return isLoopbackHost(backend.host);
  const hash = (text: string) => new Bun.CryptoHasher("sha256").update(text).digest();
  return timingSafeEqual(hash(request.headers.get("authorization") ?? ""), hash(`Bearer ${metricsToken}`));
}
