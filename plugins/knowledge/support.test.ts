// Helpers for tests of files: what the API returns, and how an owner sends one.

import type { Client } from "../../tests/support/client.ts";
import { eventually } from "../../tests/support/eventually.ts";

export interface FileBody {
  id: string;
  name: string;
  type: string;
  size: number;
  url: string | null;
  refresh: string | null;
  status: string;
  chunks: number;
  progress: { written: number; expected: number };
  title: string;
  published: string | null;
  error: string | null;
  errorCode: string | null;
  source: string;
  readAt: string | null;
}
export interface ListBody {
  files: FileBody[];
  count: number;
  used: { files: number; bytes: number; chunks: number };
  limits: { files: number; bytes: number; chunks: number };
}
export interface Result {
  fileId: string;
  name: string;
  page: number | null;
  heading: string;
  text: string;
  score: number;
}

/** What an owner does with the files of one agent. */
export function filesOf(origin: string, owner: Client, agentId: string) {
  const path = `/api/agents/${agentId}/files`;

  async function send(content: string | Uint8Array<ArrayBuffer>, name: string, type = "") {
    const body = new FormData();
    body.set("file", new File([content], name, { type }));
    const response = await fetch(`${origin}${path}`, { method: "POST", body, headers: { cookie: owner.cookie } });
    return { status: response.status, body: (await response.json()) as { file: FileBody; code: string } };
  }
  const one = async (id: string) => (await owner.get<{ file: FileBody }>(`${path}/${id}`)).body.file;
  /** The file once its reading has ended. */
  const read = (id: string) =>
    eventually(
      async () => {
        const file = await one(id);
        return file.status === "ready" || file.status === "failed" ? file : undefined;
      },
      { timeoutMs: 30_000, what: "the file is read" },
    );
  return {
    path,
    send,
    one,
    read,
    list: async () => (await owner.get<ListBody>(path)).body,
    /** Sends a file and waits until it is read. */
    async learn(content: string | Uint8Array<ArrayBuffer>, name: string, type?: string): Promise<FileBody> {
      const { status, body } = await send(content, name, type);
      if (status !== 202) throw new Error(`The file was refused: ${status} ${body.code}`);
      return read(body.file.id);
    },
    async search(query: string, limit?: number): Promise<Result[]> {
      const given = new URLSearchParams({ query, ...(limit !== undefined && { limit: String(limit) }) });
      return (await owner.get<{ results: Result[] }>(`/api/agents/${agentId}/knowledge?${given}`)).body.results;
    },
  };
}
