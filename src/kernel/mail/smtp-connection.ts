// Opens a pool of connections to a mail server, by its URL.
import { createTransport } from "nodemailer";
import { isLoopbackHost } from "../config/config.ts";

export interface SmtpOptions {
  maxConnections: number;
  /** Of each step of the protocol. */
  timeoutMs: number;
}

export async function connectSmtp(url: string, { maxConnections, timeoutMs }: SmtpOptions) {
  const { password, hostname } = new URL(url);
  return createTransport({
    url,
    pool: true,
    maxConnections,
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    socketTimeout: timeoutMs,
    dnsTimeout: timeoutMs,
    requireTLS: password !== "" && !isLoopbackHost(hostname),
  });
}
