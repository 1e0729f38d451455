// Says what follows from a place outside of the service that does not work, and what to do.

import type { Outage } from "../../../../src/kernel/telemetry/outages.ts";
import { withFullStop } from "../../../../src/kernel/util/text/full-stop.ts";
import type { Problem } from "./problem.ts";

interface Words {
  code: string;
  /** What does not work; the time and the reason follow. */
  begin: string;
  action: string;
}

const WORDS: Readonly<Record<string, Words>> = {
  audit_export: {
    code: "AUDIT_EXPORT_FAILS",
    begin: "AUDIT_TO has taken no entries of the audit log since",
    action: "Remove the reason, or correct AUDIT_TO. The entries wait here, and are sent by themselves then.",
  },
  stripe: {
    code: "STRIPE_FAILS",
    begin: "Stripe has not answered as it should since",
    action:
      "Check its status page, STRIPE_SECRET_KEY and this machine's connection. Payments made meanwhile are noticed by themselves then.",
  },
  stablecoin: {
    code: "STABLECOIN_FAILS",
    begin: "Transfers of stablecoin have not been read since",
    action:
      "Check the address of the chain in the settings and this machine's connection. Transfers made meanwhile are credited by themselves then.",
  },
  traces: {
    code: "TRACES_FAIL",
    begin: "The collector of OTEL_EXPORTER_OTLP_ENDPOINT has taken no traces since",
    action: "Look at the collector and its address. Traces made meanwhile are lost; nothing else waits for it.",
  },
};

/** Of a place that a third-party plugin watches. */
const wordsOf = (of: string): Words =>
  WORDS[of] ?? {
    code: "OUTAGE",
    begin: `${of} has not worked since`,
    action: "Remove the reason; the log of the service says more.",
  };

const CODES = new Set([...Object.values(WORDS).map(({ code }) => code), "OUTAGE"]);

/** Whether a problem is one of these. */
export const isOutageProblem = ({ code }: Pick<Problem, "code">) => CODES.has(code);

export const outageProblems = (outages: readonly Outage[]): Problem[] =>
  outages.map(({ of, since, reason }): Problem => {
    const { code, begin, action } = wordsOf(of);
    const failsAt = new Date(since).toISOString();
    return {
      code,
      severity: of === "traces" ? "warning" : "error",
      message: withFullStop(`${begin} ${failsAt}: ${reason}`),
      action,
      link: "/admin/settings",
      values: { of, failsAt, reason },
    };
  });
