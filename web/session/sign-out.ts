// Ends the session of this browser.

import { api } from "../api/api.ts";
import { tellTabs } from "../api/tabs.ts";
import { messageOf } from "../parts/error-note.tsx";
import { showError } from "../parts/toast.tsx";

export async function signOut(): Promise<void> {
  try {
    await api.post("/api/auth/signout", {});
  } catch (error) {
    return showError(messageOf(error));
  }
  tellTabs({ type: "signed-out" });
  location.assign("/login");
}
