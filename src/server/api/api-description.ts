// The introductions of both API documents: what each surface is for, and the conventions of every route.

const SURFACES = {
  web: `Accounts, agents and conversations. Programs send an API key, which you make under **Account → API keys** or with \`POST /api/keys\`: \`Authorization: Bearer bk_…\`. A key has scopes: \`read\`, \`write\`, \`chat\`. Browsers sign in with \`POST /api/auth/callback/credentials\` and send the session's cookie.

The first way: \`POST /api/register\`, sign in, \`POST /api/keys\`, \`POST /api/agents\`, \`POST /api/agents/{id}/conversations\`. An agent needs a plan: the operator of the service gives one with \`berth user grant EMAIL PLAN\`, or makes an admin, who needs none, with \`berth user admin EMAIL\`.

Five ways to talk to an agent:

- \`POST /api/agents/{id}/conversations\` is for programs: many conversations, files, answers in the background, streams that are resumed.
- \`POST /api/chat\` is one request and one reply, in the conversation of a topic.
- \`POST /api/agents/{id}/chat\` is for web pages with \`useChat\` of the AI SDK.
- \`/v1/chat/completions\`, \`/v1/responses\` and \`/v1/messages\` are for clients of OpenAI and Anthropic: the agent is the model \`agent:<subdomain>\`.
- \`POST /api/agent\` is \`/api/chat\` with named sessions, and with the actions \`update-skill\` and \`set-credential\`.`,
  backend:
    "The AI layer, and the routes that change agents. Callers send a service token or their own session; the AI layer needs neither.",
};

const CONVENTIONS = `
- Bodies are JSON of at most 1 MiB (an exported agent 32 MiB). Fields that a route does not know are ignored, and named in \`warnings\` of the answer.
- Every error has the shape \`Error\`, with a \`code\` for programs; every answer has an \`x-request-id\`.
- Times are ISO 8601 in UTC, unless a field says epoch milliseconds.
- With an \`Idempotency-Key\` header, a POST that creates or spends is done once; its answer is replayed for 24 hours. Streams are not kept.
- A request with a cookie that changes something must come from Berth's own origin.`;

/** The description of a surface's API, in Markdown. */
export const describeApi = (surface: "web" | "backend") => `${SURFACES[surface]}\n${CONVENTIONS}`;
