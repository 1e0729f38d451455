// What IMAP and SMTP share: the checked address of a server, which rules for TLS hold for it, and its failures in words.
import type { ResolveHost } from "../definition.ts";
import { ChannelError } from "../port.ts";
import type { MailServer } from "./credentials.ts";

export interface CheckedServer {
  address: string;
  /** The name that its certificate has to show. */
  serverName: string;
  /**
   * On this machine, so that no other can listen: it may go without TLS, and its certificate may be its own. Bridges to providers
   * that encrypt mails work like this.
   */
  isLocal: boolean;
}

/** Throws `ChannelError` with `field` for a server that is unknown or not allowed. */
export async function checkServer(
  { host }: MailServer,
  resolveHost: ResolveHost,
  signal: AbortSignal,
  field: string,
): Promise<CheckedServer> {
  try {
    const [address = ""] = await resolveHost(host, signal);
    return { address, serverName: host, isLocal: /^(?:127\.|::1$)/.test(address) };
  } catch (error) {
    // The kernel's refusal of an address, which has a status.
    const isRefused = error instanceof Error && "status" in error && error.status === 400;
    const text = isRefused ? `This server is not allowed: ${error.message}` : `The server ${host} can't be found.`;
    throw new ChannelError(isRefused ? "refused" : "unreachable", text, "bot", undefined, { field });
  }
}

/** `originalCode` is the socket's, where a library sets one of its own. */
interface Failure {
  code?: unknown;
  originalCode?: unknown;
  tlsFailed?: unknown;
}

const CERTIFICATE_CODES = /^(?:CERT_|DEPTH_ZERO_|ERR_TLS_CERT_|SELF_SIGNED_|UNABLE_TO_)/;

/** Why there is no connection to a server: its certificate, no encryption, or any other reason. */
export function unreachable(protocol: "IMAP" | "SMTP", error: unknown): string {
  const { code, originalCode, tlsFailed }: Failure = typeof error === "object" && error !== null ? error : {};
  if (CERTIFICATE_CODES.test(String(originalCode ?? code)))
    return `The ${protocol} server shows a certificate that is not valid: it is expired, for another name, or of an unknown issuer.`;
  if (tlsFailed === true || code === "ETLS")
    return `The ${protocol} server offers no encryption (STARTTLS), and without it no password is sent.`;
  return `The ${protocol} server can't be reached.`;
}
