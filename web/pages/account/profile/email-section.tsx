// The email address: whether it is verified, its link again, and a new one.

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api } from "../../../api/api.ts";
import { messageFor } from "../../../api/errors.ts";
import { Button } from "../../../parts/button.tsx";
import { messageOf } from "../../../parts/error-note.tsx";
import { TextField } from "../../../parts/forms/field.tsx";
import { FormDialog } from "../../../parts/forms/form-dialog.tsx";
import { PasswordField } from "../../../parts/forms/password-field.tsx";
import { Section } from "../../../parts/page/page.tsx";
import { showError, showToast } from "../../../parts/toast.tsx";
import { Status } from "../../../parts/values/status.tsx";
import { USER_KEY, type User, useUser } from "../../../session/session.tsx";
import { t } from "../../../viewer/language.ts";
import { isConfirmationWanted, SignInAgainDialog } from "../confirmation.tsx";
import { noMails, useOffers } from "../offers.ts";

const WALLET_ADDRESS = /@wallet\.invalid$/;

export function EmailSection() {
  const { email, emailVerified } = useUser();
  const [isOpen, setOpen] = useState(false);
  const hasMailbox = !WALLET_ADDRESS.test(email);
  return (
    <Section
      title={t("Email address")}
      actions={<Button onClick={() => setOpen(true)}>{hasMailbox ? t("Change") : t("Add an address")}</Button>}
    >
      {hasMailbox ? (
        <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
          <p className="font-medium">{email}</p>
          {emailVerified ? <Status tone="good">{t("Verified")}</Status> : <Unverified />}
        </div>
      ) : (
        <p className="max-w-prose text-soft">
          {t(
            "Your account is named after your wallet and has no mailbox. With an address you get mails about your agents, and a way back in.",
          )}
        </p>
      )}
      {isOpen && <EmailDialog onClose={() => setOpen(false)} />}
    </Section>
  );
}

function Unverified() {
  const { data: offers } = useOffers();
  const resend = useMutation({
    mutationFn: () => api.post<{ message: string }>("/api/auth/verify-email/resend", {}),
    onSuccess: () =>
      showToast(
        offers?.sendsMail === false
          ? t("A new link is in the folder outbox.")
          : t("The link is on its way. Look into your mailbox."),
      ),
    onError: (error) => showError(messageOf(error)),
  });
  return (
    <>
      <Status tone="warn">{t("Not verified")}</Status>
      <Button isBusy={resend.isPending} onClick={() => resend.mutate()}>
        {offers?.sendsMail === false ? t("Make a new link") : t("Send the link again")}
      </Button>
      {offers?.sendsMail === false && <p className="max-w-prose text-soft text-sm">{noMails()}</p>}
    </>
  );
}

function EmailDialog({ onClose }: { onClose: () => void }) {
  const { hasPassword, twoFactorEnabled } = useUser();
  const { data: offers } = useOffers();
  const queries = useQueryClient();
  const [email, setEmail] = useState("");
  const [currentPassword, setPassword] = useState("");
  const [totp, setTotp] = useState("");
  const change = useMutation({
    mutationFn: () =>
      api.post<User>("/api/settings", {
        email,
        ...(currentPassword && { currentPassword }),
        ...(totp && { totp }),
      }),
    onSuccess(user) {
      queries.setQueryData(USER_KEY, user);
      showToast(
        offers?.sendsMail === false
          ? noMails()
          : t("Open the link in the mail to {email} to verify it.", { email: user.email }),
      );
      onClose();
    },
  });
  const { error } = change;
  const emailError = messageFor(error, "INVALID_EMAIL", "EMAIL_IN_USE");
  const passwordError = messageFor(error, "BAD_CREDENTIALS");
  const codeError = messageFor(error, "INVALID_TOTP", "TOTP_REQUIRED");
  if (!hasPassword && isConfirmationWanted(error)) return <SignInAgainDialog onClose={onClose} />;
  return (
    <FormDialog
      title={t("New email address")}
      action={t("Send the link")}
      isBusy={change.isPending}
      onSubmit={() => change.mutate()}
      onClose={onClose}
      error={emailError || passwordError || codeError ? undefined : error}
    >
      <p className="text-soft">
        {t(
          "The new address gets a link to verify it, the old one a notice. Links for a new password that are still open end.",
        )}
      </p>
      <TextField
        label={t("New address")}
        type="email"
        required
        autoComplete="email"
        value={email}
        error={emailError}
        onChange={(event) => setEmail(event.target.value)}
      />
      {hasPassword && (
        <PasswordField
          label={t("Current password")}
          required
          value={currentPassword}
          onChange={setPassword}
          error={passwordError}
        />
      )}
      {twoFactorEnabled && (
        <TextField
          label={t("Code of your authenticator app, or a recovery code")}
          required
          autoComplete="one-time-code"
          value={totp}
          error={codeError}
          onChange={(event) => setTotp(event.target.value)}
        />
      )}
    </FormDialog>
  );
}
