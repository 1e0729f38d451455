// An account with an API key, as clients of /v1 use it.
import { createClient, type Target } from "./client.ts";

/** Signs an account up on the web and returns a key of it, with the scope `chat` alone. */
export async function startApiUser(target: Target): Promise<string> {
  const client = createClient(target);
  await client.join();
  const { body } = await client.post<{ key: string }>("/api/keys", { name: "clients", scopes: ["chat"] });
  return body.key;
}
