// Makes a link with which one person may sign up, where sign-up is by invitation. The link is shown once.

import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { api } from "../../../api/api.ts";
import { issueAt } from "../../../api/errors.ts";
import { Button } from "../../../parts/button.tsx";
import { Dialog } from "../../../parts/dialog.tsx";
import { TextField } from "../../../parts/forms/field.tsx";
import { FormDialog } from "../../../parts/forms/form-dialog.tsx";
import { CodeBlock } from "../../../parts/text/code-block.tsx";
import { When } from "../../../parts/values/when.tsx";
import { t } from "../../../viewer/language.ts";

export function InviteDialog({ onClose }: { onClose: () => void }) {
  const [email, setEmail] = useState("");
  const { mutate, isPending, data, error } = useMutation({
    mutationFn: () => api.post<{ link: string; expiresAt: string }>("/api/admin/invitations", { email }),
    gcTime: 0,
  });
  const issue = issueAt(error, "email");
  if (data)
    return (
      <Dialog
        title={t("Invite a person")}
        onClose={onClose}
        actions={
          <Button look="primary" onClick={onClose}>
            {t("Done")}
          </Button>
        }
      >
        <div className="flex flex-col gap-3">
          <p>{t("Send this link to {email}. It works once and is shown only now.", { email })}</p>
          <CodeBlock code={data.link} label={t("Link of the invitation")} />
          <p className="text-soft text-sm">
            {t("It ends")} <When at={data.expiresAt} isExact />
          </p>
        </div>
      </Dialog>
    );
  return (
    <FormDialog
      title={t("Invite a person")}
      action={t("Make the link")}
      isBusy={isPending}
      error={issue ? undefined : error}
      onSubmit={() => mutate()}
      onClose={onClose}
    >
      <TextField
        label={t("Email address")}
        type="email"
        required
        value={email}
        onChange={(event) => setEmail(event.target.value)}
        error={issue}
        hint={t("Only the holder of this address can use the link. Berth does not mail it: pass it on yourself.")}
      />
    </FormDialog>
  );
}
