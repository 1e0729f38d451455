// Shows that the session has ended; the dialog's code is loaded then.

import { useEffect, useSyncExternalStore } from "react";
import { sessionEnd } from "../api/session-end.ts";
import { onTabMessage, tellTabs } from "../api/tabs.ts";
import { lazyDialog } from "../parts/lazy.tsx";
import { useUser } from "./session.tsx";

const SignInDialog = lazyDialog<{ onClose: () => void }>(() => import("./sign-in-dialog.tsx"));

export function SignedOut() {
  const { id } = useUser();
  const isEnded = useSyncExternalStore(sessionEnd.subscribe, sessionEnd.get);
  useEffect(() => tellTabs({ type: "signed-in", user: id }), [id]);
  useEffect(
    () =>
      onTabMessage((message) => {
        // Somebody who signs out does not want their pages to stay open in other tabs.
        if (message.type === "signed-out") location.assign("/login");
        if (message.type === "signed-in" && message.user !== id) location.reload();
      }),
    [id],
  );
  if (!isEnded) return null;
  return <SignInDialog onClose={() => undefined} />;
}
