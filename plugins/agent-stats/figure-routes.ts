// The route of an agent's figures over time.
import { Elysia, t } from "elysia";
import { invalidInput } from "../../src/kernel/errors.ts";
import type { ServiceOf } from "../../src/kernel/plugin.ts";
import { isTimeZone } from "../../src/kernel/util/time-zone.ts";
import type { agents as agentsPlugin } from "../agents/index.ts";
import type { createFigureReader, FigurePoint } from "./figures.ts";

const count = t.Integer();
const orNull = t.Union([t.Integer(), t.Null()]);
const figures = {
  received: count,
  sent: t.Integer({ description: "Replies" }),
  turnsOk: count,
  turnsFailed: count,
  inputTokens: count,
  outputTokens: count,
  costUsd: t.Number({ description: "Of the agent's turns, whoever's key paid" }),
  averageAnswerMs: orNull,
  p95AnswerMs: t.Union([
    t.Integer({ description: "95 % of the answers were at most this slow; 120,000 stands for more" }),
    t.Null(),
  ]),
};
const response = t.Object({
  range: t.String(),
  step: t.Union([t.Literal("hour"), t.Literal("day")]),
  timezone: t.String(),
  points: t.Array(t.Object({ at: t.String({ description: "When the period begins, ISO 8601" }), ...figures })),
  total: t.Object(figures),
});
const query = t.Object({
  range: t.Optional(
    t.Union([t.Literal("day"), t.Literal("week"), t.Literal("month")], { error: "The range is day, week or month." }),
  ),
  timezone: t.Optional(t.String({ maxLength: 100, description: "Where the days begin, an IANA name; default UTC" })),
});

interface Deps {
  guards: ServiceOf<typeof agentsPlugin>["guards"];
  figures: Pick<ReturnType<typeof createFigureReader>, "read">;
}

export const figureRoutes = ({ guards, figures: reader }: Deps) =>
  new Elysia({ name: "agent-stats.figures" }).use(guards).get(
    "/api/agents/:id/figures",
    async ({ agent, query: { range = "day", timezone = "UTC" } }) => {
      if (!isTimeZone(timezone)) throw invalidInput({ path: "timezone", message: "There is no such time zone." });
      const { points, total } = await reader.read(agent.id, range, timezone);
      const toPoint = ({ at, ...sums }: FigurePoint) => ({ at: new Date(at).toISOString(), ...sums });
      const step = range === "day" ? ("hour" as const) : ("day" as const);
      return { range, step, timezone, points: points.map(toPoint), total };
    },
    {
      ownAgent: { scope: "read", kind: "data" },
      query,
      response: { 200: response },
      detail: {
        tags: ["Agents"],
        summary: "An agent's messages, turns, tokens, cost and answer times over time",
        description:
          "By hour for the last 24 hours, by day for the last 7 or 30 days. A turn counts when it ends. Cancelled turns and " +
          "commands are messages, but no turns. Sums are kept for 35 days.",
      },
    },
  );
