// Answers what concerns all cells of a machine: whether they are ready, and who may read the metrics of one.

import { failure } from "../../cluster/relay/failure.ts";
import type { RouterDeps } from "../../cluster/relay/router.ts";
import type { Config } from "../../kernel/config/config.ts";
import { forbidden } from "../../kernel/errors.ts";
import { mayReadMetrics } from "../cluster/node-routes.ts";

export function createMachineRoutes({
  config,
  isReady,
}: {
  config: Config;
  /** Whether every other cell answers. Cell 0 answers for itself. */
  isReady(): boolean;
}): RouterDeps["own"] {
  return async (request, surface) => {
    const path = URL.parse(request.url)?.pathname;
    if (path === "/readyz" && !isReady()) {
      const text = "Not ready: cells.";
      const body = { status: "error", error: text, message: text, code: "NOT_READY", parts: { cells: false } };
      return Response.json(body, { status: 503 });
    }
    if (path !== "/metrics" || surface !== "backend" || mayReadMetrics(request, config)) return undefined;
    return failure(forbidden("METRICS_CLOSED", "Metrics need METRICS_TOKEN as the bearer token."));
  };
}
