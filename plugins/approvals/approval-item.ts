// Shows a stored request for approval as the API and the console do.
import type { Static } from "elysia";
import { isExpired } from "./approval-store.ts";
import type { Scope } from "./decisions.ts";
import type { approvalItem } from "./model.ts";
import type { Approval } from "./schema.ts";

const INFLUENCES = ["none", "people", "outside"] as const;

/** `summary` and `input`: with nothing blacked out, as the store opens them. */
export function toApprovalItem(
  approval: Approval,
  { summary, input, scopes }: { summary: string; input: string; scopes: readonly Scope[] },
): Static<typeof approvalItem> {
  const { sessionId: _session, byOwner: _byOwner, step: _step, code: _code, asked: _asked, taint, ...shown } = approval;
  const { edited: _edited, whole: _whole, ...rest } = shown;
  return {
    ...rest,
    summary,
    input: JSON.parse(input),
    influence: INFLUENCES[taint] ?? "outside",
    status: isExpired(approval) ? "expired" : approval.status,
    scopes: [...scopes],
    requestedAt: iso(approval.requestedAt),
    expiresAt: iso(approval.expiresAt),
    decidedAt: isoOrNull(approval.decidedAt),
    usedAt: isoOrNull(approval.usedAt),
  };
}

const iso = (at: number) => new Date(at).toISOString();
const isoOrNull = (at: number | null) => (at === null ? null : iso(at));
