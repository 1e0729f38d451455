// Says that the plan has no room for an agent.

import { ButtonLink } from "../parts/button.tsx";
import { Notice } from "../parts/values/status.tsx";
import { useUser } from "../session/session.tsx";
import { t } from "../viewer/language.ts";

/** Tells a person whose plan allows no agent whom to ask. The page changes when the plan does. */
export function NoRoom() {
  const { email } = useUser();
  return (
    <Notice tone="warn">
      <p>
        {t(
          "Your plan has no room for an agent yet. Ask whoever runs this Berth for a larger plan; they find you as {email}.",
          {
            email,
          },
        )}
      </p>
      <ButtonLink href="/usage">{t("See what the plans include")}</ButtonLink>
    </Notice>
  );
}
