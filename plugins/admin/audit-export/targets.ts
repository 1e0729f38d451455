// Delivers lines of the audit log to a file, a syslog server or a webhook. A delivery that resolves was accepted, as far as the
// protocol tells; UDP tells nothing.
import { createSocket } from "node:dgram";
import { open } from "node:fs/promises";
import { connect } from "node:net";
import { hostname } from "node:os";
import { SECOND } from "../../../src/kernel/util/time.ts";
import type { AuditTarget } from "../settings.ts";

/** An entry as it is exported: the line, and what syslog's header needs of it. */
export interface ExportedEntry {
  /** One line of JSON. */
  line: string;
  /** Makes a line of at most a few kilobytes: without the details, and with the beginnings of long texts. */
  shorten(): string;
  /** Epoch ms. */
  at: number;
  action: string;
}

export type Deliver = (entries: readonly ExportedEntry[]) => Promise<void>;

const TIMEOUT_MS = 15 * SECOND;
/** Facility 13 (log audit), severity 5 (notice): RFC 5424, section 6.2.1. */
const PRIORITY = 13 * 8 + 5;

export function createDelivery(target: AuditTarget, token: string | undefined): Deliver {
  if (target.kind === "file") return (entries) => appendTo(target.path, entries);
  if (target.kind === "webhook") return (entries) => post(target.url, token, entries);
  const { protocol, host, port } = target;
  return (entries) =>
    protocol === "udp" ? sendDatagrams(host, port, entries) : sendOverTcp(host, port, entries.map(syslogMessage));
}

/** Opens the file each time, so that it can be rotated, and returns once it is on the disk. */
async function appendTo(path: string, entries: readonly ExportedEntry[]): Promise<void> {
  const file = await open(path, "a", 0o600);
  try {
    await file.appendFile(entries.map(({ line }) => `${line}\n`).join(""));
    await file.datasync();
  } finally {
    await file.close();
  }
}

async function post(url: string, token: string | undefined, entries: readonly ExportedEntry[]): Promise<void> {
  const response = await fetch(url, {
    method: "POST",
    redirect: "manual",
    headers: {
      "content-type": "application/x-ndjson",
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    },
    body: entries.map(({ line }) => `${line}\n`).join(""),
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  await response.body?.cancel();
  if (!response.ok) throw new Error(`the webhook answered ${response.status}`);
}

/** RFC 5424, section 6, without structured data: the entry is the message, as JSON. */
function syslogMessage({ line, at, action }: ExportedEntry): Buffer {
  const header = `<${PRIORITY}>1 ${new Date(at).toISOString()} ${hostname() || "-"} berth ${process.pid} ${action.slice(0, 32)} -`;
  return Buffer.from(`${header} ${line}`);
}

/** An entry that this system can't send as one datagram (RFC 768: 64 KB; some systems take less) is sent shortened. */
async function sendDatagrams(host: string, port: number, entries: readonly ExportedEntry[]): Promise<void> {
  const socket = createSocket(host.includes(":") ? "udp6" : "udp4");
  const { promise: failure, reject } = Promise.withResolvers<never>();
  socket.on("error", reject);
  const send = (message: Buffer) =>
    new Promise<void>((resolve, refuse) => {
      socket.send(message, port, host, (error) => (error ? refuse(error) : resolve()));
    });
  const sendAll = async () => {
    for (const entry of entries) {
      try {
        await send(syslogMessage(entry));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "EMSGSIZE") throw error;
        await send(syslogMessage({ ...entry, line: entry.shorten() }));
      }
    }
  };
  try {
    await Promise.race([sendAll(), failure]);
  } finally {
    socket.close();
  }
}

/**
 * Sends the messages with their lengths (RFC 6587, section 3.4.1), ends the connection, and waits until the server has ended it
 * too: it has then read them all.
 */
function sendOverTcp(host: string, port: number, messages: readonly Buffer[]): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const socket = connect({ host, port });
  socket.setTimeout(TIMEOUT_MS, () => socket.destroy(new Error("the syslog server did not answer in time")));
  socket.on("error", reject);
  socket.on("close", (hadError) => (hadError ? undefined : resolve()));
  socket.on("connect", () => {
    for (const message of messages) socket.write(Buffer.concat([Buffer.from(`${message.length} `), message]));
    socket.end();
  });
  // Unread data would keep the end from being seen.
  socket.resume();
  return promise;
}
