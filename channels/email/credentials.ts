// The credentials of a mailbox: the servers, the account, and the server whose word about senders counts.
import type { CredentialField, TokenProblem } from "../definition.ts";
import { ChannelError } from "../port.ts";
import { findCredentialProblems, readCredentials } from "../shared/credential-text.ts";
import { isMailAddress } from "./address.ts";

/** A server with its port. TLS from the start on the ports that are meant for it; else STARTTLS. */
export interface MailServer {
  host: string;
  port: number;
  hasTls: boolean;
}

export interface Mailbox {
  /** In lower case. */
  address: string;
  user: string;
  password: string;
  imap: MailServer;
  smtp: MailServer;
  /** The name under which the operator's own server writes `Authentication-Results`; senders are unproven without it. */
  trustedServer: string | undefined;
}

const IMPLICIT_TLS_PORTS = new Set([993, 465]);

const invalid = (message: string): TokenProblem => ({ code: "invalid", message });

/** `host` or `host:port`. */
function parseServer(text: string, defaultPort: number): MailServer | undefined {
  const [, host, portText] = /^([a-z0-9](?:[a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:]+\])(?::(\d{1,5}))?$/i.exec(text) ?? [];
  const port = portText === undefined ? defaultPort : Number(portText);
  if (host === undefined || port < 1 || port > 65_535) return undefined;
  return { host: host.toLowerCase(), port, hasTls: IMPLICIT_TLS_PORTS.has(port) };
}

const serverField = (name: string, label: string, example: string): CredentialField => ({
  name,
  label,
  isSecret: false,
  example,
  findProblem: (value) =>
    parseServer(value, 1) ? undefined : invalid(`Give the name of a server, with its port if it needs one: ${example}`),
});

export const FIELDS: readonly CredentialField[] = [
  {
    name: "address",
    label: "Address",
    isSecret: false,
    example: "agent@example.com",
    findProblem: (value) =>
      isMailAddress(value.toLowerCase()) ? undefined : invalid("Give an address, such as agent@example.com."),
  },
  {
    name: "password",
    label: "Password",
    isSecret: true,
    findProblem: (value) => (value.length > 1_000 ? invalid("This is too long for a password.") : undefined),
  },
  serverField("imap", "IMAP server", "imap.example.com:993"),
  serverField("smtp", "SMTP server", "smtp.example.com:465"),
  {
    name: "user",
    label: "User name",
    isSecret: false,
    isOptional: true,
    example: "agent@example.com",
    findProblem: () => undefined,
  },
  {
    name: "trustedServer",
    label: "Server that checks senders",
    isSecret: false,
    isOptional: true,
    example: "mx.example.com",
    findProblem: (value) =>
      /^[A-Za-z0-9._-]{1,255}$/.test(value)
        ? undefined
        : invalid("Give the name at the beginning of Authentication-Results, such as mx.example.com."),
  },
];

/** The mailbox of a stored text. Throws `refused` for one that is none. */
export function readMailbox(token: string): Mailbox {
  const values = readCredentials(FIELDS, token);
  const [problem] = values
    ? findCredentialProblems(FIELDS, values)
    : [{ field: "address", message: "This is no mailbox." }];
  const imap = parseServer(values?.imap ?? "", 993);
  const smtp = parseServer(values?.smtp ?? "", 465);
  if (!values || problem || !imap || !smtp) {
    throw new ChannelError("refused", problem?.message ?? "This is no mailbox.", "bot", undefined, {
      ...(problem && { field: problem.field }),
    });
  }
  const address = (values.address ?? "").toLowerCase();
  return {
    address,
    user: values.user ?? address,
    password: values.password ?? "",
    imap,
    smtp,
    trustedServer: values.trustedServer?.toLowerCase(),
  };
}
