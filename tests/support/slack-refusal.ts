// Slack's answers that refuse a call: HTTP 200 with a code, except for its rate limits.

export class SlackRefusal extends Error {
  constructor(
    readonly code: string,
    readonly extra: Readonly<Record<string, unknown>> = {},
  ) {
    super(code);
  }

  get response(): Response {
    return Response.json({ ok: false, error: this.code, ...this.extra });
  }
}

export class TooMany extends Error {
  constructor(readonly seconds: number) {
    super("ratelimited");
  }

  get response(): Response {
    const headers = { "retry-after": String(Math.max(1, Math.ceil(this.seconds))) };
    return Response.json({ ok: false, error: "ratelimited" }, { status: 429, headers });
  }
}
