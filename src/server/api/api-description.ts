// The introductions of both API documents: what each surface is for, and the conventions of every route.

const SURFACES = {
  web: "Accounts, agents and conversations. Sign in first (`POST /api/auth/callback/credentials`); the session cookie does the rest.",
  backend:
    "The AI layer, and the routes that change agents. Callers send a service token or their own session; the AI layer needs neither.",
};

const CONVENTIONS = `
- Bodies are JSON of at most 1 MiB (an exported agent 32 MiB). Fields that a route does not know are ignored, and named in \`warnings\` of the answer.
- Every error has the shape \`Error\`, with a \`code\` for programs; every answer has an \`x-request-id\`.
- Times are ISO 8601 in UTC, unless a field says epoch milliseconds.
- With an \`Idempotency-Key\` header, a POST that creates or spends is done once; its answer is replayed for 24 hours.
- A request with a cookie that changes something must come from Berth's own origin.`;

/** The description of a surface's API, in Markdown. */
export const describeApi = (surface: "web" | "backend") => `${SURFACES[surface]}\n${CONVENTIONS}`;
