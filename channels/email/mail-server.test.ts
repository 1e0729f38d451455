// To which servers a mailbox connects: those with a valid certificate, and those on the same machine. Others never hear a password.
import { describe, expect, test } from "bun:test";
import { createServer, type Socket } from "node:net";
import { join } from "node:path";
import { type Certificate, selfSigned } from "../../tests/support/certificates.ts";
import { dovecotIsMissing, startDovecot } from "../../tests/support/dovecot.ts";
import { startReadersServer } from "../../tests/support/mail-people.ts";
import { run, temporaryDir } from "../../tests/support/process.ts";
import { writeCredentials } from "../shared/credential-text.ts";
import { FIELDS } from "./credentials.ts";
import { createEmail } from "./index.ts";

const PASSWORD = "seven-tame-otters";
/** The same machine under an address that does not count as it. */
const ELSEWHERE = "::ffff:127.0.0.1";

/** A server that greets, answers what the protocol answers without TLS, and keeps what it hears. */
async function listen(greeting: string, answer: (line: string) => string) {
  const heard: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
    socket.write(greeting);
    socket.on("data", (chunk) => {
      for (const line of chunk.toString().split("\r\n").filter(Boolean)) {
        heard.push(line);
        socket.write(answer(line));
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  return {
    heard,
    port: typeof address === "object" && address ? address.port : 0,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const imapServer = () =>
  listen("* OK [CAPABILITY IMAP4rev1] hello\r\n", (line) => {
    const [tag = "", command = ""] = line.split(" ");
    if (/^CAPABILITY$/i.test(command)) return `* CAPABILITY IMAP4rev1\r\n${tag} OK\r\n`;
    if (/^(?:SELECT|EXAMINE)$/i.test(command)) {
      return `* 0 EXISTS\r\n* OK [UIDVALIDITY 1]\r\n* OK [UIDNEXT 1]\r\n${tag} OK [READ-WRITE] done\r\n`;
    }
    return line.includes(" ") ? `${tag} OK\r\n` : "";
  });
const smtpServer = () =>
  listen("220 mail.example ESMTP\r\n", (line) =>
    /^EHLO/i.test(line)
      ? "250-mail.example\r\n250 AUTH PLAIN LOGIN\r\n"
      : /^STARTTLS/i.test(line)
        ? "502 no\r\n"
        : "235 ok\r\n",
  );

const holdsPassword = (heard: readonly string[]) =>
  heard.some(
    (line) => line.includes(PASSWORD) || Buffer.from(line.split(" ").at(-1) ?? "", "base64").includes(PASSWORD),
  );

async function identify(imapAddress: string, smtpAddress: string) {
  await using imap = await imapServer();
  await using smtp = await smtpServer();
  const channel = createEmail({
    log: { debug: () => undefined, warn: () => undefined },
    perHour: 60,
    resolveHost: (host) => Promise.resolve([host === "imap.example.com" ? imapAddress : smtpAddress]),
  });
  const token = writeCredentials(FIELDS, {
    ...{ address: "agent@example.com", password: PASSWORD },
    ...{ imap: `imap.example.com:${imap.port}`, smtp: `smtp.example.com:${smtp.port}` },
  });
  const outcome = await channel.identify(token, AbortSignal.timeout(20_000)).then(
    () => "connected",
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );
  return { outcome, inImap: holdsPassword(imap.heard), inSmtp: holdsPassword(smtp.heard) };
}

test("servers on this machine are told the password", async () => {
  expect(await identify("127.0.0.1", "127.0.0.1")).toEqual({ outcome: "connected", inImap: true, inSmtp: true });
});

test("an IMAP server elsewhere without TLS is not", async () => {
  expect(await identify(ELSEWHERE, "127.0.0.1")).toEqual({
    outcome: "The IMAP server offers no encryption (STARTTLS), and without it no password is sent.",
    inImap: false,
    inSmtp: false,
  });
});

test("an SMTP server elsewhere without TLS is not", async () => {
  expect(await identify("127.0.0.1", ELSEWHERE)).toEqual({
    outcome: "The SMTP server offers no encryption (STARTTLS), and without it no password is sent.",
    inImap: true,
    inSmtp: false,
  });
});

/** Ports with TLS from the start belong to addresses of this machine that no other program uses. */
const TLS_ADDRESS = "127.0.0.77";

/** Logs in to real servers, in a process that trusts the authorities in a file. */
async function identifyOverTls(
  kind: "starttls" | "always",
  certificate: Certificate,
  trusted: string,
  address: string,
) {
  const user = "agent@example.com";
  const portOf = (port: number) => (kind === "always" ? port : 0);
  const tls = { kind, ...certificate };
  await using imap = await startDovecot({ address: TLS_ADDRESS, port: portOf(993), tls });
  imap.addMailbox(user, PASSWORD);
  await using smtp = await startReadersServer(user, PASSWORD, { address: TLS_ADDRESS, port: portOf(465), tls });
  const folder = temporaryDir("berth-authorities-");
  const authorities = join(folder.path, "trusted.pem");
  await Bun.write(authorities, trusted);
  const from = (file: string) => JSON.stringify(join(import.meta.dir, file));
  const program = `
    const { createEmail } = await import(${from("index.ts")});
    const { FIELDS } = await import(${from("credentials.ts")});
    const { writeCredentials } = await import(${from("../shared/credential-text.ts")});
    const log = { debug() {}, warn() {} };
    const channel = createEmail({ log, perHour: 60, resolveHost: async () => [${JSON.stringify(address)}] });
    const token = writeCredentials(FIELDS, ${JSON.stringify({
      ...{ address: user, password: PASSWORD },
      ...{ imap: `mail.berth.example:${imap.port}`, smtp: `mail.berth.example:${smtp.port}` },
    })});
    const outcome = await channel.identify(token, AbortSignal.timeout(15_000)).then(() => "connected", (error) => error.message);
    process.stdout.write(outcome);
    process.exit(0);
  `;
  const { stdout } = await run([process.execPath, "-e", program], { NODE_EXTRA_CA_CERTS: authorities }, folder.path);
  folder.remove();
  return { outcome: stdout, encryptedLogin: /Login: .*, TLS/.test(imap.log()) };
}

const INVALID = expect.stringContaining("The IMAP server shows a certificate that is not valid");

describe.skipIf(dovecotIsMissing() !== undefined).each(["starttls", "always"] as const)(
  "a server with TLS, %s",
  (kind) => {
    test("is taken elsewhere if its certificate is of a known issuer and for its name", async () => {
      const certificate = await selfSigned("mail.berth.example");
      const elsewhere = `::ffff:${TLS_ADDRESS}`;
      expect(await identifyOverTls(kind, certificate, certificate.cert, elsewhere)).toEqual({
        ...{ outcome: "connected", encryptedLogin: true },
      });
      const other = await selfSigned("other.berth.example");
      expect(await identifyOverTls(kind, other, other.cert, elsewhere)).toEqual({
        outcome: INVALID,
        encryptedLogin: false,
      });
      expect(await identifyOverTls(kind, certificate, other.cert, elsewhere)).toMatchObject({ outcome: INVALID });
    });

    test("is taken on this machine with any certificate, as bridges have it", async () => {
      const certificate = await selfSigned("bridge.example");
      expect(await identifyOverTls(kind, certificate, "", TLS_ADDRESS)).toEqual({
        outcome: "connected",
        encryptedLogin: true,
      });
    });
  },
);
