// Asks somebody whose session has ended to sign in again, in another tab, so that nothing that was typed here is lost.

import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useEffectEvent, useState } from "react";
import { api } from "../api/api.ts";
import { ApiError } from "../api/errors.ts";
import { noteSession, signInAgain } from "../api/session-end.ts";
import { onTabMessage } from "../api/tabs.ts";
import { Button } from "../parts/button.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { ErrorNote } from "../parts/error-note.tsx";
import { t } from "../viewer/language.ts";
import { USER_KEY, type User, useUser } from "./session.tsx";

export default function SignInDialog() {
  const { id } = useUser();
  const queries = useQueryClient();
  const [error, setError] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);

  const goOn = async () => {
    setBusy(true);
    try {
      const user = await api.get<User>("/api/settings");
      // What this page shows belongs to the account before.
      if (user.id !== id) return location.reload();
      queries.setQueryData(USER_KEY, user);
      noteSession();
      void queries.invalidateQueries();
    } catch (failure) {
      setError(failure);
    }
    setBusy(false);
  };
  const look = useEffectEvent(() => {
    if (!isBusy) void goOn();
  });
  useEffect(() => {
    const lookIfVisible = () => {
      if (document.visibilityState === "visible") look();
    };
    const stopListening = onTabMessage(({ type }) => {
      if (type === "signed-in") look();
    });
    addEventListener("visibilitychange", lookIfVisible);
    return () => {
      stopListening();
      removeEventListener("visibilitychange", lookIfVisible);
    };
  }, []);

  const isStillOut = error instanceof ApiError && error.status === 401;
  return (
    <Dialog
      title={t("Your session has ended")}
      onClose={() => void goOn()}
      actions={
        <>
          <Button look="bare" onClick={signInAgain}>
            {t("Sign in here")}
          </Button>
          <Button isBusy={isBusy} onClick={() => void goOn()}>
            {t("Go on")}
          </Button>
          <Button look="primary" data-autofocus onClick={() => open("/login?next=%2F", "_blank")}>
            {t("Sign in in a new tab")}
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-3">
        <p>
          {t(
            "It was too long ago, or was ended on another device. Sign in in a new tab: this page waits for that, and keeps what you typed.",
          )}
        </p>
        <div role="status">
          {isStillOut && !isBusy && <p className="text-warn">{t("You are not signed in yet.")}</p>}
        </div>
        {error !== undefined && !isStillOut && <ErrorNote error={error} />}
      </div>
    </Dialog>
  );
}
