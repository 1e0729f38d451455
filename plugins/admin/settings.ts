// The settings of the audit log's export.
import { resolve } from "node:path";
import { anyText, type Parser, parser } from "../../src/kernel/config/parsers.ts";
import { defineSettings, warning } from "../../src/kernel/config/section.ts";
import { optional } from "../../src/kernel/config/variable.ts";

/** Where entries of the audit log are sent. */
export type AuditTarget =
  | { kind: "file"; path: string; name: string }
  | { kind: "syslog"; protocol: "udp" | "tcp"; host: string; port: number; name: string }
  | { kind: "webhook"; url: string; name: string };

const SYSLOG_PORTS = { udp: 514, tcp: 601 } as const;

const target: Parser<AuditTarget> = parser(
  "file:PATH, syslog+udp://HOST[:PORT], syslog+tcp://HOST[:PORT], or an http(s) address",
  (text, { cwd }) => {
    if (/^file:.+/.test(text)) {
      const path = resolve(cwd, text.slice("file:".length));
      return { kind: "file", path, name: `file:${path}` };
    }
    const url = URL.parse(text);
    if (!url?.hostname) return undefined;
    if (/^https?:$/.test(url.protocol)) return { kind: "webhook", url: url.href, name: `${url.origin}${url.pathname}` };
    const protocol = (["udp", "tcp"] as const).find((one) => url.protocol === `syslog+${one}:`);
    if (!protocol || !/^\/?$/.test(url.pathname)) return undefined;
    const host = url.hostname.replace(/^\[|\]$/g, "");
    const port = url.port === "" ? SYSLOG_PORTS[protocol] : Number(url.port);
    return { kind: "syslog", protocol, host, port, name: `syslog+${protocol}://${host}:${port}` };
  },
);

export const auditSettings = defineSettings({
  name: "audit log",
  variables: {
    AUDIT_TO: optional(
      target,
      "Where each entry of the audit log is also sent: `file:PATH`, `syslog+udp://HOST`, `syslog+tcp://HOST`, or the address of a webhook.",
    ),
    AUDIT_TOKEN: optional(anyText, "Bearer token for the webhook of `AUDIT_TO`.", "secret"),
  },
  build: ({ AUDIT_TO, AUDIT_TOKEN }) => ({ target: AUDIT_TO, token: AUDIT_TOKEN }),
  validate: ({ AUDIT_TO, AUDIT_TOKEN }) =>
    AUDIT_TOKEN !== undefined && AUDIT_TO?.kind !== "webhook"
      ? [warning("AUDIT_TOKEN", "has no effect, since AUDIT_TO is no webhook.")]
      : [],
});
