// A real mail server on a port of its own, that keeps what it is sent and fails on demand.

import { once } from "node:events";
import type { AddressInfo, Socket } from "node:net";
import PostalMime, { type Email } from "postal-mime";
import { SMTPServer, type SMTPServerOptions } from "smtp-server";
import { createWatch } from "./eventually.ts";

/** A mail as it arrived. */
export interface Arrived {
  /** Of the envelope. */
  from: string;
  to: string[];
  /** As it came over the wire. */
  raw: string;
  parsed: Email;
  header(name: string): string | undefined;
  /** Over an encrypted connection. */
  secure: boolean;
  user: string | undefined;
}

/** What the server does instead of taking mails: a reply code at a step, no word at all, or the end of the connection. */
export interface Trouble {
  greeting?: "hang" | number;
  recipient?: number;
  data?: "drop" | number;
}

export interface Smtp extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  readonly mails: Arrived[];
  /** How often somebody connected. */
  connections(): number;
  /** From the next command on. */
  behave(trouble: Trouble): void;
  /** The mails so far, once there are that many. */
  arrived(count: number): Promise<Arrived[]>;
  /** Mails that come from now on are kept, but their sender hears so only when the function given back is called. */
  hold(): () => void;
  stop(): Promise<void>;
}

export interface SmtpOptions {
  /** Default: a free one. */
  port?: number;
  /** Nobody sends without these. */
  login?: { user: string; pass: string };
  /** With a certificate that nobody signed. Default: neither. */
  tls?: "starttls" | "always";
}

export async function startSmtp({ port = 0, login, tls }: SmtpOptions = {}): Promise<Smtp> {
  const mails: Arrived[] = [];
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
  // Whoever hangs up in the middle is no matter for the server.
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
    arrived: (count) => watch.waitFor(() => (mails.length >= count ? mails : undefined), 10_000, `${count} mails`),
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
