// Discord's error responses: https://discord.com/developers/docs/topics/opcodes-and-status-codes#json

export class DiscordRefusal extends Error {
  constructor(
    readonly status: number,
    readonly code: number,
    message: string,
    readonly extra: Record<string, unknown> = {},
    readonly headers: Record<string, string> = {},
  ) {
    super(message);
  }

  get response(): Response {
    const body = { message: this.message, code: this.code, ...this.extra };
    return Response.json(body, { status: this.status, headers: this.headers });
  }
}

/** 400 with code 50035, for a body that is not as documented. */
export function invalid(field: string, code: string, message: string): DiscordRefusal {
  return new DiscordRefusal(400, 50035, "Invalid Form Body", { errors: { [field]: { _errors: [{ code, message }] } } });
}

export const unauthorized = () => new DiscordRefusal(401, 0, "401: Unauthorized");
export const unknown = (code: number, what: string) => new DiscordRefusal(404, code, `Unknown ${what}`);

/** 429. `scope`: `user` limits this bot on one route, `global` all its calls, `shared` all bots. */
export const tooMany = (seconds: number, scope: "user" | "global" | "shared") =>
  new DiscordRefusal(
    429,
    0,
    "You are being rate limited.",
    { retry_after: seconds, global: scope === "global" },
    {
      "retry-after": String(Math.ceil(seconds)),
      "x-ratelimit-scope": scope,
      ...(scope === "global" ? { "x-ratelimit-global": "true" } : {}),
      "x-ratelimit-reset-after": String(seconds),
    },
  );
