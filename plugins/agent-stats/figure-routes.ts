// The route of an agent's figures over time.
import { Elysia, t } from "elysia";
import { invalidInput } from "../../src/kernel/errors.ts";
import type { ServiceOf } from "../../src/kernel/plugin.ts";
import { isTimeZone } from "../../src/kernel/util/time-zone.ts";
import type { agents as agentsPlugin } from "../agents/index.ts";
import { figureSums } from "./figure-model.ts";
import type { createFigureReader, FigurePoint } from "./figures.ts";

const query = t.Object({
  range: t.Optional(
    t.Union([t.Literal("day"), t.Literal("week"), t.Literal("month")], {
      description: "How far the figures go back; default day",
      error: "The range is day, week or month.",
    }),
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
      response: { 200: figureSums },
      detail: {
        tags: ["Agents"],
        summary: "An agent's messages, turns, tokens, cost and answer times over time",
        description:
          "By hour for the last 24 hours, by day for the last 7 or 30 days. A turn counts when it ends. Cancelled turns and " +
          "commands are messages, but no turns. Sums are kept for 35 days.",
      },
    },
  );
