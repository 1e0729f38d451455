// The errors of the OAuth endpoints, in the form of RFC 6749 §5.2 and RFC 7591 §3.2.2.

export type OAuthErrorCode =
  | "invalid_request"
  | "invalid_client"
  | "invalid_grant"
  | "invalid_scope"
  | "invalid_target"
  | "invalid_redirect_uri"
  | "invalid_client_metadata"
  | "access_denied"
  | "unsupported_response_type"
  | "unsupported_grant_type";

/** A refusal whose code and text the client gets. */
export class OAuthFailure extends Error {
  override readonly name = "OAuthFailure";

  constructor(
    readonly code: OAuthErrorCode,
    message: string,
  ) {
    super(message);
  }
}

/** Runs an endpoint; its answer is never cached, since it may hold tokens. */
export async function oauthResponse(work: () => Promise<{ status: number; body: object }>): Promise<Response> {
  const headers = { "cache-control": "no-store", pragma: "no-cache" };
  try {
    const { status, body } = await work();
    return Response.json(body, { status, headers });
  } catch (error) {
    if (!(error instanceof OAuthFailure)) throw error;
    const { code, message } = error;
    const body = { error: code, error_description: message, code: code.toUpperCase() };
    return Response.json(body, { status: code === "invalid_client" ? 401 : 400, headers });
  }
}
