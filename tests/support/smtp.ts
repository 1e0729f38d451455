// A real SMTP server on a free port that keeps the mails it receives, and fails on demand.

import { once } from "node:events";
import type { AddressInfo, Socket } from "node:net";
import PostalMime, { type Email } from "postal-mime";
import { SMTPServer, type SMTPServerOptions } from "smtp-server";
import { createWatch } from "./eventually.ts";

/** A received mail. */
export interface ReceivedMail {
  /** Sender and recipients of the envelope. */
  from: string;
  to: string[];
  /** The message as it was sent. */
  raw: string;
  parsed: Email;
  header(name: string): string | undefined;
  /** Whether the connection was encrypted. */
  secure: boolean;
  user: string | undefined;
}

/** How the server fails: a reply code at a step, no greeting, or a closed connection. */
export interface Trouble {
  greeting?: "hang" | number;
  recipient?: number;
  data?: "drop" | number;
}

export interface Smtp extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  readonly mails: ReceivedMail[];
  /** Number of connections so far. */
  connections(): number;
  /** Sets the failures from the next command on. */
  behave(trouble: Trouble): void;
  /** Waits until there are `count` mails and returns all. */
  waitForMails(count: number): Promise<ReceivedMail[]>;
  /** Delays the confirmation of mails that arrive from now on until the returned function is called. */
  hold(): () => void;
  stop(): Promise<void>;
}

export interface SmtpOptions {
  /** Default: a free port. */
  port?: number;
  /** Required credentials. */
  login?: { user: string; pass: string };
  /** Encryption, with a self-signed certificate. Default: none. */
  tls?: "starttls" | "always";
}

export async function startSmtp({ port = 0, login, tls }: SmtpOptions = {}): Promise<Smtp> {
  const mails: ReceivedMail[] = [];
  const watch = createWatch();
  let trouble: Trouble = {};
  let connections = 0;
  let held = Promise.resolve();

  const options: SMTPServerOptions = {
    secure: tls === "always",
    disabledCommands: [...(tls === "starttls" ? [] : ["STARTTLS"]), ...(login ? [] : ["AUTH"])],
    authOptional: login === undefined,
    allowInsecureAuth: true,
    disableReverseLookup: true,
    logger: false,
    onConnect(_, done) {
      connections++;
      watch.changed();
      if (trouble.greeting !== "hang") done(trouble.greeting ? refusal(trouble.greeting) : null);
    },
    onAuth({ username, password }, _, done) {
      const right = username === login?.user && password === login?.pass;
      done(right ? null : refusal(535), right ? { user: username } : undefined);
    },
    onRcptTo(_, __, done) {
      done(trouble.recipient ? refusal(trouble.recipient) : null);
    },
    onData(stream, session, done) {
      const keep = async () => {
        const raw = await new Response(stream).text();
        if (trouble.data === "drop") return hangUp();
        if (trouble.data) return done(refusal(trouble.data));
        const { mailFrom, rcptTo } = session.envelope;
        const parsed = await PostalMime.parse(raw);
        const header = (name: string) => parsed.headers.find(({ key }) => key === name.toLowerCase())?.value;
        const to = rcptTo.map(({ address }) => address);
        const from = mailFrom === false ? "" : mailFrom.address;
        mails.push({ from, to, raw, parsed, header, secure: session.secure, user: session.user });
        watch.changed();
        await held;
        done();
      };
      keep().catch(done);
    },
  };
  const server = new SMTPServer(options);
  const sockets = new Set<Socket>();
  const hangUp = () => {
    for (const socket of sockets) socket.destroy();
  };
  server.server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  // A client that disconnects in the middle of a mail must not end the server.
  server.on("error", () => undefined);
  server.listen(port, "127.0.0.1");
  await once(server.server, "listening");
  const bound = (server.server.address() as AddressInfo).port;

  const credentials = login ? `${encodeURIComponent(login.user)}:${encodeURIComponent(login.pass)}@` : "";
  const scheme = tls === "always" ? "smtps" : "smtp";
  const stop = () =>
    new Promise<void>((resolve) => {
      server.close(resolve);
      hangUp();
    });
  return {
    url: `${scheme}://${credentials}127.0.0.1:${bound}${tls ? "?tls.rejectUnauthorized=false" : ""}`,
    port: bound,
    mails,
    connections: () => connections,
    behave(next) {
      trouble = next;
    },
    waitForMails: (count) => watch.waitFor(() => (mails.length >= count ? mails : undefined), 10_000, `${count} mails`),
    hold() {
      const { promise, resolve } = Promise.withResolvers<void>();
      held = promise;
      return resolve;
    },
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

const refusal = (responseCode: number) => Object.assign(new Error("No, not this one."), { responseCode });
