// A password goes in clear only to a server on the same machine: other servers without TLS never hear it.
import { expect, test } from "bun:test";
import { createServer, type Socket } from "node:net";
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
    outcome: "The IMAP server can't be reached.",
    inImap: false,
    inSmtp: false,
  });
});

test("an SMTP server elsewhere without TLS is not", async () => {
  expect(await identify("127.0.0.1", ELSEWHERE)).toEqual({
    outcome: "The SMTP server can't be reached.",
    inImap: true,
    inSmtp: false,
  });
});
