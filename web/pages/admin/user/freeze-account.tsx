// Freezes an account with all of its agents, and lets it go on.

import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api, path } from "../../../api/api.ts";
import { Button } from "../../../parts/button.tsx";
import { Section } from "../../../parts/page/page.tsx";
import { showToast } from "../../../parts/toast.tsx";
import { Notice } from "../../../parts/values/status.tsx";
import { When } from "../../../parts/values/when.tsx";
import { useUser } from "../../../session/session.tsx";
import { t } from "../../../viewer/language.ts";
import type { AccountDetail } from "../api-types.ts";
import { FreezeDialog } from "../freeze-dialog.tsx";
import { useAccountChange } from "./use-account-change.ts";

export function FreezeAccount({ account }: { account: AccountDetail }) {
  const [isOpen, setOpen] = useState(false);
  const client = useQueryClient();
  const isSelf = useUser().id === account.id;
  const { frozen, email } = account;
  const unfreeze = useAccountChange(
    account.id,
    () => api.post<AccountDetail>(path`/api/admin/users/${account.id}/unfreeze`),
    () => showToast(t("The account goes on, and its agents as they were.")),
  );
  if (isSelf) return null;
  return (
    <Section
      title={t("Freeze")}
      hint={t("Pauses the account with its agents, bots, streams and schedules at once, and loses nothing.")}
      actions={
        frozen ? (
          <Button look="primary" isBusy={unfreeze.isPending} onClick={() => unfreeze.mutate(undefined)}>
            {t("Let it go on")}
          </Button>
        ) : (
          <Button look="danger" onClick={() => setOpen(true)}>
            {t("Freeze the account")}
          </Button>
        )
      }
    >
      {frozen ? (
        <Notice tone="warn">
          <p>
            {t("Frozen")} <When at={frozen.since} />
          </p>
          <p className="wrap-anywhere">{frozen.reason}</p>
        </Notice>
      ) : (
        <p className="text-soft">
          {t(
            "Nobody is signed out: the owner can still read, export, erase people, and delete agents and the account.",
          )}
        </p>
      )}
      {isOpen && (
        <FreezeDialog
          title={t("Freeze {email}?", { email })}
          effects={t(
            "Its agents fall silent at once and turns end; messages wait and are answered afterwards. The owner changes nothing until then.",
          )}
          path={path`/api/admin/users/${account.id}/freeze`}
          onDone={() => {
            void client.invalidateQueries({ queryKey: ["admin"] });
            showToast(t("The account is frozen."));
          }}
          onClose={() => setOpen(false)}
        />
      )}
    </Section>
  );
}
