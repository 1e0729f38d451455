// An agent's figures, as `GET /api/agents/:id/figures` has them.
import type { figureSums } from "../../../../plugins/agent-stats/figure-model.ts";

export type FigureSums = typeof figureSums.static;
/** Of one period. */
export type Figures = FigureSums["total"];
