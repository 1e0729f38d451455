// Tries AUDIT_TO without an entry: opens the file, connects to the syslog server, or posts an empty list to the webhook.

import { lookup } from "node:dns/promises";
import { once } from "node:events";
import { open } from "node:fs/promises";
import { connect } from "node:net";
import { type AuditTarget, auditSettings } from "../../../../plugins/admin/settings.ts";
import type { Config } from "../../../kernel/config/config.ts";
import { becauseOf, type CheckResult } from "./check.ts";

const TIMEOUT_MS = 10_000;

/** None without AUDIT_TO. */
export async function checkAuditExport(config: Pick<Config, "of">): Promise<CheckResult[]> {
  const { target, token } = config.of(auditSettings);
  if (!target) return [];
  const about = `Audit log: ${target.name}`;
  try {
    return [await tryTarget(about, target, token)];
  } catch (error) {
    return [{ level: "broken", text: `${about} can't be used: ${becauseOf(error)}`, action: ACTIONS[target.kind] }];
  }
}

const ACTIONS = {
  file: "Make its folder, and let the user of the service write there, or correct AUDIT_TO.",
  syslog: "Check name and port in AUDIT_TO, and whether the server takes connections of this machine.",
  webhook: "Check the address in AUDIT_TO, and whether its receiver runs.",
} as const;

async function tryTarget(about: string, target: AuditTarget, token: string | undefined): Promise<CheckResult> {
  switch (target.kind) {
    case "file":
      await (await open(target.path, "a", 0o600)).close();
      return { level: "good", text: `${about} can be written.` };
    case "webhook":
      return post(about, target.url, token);
    case "syslog":
      return target.protocol === "udp" ? findServer(about, target.host) : connectTo(about, target);
  }
}

async function post(about: string, url: string, token: string | undefined): Promise<CheckResult> {
  const response = await fetch(url, {
    method: "POST",
    redirect: "manual",
    headers: {
      "content-type": "application/x-ndjson",
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    },
    body: "",
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  await response.body?.cancel();
  const { status, ok } = response;
  if (ok) return { level: "good", text: `${about} accepts a list without entries.` };
  if (status === 401 || status === 403)
    return { level: "broken", text: `${about} does not accept the token.`, action: "Correct AUDIT_TOKEN." };
  if (status === 400 || status === 411 || status === 422)
    return { level: "note", text: `${about} answers, and refuses a list without entries (status ${status}).` };
  return { level: "broken", text: `${about} answers with status ${status}.`, action: ACTIONS.webhook };
}

/** UDP says nothing of its receiver. */
async function findServer(about: string, host: string): Promise<CheckResult> {
  await lookup(host);
  return { level: "note", text: `${about} has an address. Whether a server listens, UDP does not tell.` };
}

async function connectTo(about: string, { host, port }: { host: string; port: number }): Promise<CheckResult> {
  const socket = connect({ host, port });
  try {
    await once(socket, "connect", { signal: AbortSignal.timeout(TIMEOUT_MS) });
    return { level: "good", text: `${about} accepts a connection.` };
  } finally {
    socket.destroy();
  }
}
