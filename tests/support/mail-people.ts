// Writes mails as people's programs do, and an SMTP server that takes the agent's mails and fails on demand.

import { once } from "node:events";
import type { AddressInfo, Socket } from "node:net";
import PostalMime, { type Email } from "postal-mime";
import { SMTPServer } from "smtp-server";
import type { Certificate } from "./certificates.ts";

export interface MailFile {
  name: string;
  type: string;
  bytes: Uint8Array;
}

export interface WrittenMail {
  from: string;
  to: string;
  text: string;
  /** Default: a new one. */
  id?: string;
  subject?: string;
  references?: readonly string[];
  inReplyTo?: string;
  files?: readonly MailFile[];
  /** More headers, in front of all others. */
  headers?: readonly string[];
}

export const newMailId = () => `<${crypto.randomUUID()}@people.example>`;

/** The mail as it is sent (RFC 5322), with lines that end in CR LF. */
export function writeMail({
  from,
  to,
  text,
  id = newMailId(),
  files = [],
  headers = [],
  ...more
}: WrittenMail): string {
  const { subject, references = [], inReplyTo } = more;
  const boundary = "a-boundary-of-the-tests";
  const head = [
    ...headers,
    `From: ${from}`,
    `To: ${to}`,
    `Message-ID: ${id}`,
    `Date: ${new Date().toUTCString()}`,
    ...(subject === undefined ? [] : [`Subject: ${subject}`]),
    ...(inReplyTo === undefined ? [] : [`In-Reply-To: ${inReplyTo}`]),
    ...(references.length === 0 ? [] : [`References: ${references.join(" ")}`]),
    "MIME-Version: 1.0",
  ];
  const words = ["Content-Type: text/plain; charset=utf-8", "Content-Transfer-Encoding: 8bit", "", text];
  const lines =
    files.length === 0
      ? [...head, ...words]
      : [
          ...head,
          `Content-Type: multipart/mixed; boundary="${boundary}"`,
          "",
          `--${boundary}`,
          ...words,
          ...files.flatMap(({ name, type, bytes }) => [
            `--${boundary}`,
            `Content-Type: ${type}; name="${name}"`,
            `Content-Disposition: attachment; filename="${name}"`,
            "Content-Transfer-Encoding: base64",
            "",
            ...(Buffer.from(bytes)
              .toString("base64")
              .match(/.{1,76}/g) ?? []),
          ]),
          `--${boundary}--`,
        ];
  return `${lines.join("\r\n").replace(/\r?\n/g, "\r\n")}\r\n`;
}

export type MailFault = "busy" | "broken" | "cut" | "lost" | "silent" | "refused";

export interface ReadersMail {
  to: string;
  mail: Email;
  header(name: string): string | undefined;
  /** It came over TLS. */
  isSecure: boolean;
}

/** Takes mails of one user, to whomever they are. */
export interface ReadersServer extends AsyncDisposable {
  readonly port: number;
  readonly mails: ReadersMail[];
  password: string;
  /** Addresses that take no mails. */
  readonly blocked: Set<string>;
  /** Makes the next mail fail, or the next one with files; `refused`: every mail with the first file of that mail. */
  failNext(fault: MailFault, onlyFiles?: boolean): void;
}

/** `port` 0 is a free one. */
export interface ReadersServerOptions {
  address?: string;
  port?: number;
  tls?: Certificate & { kind: "starttls" | "always" };
}

export async function startReadersServer(
  user: string,
  password: string,
  { address = "127.0.0.1", port = 0, tls }: ReadersServerOptions = {},
): Promise<ReadersServer> {
  const mails: ReadersMail[] = [];
  const blocked = new Set<string>();
  const state: { fault?: { kind: MailFault; onlyFiles: boolean } | undefined; refusedFile?: string | undefined } = {};
  const sockets = new Set<Socket>();
  const hangUp = () => {
    for (const socket of sockets) socket.destroy();
  };
  const reply = (responseCode: number) => Object.assign(new Error("No, not this one."), { responseCode });
  const result = { password };
  const server = new SMTPServer({
    secure: tls?.kind === "always",
    ...(tls && { key: tls.key, cert: tls.cert }),
    disabledCommands: tls?.kind === "starttls" ? [] : ["STARTTLS"],
    allowInsecureAuth: tls === undefined,
    disableReverseLookup: true,
    logger: false,
    onConnect(_, done) {
      if (state.fault?.kind !== "broken" || state.fault.onlyFiles) return done();
      state.fault = undefined;
      return done(reply(554));
    },
    onAuth({ username, password: given }, _, done) {
      const isRight = username === user && given === result.password;
      done(isRight ? null : reply(535), isRight ? { user } : undefined);
    },
    onRcptTo({ address }, _, done) {
      done(blocked.has(address) ? reply(550) : null);
    },
    onData(stream, session, done) {
      const take = async () => {
        const mail = await PostalMime.parse(await new Response(stream).text());
        const { fault } = state;
        const isDue = fault !== undefined && (!fault.onlyFiles || mail.attachments.length > 0);
        if (isDue) {
          state.fault = undefined;
          if (fault.kind === "refused") state.refusedFile = mail.attachments[0]?.filename ?? "";
          if (fault.kind === "silent") return undefined;
          if (fault.kind === "cut" || fault.kind === "broken") return hangUp();
          if (fault.kind === "busy") return done(reply(451));
        }
        if (mail.attachments.some(({ filename }) => filename === state.refusedFile)) return done(reply(552));
        const header = (name: string) => mail.headers.find(({ key }) => key === name.toLowerCase())?.value;
        for (const { address: to } of session.envelope.rcptTo)
          mails.push({ to, mail, header, isSecure: session.secure });
        if (isDue && fault.kind === "lost") return hangUp();
        return done();
      };
      take().catch(done);
    },
  });
  server.server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  server.on("error", () => undefined);
  server.listen(port, address);
  await once(server.server, "listening");
  return Object.assign(result, {
    port: (server.server.address() as AddressInfo).port,
    mails,
    blocked,
    failNext(kind: MailFault, onlyFiles = false) {
      state.fault = { kind, onlyFiles };
    },
    async [Symbol.asyncDispose]() {
      hangUp();
      await new Promise<void>((resolve) => server.close(resolve));
    },
  });
}
