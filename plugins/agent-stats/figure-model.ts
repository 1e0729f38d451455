// Defines the schema of an agent's figures over time.
import { t } from "elysia";

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
export const figureSums = t.Object({
  range: t.String(),
  step: t.Union([t.Literal("hour"), t.Literal("day")]),
  timezone: t.String(),
  points: t.Array(t.Object({ at: t.String({ description: "When the period begins, ISO 8601" }), ...figures })),
  total: t.Object(figures),
});
