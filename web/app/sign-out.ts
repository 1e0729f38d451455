// Ends the session of this browser.

import { api } from "./api.ts";

export async function signOut(): Promise<void> {
  await api.post("/api/auth/signout", {});
  location.assign("/login");
}
