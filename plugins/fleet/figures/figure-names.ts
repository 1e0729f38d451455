// Names the figures of a minute. It imports nothing of the server, because the console knows them, too.

/** How the minutes of one step become one value. */
export type Fold = "sum" | "max" | "last";

/** The figures of a minute, and how several minutes become one. */
export const FIGURES = {
  /** Requests of clients, on both surfaces. */
  requests: "sum",
  /** Of them answered with a server error. */
  serverErrors: "sum",
  /** The time within which 95 of 100 requests were answered. */
  latencyMs: "max",
  turns: "sum",
  failedTurns: "sum",
  channelMessages: "sum",
  modelCalls: "sum",
  failedCalls: "sum",
  costUsd: "sum",
  /** Messages and replies that wait or are worked on. */
  inbox: "last",
  outbox: "last",
  /** Age of the oldest message without a reply. */
  oldestMs: "max",
  memoryBytes: "last",
  /** The worst delay of a timer. */
  lagMs: "max",
} as const satisfies Record<string, Fold>;

export type FigureName = keyof typeof FIGURES;
