// Answers what concerns all cells of a machine: whether they are ready, and who may read the metrics of one.

import type { RouterDeps } from "../../cluster/relay/router.ts";
import type { Config } from "../../kernel/config/config.ts";
import { refuseMetrics } from "../cluster/node-routes.ts";

export function createMachineRoutes({
  config,
  count,
  isReady,
}: {
  config: Config;
  count(): number;
  /** Whether every other cell answers. Cell 0 answers for itself. */
  isReady(): boolean;
}): RouterDeps["own"] {
  return async (request, surface) => {
    const { pathname: path, search } = URL.parse(request.url) ?? {};
    if (path === "/readyz" && !isReady()) {
      const text = "Not ready: cells.";
      const body = { status: "error", error: text, message: text, code: "NOT_READY", parts: { cells: false } };
      return Response.json(body, { status: 503 });
    }
    if (path !== "/metrics" || surface !== "backend") return undefined;
    return refuseMetrics(request, search ?? "", config, count());
  };
}
