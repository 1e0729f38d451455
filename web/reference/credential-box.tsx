// Shows with which credential requests are sent: the session of this browser, or a key that is pasted here.
import { useEffect, useState } from "react";
import type { ApiDocument } from "./api-document.ts";
import { onKeyChange, pastedKey, pasteKey } from "./credential.ts";

/** What is known of the session; undefined until it is known, and where the API does not tell. */
interface Session {
  user: { email?: string | null; name?: string } | null;
}

export function CredentialBox({ api }: { api: ApiDocument }) {
  const [key, setKey] = useState(pastedKey);
  const [session, setSession] = useState<Session>();
  useEffect(() => onKeyChange(() => setKey(pastedKey())), []);
  const tellsSession = api.paths["/api/auth/session"]?.get !== undefined;
  useEffect(() => {
    if (!tellsSession) return;
    void fetch("/api/auth/session", { credentials: "same-origin" })
      .then((response) => response.json())
      .then((body: Session | null) => setSession({ user: body?.user ?? null }))
      .catch(() => undefined);
  }, [tellsSession]);
  return (
    <div className="credential">
      <label htmlFor="key">API key</label>
      <input
        id="key"
        type="password"
        autoComplete="off"
        placeholder="Paste a key"
        value={key}
        onInput={({ currentTarget }) => pasteKey(currentTarget.value)}
      />
      <span role="status">{describe(key, session)}</span>
      {key === "" && session?.user === null && <a href="/login?next=%2Fswagger">Sign in</a>}
    </div>
  );
}

function describe(key: string, session: Session | undefined): string {
  if (key !== "") return "Requests are sent with this key";
  if (!session) return "";
  if (!session.user) return "Not signed in";
  return `Signed in as ${session.user.email ?? session.user.name ?? "you"}`;
}
