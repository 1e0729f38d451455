// Makes a link with which one person may sign up, where sign-up is by invitation. The link is shown once.

import { useMutation } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { api } from "../../../app/api.ts";
import { ApiError } from "../../../app/errors.ts";
import { t } from "../../../app/language.ts";
import { Button } from "../../../parts/button.tsx";
import { CodeBlock } from "../../../parts/code-block.tsx";
import { Dialog } from "../../../parts/dialog.tsx";
import { ErrorNote } from "../../../parts/error-note.tsx";
import { TextField } from "../../../parts/field.tsx";
import { When } from "../../../parts/when.tsx";

const FORM = "invite";

export function InviteDialog({ onClose }: { onClose: () => void }) {
  const [email, setEmail] = useState("");
  const invite = useMutation({
    mutationFn: () => api.post<{ link: string; expiresAt: string }>("/api/admin/invitations", { email }),
    gcTime: 0,
  });
  const { data, error } = invite;
  const issue = error instanceof ApiError ? error.issueAt("email") : undefined;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    invite.mutate();
  };
  return (
    <Dialog
      title={t("Invite a person")}
      onClose={onClose}
      actions={
        data ? (
          <Button look="primary" onClick={onClose}>
            {t("Done")}
          </Button>
        ) : (
          <>
            <Button onClick={onClose}>{t("Cancel")}</Button>
            <Button look="primary" type="submit" form={FORM} isBusy={invite.isPending}>
              {t("Make the link")}
            </Button>
          </>
        )
      }
    >
      {data ? (
        <div className="flex flex-col gap-3">
          <p>{t("Send this link to {email}. It works once and is shown only now.", { email })}</p>
          <CodeBlock code={data.link} label={t("Link of the invitation")} />
          <p className="text-soft text-sm">
            {t("It ends")} <When at={data.expiresAt} isExact />
          </p>
        </div>
      ) : (
        <form id={FORM} onSubmit={submit} className="flex flex-col gap-4">
          <TextField
            label={t("Email address")}
            type="email"
            required
            value={email}
            onChange={(event) => setEmail(event.target.value)}
            error={issue}
            hint={t("Only the holder of this address can use the link. Berth does not mail it: pass it on yourself.")}
          />
          {error && !issue && <ErrorNote error={error} />}
        </form>
      )}
    </Dialog>
  );
}
