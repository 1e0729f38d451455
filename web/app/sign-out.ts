// Ends the session of this browser.

import { messageOf } from "../parts/error-note.tsx";
import { showError } from "../parts/toast.tsx";
import { api } from "./api.ts";
import { tellTabs } from "./tabs.ts";

export async function signOut(): Promise<void> {
  try {
    await api.post("/api/auth/signout", {});
  } catch (error) {
    return showError(messageOf(error));
  }
  tellTabs({ type: "signed-out" });
  location.assign("/login");
}
