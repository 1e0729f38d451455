// Tells what went wrong with an MCP server: in words for its owner, and whether the owner must sign in.
import { AppError } from "../../../src/kernel/errors.ts";
import { REDACTED } from "../../../src/kernel/telemetry/redact.ts";
import { oneLine } from "../../../src/kernel/util/text/quoted-text.ts";
import type { MissingScope } from "./step-up.ts";

const MAX_REASON = 300;

/**
 * `unauthorized`: the owner must sign in. `unreachable`: it does not work now. `gone`: the session had ended before
 * the request, which was not served. `refused`: it works, and has refused this very request.
 */
export type FailureKind = "unauthorized" | "unreachable" | "gone" | "refused";

export interface Failure {
  kind: FailureKind;
  /** For the owner; it may quote the server. */
  reason: string;
  /** The request was certainly not sent. */
  isUnsent?: boolean;
  /** The server has answered, with more than is read. */
  isTooLarge?: boolean;
  /** The owner has signed in, with too few rights. */
  missing?: MissingScope;
}

/** @param secrets are blacked out, since a server may repeat what it was sent */
export async function describeFailure(error: unknown, secrets: Iterable<string> = []): Promise<Failure> {
  const { InsufficientScopeError, ProtocolError, SdkError, SdkErrorCode, SdkHttpError, UnauthorizedError } =
    await import("@modelcontextprotocol/client");
  const causes = causesOf(error);
  const own = causes.find((cause) => cause instanceof AppError);
  if (own instanceof AppError) {
    return {
      kind: "unreachable",
      reason: own.message,
      isTooLarge: own.code === "UPSTREAM_TOO_LARGE",
      isUnsent: own.status === 400 || causes.some(isRefusedConnection),
    };
  }
  const words = (text: string) => quote(text, secrets);
  const scope = causes.find((cause) => cause instanceof InsufficientScopeError);
  if (scope instanceof InsufficientScopeError) {
    const missing = { scope: scope.requiredScope, resourceMetadataUrl: scope.resourceMetadataUrl };
    return { kind: "unauthorized", reason: "It wants more rights for this. Sign in once more.", missing };
  }
  if (causes.some((cause) => cause instanceof UnauthorizedError)) {
    return { kind: "unauthorized", reason: "Sign in, so that the agent can use it." };
  }
  const first = causes[0];
  if (first instanceof ProtocolError) return { kind: "refused", reason: words(first.message) };
  if (first instanceof SdkHttpError) {
    if (first.status === 404)
      return { kind: "gone", reason: "It answered 404: there is no MCP server at this address." };
    if (first.status === 401 || first.status === 403) {
      return { kind: "unreachable", reason: `It refuses the key that it gets (${first.status}).` };
    }
    return { kind: "unreachable", reason: words(`It answered ${first.status}. ${first.message}`) };
  }
  if (first instanceof SdkError) {
    if (first.code === SdkErrorCode.RequestTimeout)
      return { kind: "unreachable", reason: "It did not answer in time." };
    // Not a connection that has ended during the request, which may have been served.
    return { kind: first.code === SdkErrorCode.NotConnected ? "gone" : "unreachable", reason: words(first.message) };
  }
  return { kind: "unreachable", reason: words(first instanceof Error ? first.message : String(error)) };
}

const isRefusedConnection = (cause: unknown) =>
  cause instanceof Error &&
  "code" in cause &&
  /^(?:ConnectionRefused|ECONNREFUSED|ENETUNREACH|EHOSTUNREACH)$/.test(String(cause.code));

/** The error and its causes, outermost first. */
function causesOf(error: unknown): unknown[] {
  const causes: unknown[] = [];
  for (let one = error; one !== undefined && one !== null && causes.length < 8; ) {
    causes.push(one);
    one = one instanceof Error ? one.cause : undefined;
  }
  return causes;
}

function quote(text: string, secrets: Iterable<string>): string {
  let clean = text;
  for (const secret of secrets) if (secret.length >= 4) clean = clean.replaceAll(secret, REDACTED);
  return oneLine(clean).slice(0, MAX_REASON).toWellFormed();
}
