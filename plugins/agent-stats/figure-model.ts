// Defines the schema of an agent's figures over time.
import { t } from "elysia";
import { integer } from "../../src/kernel/http/body/response-types.ts";

const count = integer();
const orNull = t.Union([integer(), t.Null()]);
const figures = {
  received: count,
  sent: integer({ description: "Replies" }),
  turnsOk: count,
  turnsFailed: count,
  inputTokens: count,
  outputTokens: count,
  costUsd: t.Number({ description: "Of the agent's turns, whoever's key paid" }),
  averageAnswerMs: orNull,
  p95AnswerMs: t.Union([
    integer({ description: "95 % of the answers were at most this slow; 120,000 stands for more" }),
    t.Null(),
  ]),
};
export const figureSums = t.Object({
  range: t.String(),
  step: t.Union([t.Literal("hour"), t.Literal("day")]),
  timezone: t.String(),
  points: t.Array(t.Object({ at: t.String({ description: "When the period begins, ISO 8601" }), ...figures })),
  total: t.Object(figures),
});
