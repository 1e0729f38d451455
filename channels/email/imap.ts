// Opens connections to a mailbox, and names what went wrong in words for its owner.
import type { ImapFlow } from "imapflow";
import { SECOND } from "../../src/kernel/util/time.ts";
import type { ResolveHost } from "../definition.ts";
import { ChannelError } from "../port.ts";
import type { Mailbox } from "./credentials.ts";
import { checkServer, unreachable } from "./mail-server.ts";

/** Milliseconds for a connection, and for the server's greeting. */
const CONNECT_TIMEOUT_MS = 15 * SECOND;
/** Milliseconds in which a server says nothing, also to a command. */
const SOCKET_TIMEOUT_MS = 60 * SECOND;

/** A connection with the inbox selected; throws `ChannelError`. The caller closes it. */
export async function openInbox(
  { imap, user, password }: Mailbox,
  resolveHost: ResolveHost,
  signal: AbortSignal,
): Promise<ImapFlow> {
  const { address, serverName, isLocal } = await checkServer(imap, resolveHost, signal, "imap");
  const { ImapFlow } = await import("imapflow");
  const client = new ImapFlow({
    host: address,
    port: imap.port,
    secure: imap.hasTls,
    servername: serverName,
    ...(isLocal ? { tls: { rejectUnauthorized: false } } : !imap.hasTls && { doSTARTTLS: true }),
    auth: { user, pass: password },
    logger: false,
    connectionTimeout: CONNECT_TIMEOUT_MS,
    greetingTimeout: CONNECT_TIMEOUT_MS,
    socketTimeout: SOCKET_TIMEOUT_MS * 5,
  });
  // Without a listener an error of the socket would end the process; every command that waits rejects with it, too.
  client.on("error", () => undefined);
  const close = () => client.close();
  signal.addEventListener("abort", close, { once: true });
  try {
    signal.throwIfAborted();
    await client.connect();
    await client.mailboxOpen("INBOX");
    return client;
  } catch (error) {
    client.close();
    throw imapError(error);
  } finally {
    signal.removeEventListener("abort", close);
  }
}

/** A failure of the server. Its own words are not passed on: some repeat the login. */
export function imapError(error: unknown): ChannelError {
  if (error instanceof ChannelError) return error;
  const fields: { authenticationFailed?: unknown; responseStatus?: unknown } =
    typeof error === "object" && error !== null ? error : {};
  if (fields.authenticationFailed === true) {
    const text = "The IMAP server refuses this user name or password. Some want a password made for programs.";
    return new ChannelError("refused", text, "bot", undefined, { field: "password" });
  }
  if (fields.responseStatus === "NO") return new ChannelError("refused", "The IMAP server refuses the mailbox.", "bot");
  return new ChannelError("unreachable", unreachable("IMAP", error), "bot", undefined, { cause: error, field: "imap" });
}
