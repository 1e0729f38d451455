// An agent's figures, as the API has them.

/** Of one period, in `GET /api/agents/:id/figures`. */
export interface Figures {
  received: number;
  sent: number;
  turnsOk: number;
  turnsFailed: number;
  inputTokens: number;
  outputTokens: number;
  costUsd: number;
  averageAnswerMs: number | null;
  p95AnswerMs: number | null;
}
