// Help for an owner who can't sign in: a link for a new password, by mail or to pass on, and turning off a lost second factor.

import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { api, path } from "../../../api/api.ts";
import { Button } from "../../../parts/button.tsx";
import { Dialog } from "../../../parts/dialog.tsx";
import { messageOf } from "../../../parts/error-note.tsx";
import { FormDialog } from "../../../parts/forms/form-dialog.tsx";
import { Section } from "../../../parts/page/page.tsx";
import { CodeBlock } from "../../../parts/text/code-block.tsx";
import { showError, showToast } from "../../../parts/toast.tsx";
import { t } from "../../../viewer/language.ts";
import type { AccountDetail } from "../api-types.ts";
import { useAccountChange } from "./use-account-change.ts";

export function SignInHelp({ account }: { account: AccountDetail }) {
  const [isAsking, setAsking] = useState(false);
  const reset = useMutation({
    mutationFn: (delivery: "mail" | "link") =>
      api.post<{ link?: string }>(path`/api/admin/users/${account.id}/reset-password`, { delivery }),
    onSuccess: ({ link }) => {
      if (link === undefined)
        showToast(t("A link to set a new password was mailed to {email}.", { email: account.email }));
    },
    onError: (error) => showError(messageOf(error)),
    gcTime: 0,
  });
  const link = reset.data?.link;
  const removeFactor = useAccountChange<void>(
    account.id,
    () => api.delete<AccountDetail>(path`/api/admin/users/${account.id}/two-factor`),
    () => showToast(t("The second factor is off. The owner is told by mail.")),
  );
  return (
    <Section title={t("Help with signing in")}>
      <div className="flex flex-col items-start gap-4">
        <div>
          <p className="mb-2 text-soft">{t("A new password: the link works once, within an hour.")}</p>
          <div className="flex flex-wrap gap-2">
            <Button
              isBusy={reset.isPending && reset.variables === "mail"}
              disabled={account.disabled}
              onClick={() => reset.mutate("mail")}
            >
              {t("Mail a link")}
            </Button>
            <Button
              isBusy={reset.isPending && reset.variables === "link"}
              disabled={account.disabled}
              onClick={() => reset.mutate("link")}
            >
              {t("Show a link to pass on")}
            </Button>
          </div>
        </div>
        {account.twoFactorEnabled ? (
          <div>
            <p className="mb-2 text-soft">
              {t("The second factor is on. Turn it off only if you are sure that it is the owner who lost it.")}
            </p>
            <Button look="danger" onClick={() => setAsking(true)}>
              {t("Turn off the second factor")}
            </Button>
          </div>
        ) : (
          <p className="text-soft">{t("The second factor is off: the password is enough.")}</p>
        )}
      </div>
      {link !== undefined && (
        <Dialog
          title={t("Link for a new password")}
          onClose={() => reset.reset()}
          actions={
            <Button look="primary" onClick={() => reset.reset()}>
              {t("Done")}
            </Button>
          }
        >
          <p className="mb-3">
            {t("Who has this link gets into the account. Pass it to its owner only; it is shown only now.")}
          </p>
          <CodeBlock code={link} label={t("Link for a new password")} />
        </Dialog>
      )}
      {isAsking && (
        <FormDialog
          title={t("Turn off the second factor?")}
          action={t("Turn it off")}
          look="danger"
          isBusy={removeFactor.isPending}
          onSubmit={() => {
            setAsking(false);
            removeFactor.mutate();
          }}
          onClose={() => setAsking(false)}
        >
          <p>
            {t("From then on the password of {email} is enough. Only its owner can turn the second factor on again.", {
              email: account.email,
            })}
          </p>
        </FormDialog>
      )}
    </Section>
  );
}
