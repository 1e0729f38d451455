// Confirms who somebody is before a change that a stolen session must not make: by the password, or a new sign-in.

import { type ReactNode, useState } from "react";
import { ApiError } from "../../api/errors.ts";
import { signInAgain } from "../../api/session-end.ts";
import { messageOf } from "../../parts/error-note.tsx";
import { FormDialog } from "../../parts/forms/form-dialog.tsx";
import { PasswordField } from "../../parts/forms/password-field.tsx";
import { showError } from "../../parts/toast.tsx";
import { useUser } from "../../session/session.tsx";
import { t } from "../../viewer/language.ts";

/** Called without a password first; a sign-in of the last ten minutes is enough for most changes. */
type Change = (currentPassword?: string) => Promise<unknown>;

/**
 * `run` makes the change, and asks for the password in `dialog` if the server wants one. Other errors are shown as a
 * message.
 */
export function useConfirmation(): { run: (change: Change) => Promise<void>; dialog: ReactNode } {
  const [waiting, setWaiting] = useState<Change>();
  const run = async (change: Change) => {
    try {
      await change();
    } catch (error) {
      if (isConfirmationWanted(error)) setWaiting(() => change);
      else showError(messageOf(error));
    }
  };
  const close = () => setWaiting(undefined);
  return { run, dialog: waiting && <ConfirmationDialog change={waiting} onClose={close} /> };
}

export const isConfirmationWanted = (error: unknown) =>
  error instanceof ApiError && error.code === "RECENT_SIGN_IN_REQUIRED";

function ConfirmationDialog({ change, onClose }: { change: Change; onClose: () => void }) {
  const { hasPassword } = useUser();
  const [password, setPassword] = useState("");
  const [error, setError] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const confirm = async () => {
    setBusy(true);
    try {
      await change(password);
      onClose();
    } catch (caught) {
      setError(caught);
    }
    setBusy(false);
  };
  if (!hasPassword) return <SignInAgainDialog onClose={onClose} />;
  return (
    <FormDialog
      title={t("Confirm that it is you")}
      action={t("Confirm")}
      isBusy={isBusy}
      isIncomplete={!password}
      onSubmit={() => void confirm()}
      onClose={onClose}
      error={error}
    >
      <p>{t("Your last sign-in is a while ago, and this change guards your account.")}</p>
      <PasswordField label={t("Current password")} value={password} onChange={setPassword} />
    </FormDialog>
  );
}

/** For accounts without a password. */
export const SignInAgainDialog = ({ onClose }: { onClose: () => void }) => (
  <FormDialog title={t("Sign in again first")} action={t("Sign in again")} onSubmit={signInAgain} onClose={onClose}>
    <p>
      {t(
        "This change guards your account, so it needs a sign-in within the last ten minutes. You come back to this page afterwards.",
      )}
    </p>
  </FormDialog>
);
