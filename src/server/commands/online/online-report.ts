// Checks what the service depends on outside of it, for `berth doctor --online`, and says for each what to do.
import type { LiveSnapshot } from "../../../../plugins/fleet/index.ts";
import type { Config } from "../../../kernel/config/config.ts";
import { redactForms } from "../../../kernel/telemetry/redact.ts";
import { checkAuditExport } from "./audit-check.ts";
import { checkBackups } from "./backup-check.ts";
import { type CheckResult, SIGNS } from "./check.ts";
import { checkCopy } from "./copy-check.ts";
import { checkDomains } from "./domain-checks.ts";
import { checkClock, checkDisk } from "./machine-checks.ts";
import { checkMail } from "./mail-check.ts";
import { checkPayments } from "./payment-checks.ts";
import { checkProviders } from "./provider-checks.ts";

export interface OnlineReport {
  /** Lines for a terminal, without secrets. */
  text: string;
  /** 1 if something does not work. */
  exitCode: 0 | 1;
}

/** @param live what the running service says of itself; undefined if none runs */
export async function onlineReport(config: Config, live: LiveSnapshot | undefined): Promise<OnlineReport> {
  const [mail, providers, domains, disk, backups, copy, audit, payments] = await Promise.all([
    checkMail(config),
    checkProviders(config, live),
    checkDomains(config),
    checkDisk(config.dataDir),
    checkBackups(config),
    checkCopy(config),
    checkAuditExport(config),
    checkPayments(config),
  ]);
  const machine = [checkClock(providers.clockOffsets), disk, backups, ...copy];
  const results = [mail, ...providers.results, ...domains, ...machine, ...audit, ...payments];
  const hide = createHider(config);
  const lines = results.flatMap(({ level, text, action }: CheckResult) => [
    `${SIGNS[level]} ${hide(text)}`,
    ...(action === undefined ? [] : [`  → ${action}`]),
  ]);
  const isBroken = results.some(({ level }) => level === "broken");
  return { text: `\n${lines.join("\n")}\n`, exitCode: isBroken ? 1 : 0 };
}

/** Servers may quote what they were sent. */
function createHider({ secrets, smtp }: Config): (text: string) => string {
  const { username = "", password = "" } = URL.parse(smtp.url ?? "") ?? {};
  const all = [...secrets, password, decodeURIComponent(password), decodeURIComponent(username)];
  return (text) =>
    redactForms(all.reduce((hidden, secret) => (secret ? hidden.replaceAll(secret, "…") : hidden), text));
}
