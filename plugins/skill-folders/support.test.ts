// Helpers for tests of skills as folders: what the API returns, and how an owner uploads one.
import type { Client } from "../../tests/support/client.ts";

export interface SkillBody {
  id: string;
  name: string;
  description: string;
  source: string;
  version: string;
  trusted: boolean;
  allowedTools: string[];
  warnings: { code: string; path: string }[];
  files: { path: string; size: number; isText: boolean; isScript: boolean }[];
  versions: { version: number; label: string | null; address: string | null; trusted: boolean; size: number }[];
}
interface Refused {
  code: string;
  issues: { code: string; path: string }[];
}

/** Uploads a zip or a SKILL.md in a form. */
export async function upload(origin: string, { cookie }: Pick<Client, "cookie">, bytes: Uint8Array<ArrayBuffer>) {
  const body = new FormData();
  body.set("file", new File([bytes], "skill.zip", { type: "application/zip" }));
  const response = await fetch(`${origin}/api/skills`, { method: "POST", body, headers: { cookie } });
  return { status: response.status, body: (await response.json()) as SkillBody & Refused };
}
