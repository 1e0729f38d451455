// How agents of other hosts reach this one: its address and its card of the A2A protocol.

import { Section } from "../../../parts/page/page.tsx";
import { CopyValue } from "../../../parts/values/copy-value.tsx";
import { t } from "../../../viewer/language.ts";
import type { PublicSettings } from "./data.ts";

/** Below the public address (A2A 1.0, section 8.2). */
const CARD = "/.well-known/agent-card.json";

export function OtherAgentsSection({ settings: { enabled, url } }: { settings: PublicSettings }) {
  const address = url.replace(/\/$/, "");
  return (
    <Section
      title={t("For agents of others")}
      hint={t("Agents of other hosts can ask yours, over the A2A protocol. They get what a visitor gets.")}
    >
      {enabled ? (
        <dl className="flex flex-col gap-3">
          <div>
            <dt className="mb-1 font-medium">{t("Its card")}</dt>
            <dd>
              <CopyValue value={`${address}${CARD}`} label={t("Copy the address of the card")} />
            </dd>
            <dd className="mt-1 text-soft text-sm">{t("Most programs want this one: it says what the agent can.")}</dd>
          </div>
          <div>
            <dt className="mb-1 font-medium">{t("Its address")}</dt>
            <dd>
              <CopyValue value={address} label={t("Copy the address for agents")} />
            </dd>
            <dd className="mt-1 text-soft text-sm">{t("Takes JSON-RPC of A2A 1.0 and 0.3.")}</dd>
          </div>
        </dl>
      ) : (
        <p className="max-w-prose text-soft">
          {t("As soon as visitors may talk to it, its address and its card are shown here.")}
        </p>
      )}
    </Section>
  );
}
