// Says above each page that the account is frozen, and why.

import { useUser } from "../session/session.tsx";
import { t } from "../viewer/language.ts";

export function FrozenBanner() {
  const { frozen } = useUser();
  if (!frozen) return null;
  return (
    <div role="status" className="shrink-0 bg-warn-wash px-4 py-1.5 text-sm text-warn">
      <p className="wrap-anywhere">{t("The operator has frozen this account: {reason}", { reason: frozen.reason })}</p>
      <p>
        {t(
          "Your agents are paused and messages to them wait. You can read and export everything, erase people, and delete agents, API keys and the account; ask the operator about the rest.",
        )}
      </p>
    </div>
  );
}
