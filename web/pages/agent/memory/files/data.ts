// The files that an agent knows, as the API has them, and the writes that change the list.

import { type InfiniteData, useInfiniteQuery, useQuery, useQueryClient } from "@tanstack/react-query";
import { api, path } from "../../../../api/api.ts";
import { type Text, text } from "../../../../viewer/language.ts";

export type Refresh = "hour" | "day" | "week" | null;

/** An item of `GET /api/agents/:id/files`. */
export interface KnownFile {
  id: string;
  name: string;
  size: number;
  url: string | null;
  refresh: Refresh;
  status: "queued" | "indexing" | "ready" | "failed";
  chunks: number;
  progress: { written: number; expected: number };
  cut: boolean;
  error: string | null;
  errorCode: string | null;
  source: "owner" | "agent";
  createdAt: string;
  readAt: string | null;
}

interface Amounts {
  files: number;
  bytes: number;
  chunks: number;
}
export interface FilePage {
  files: KnownFile[];
  used: Amounts;
  limits: Amounts;
}

/** A result of `GET /api/agents/:id/knowledge`. */
export interface Passage {
  fileId: string;
  name: string;
  page: number | null;
  heading: string;
  text: string;
}

const PAGE = 50;
/** How often files are asked for that are being read: events tell of the larger steps only. */
const BUSY_MS = 1_500;
export const isBusy = ({ status }: KnownFile) => status === "queued" || status === "indexing";

export const filesKey = (agentId: string) => ["agent", agentId, "files"] as const;

export function useFiles(agentId: string) {
  return useInfiniteQuery({
    queryKey: filesKey(agentId),
    queryFn: ({ pageParam }) =>
      api.get<FilePage>(path`/api/agents/${agentId}/files`, { limit: PAGE, offset: pageParam || undefined }),
    initialPageParam: 0,
    getNextPageParam: ({ files }, _pages, offset) => (files.length === PAGE ? offset + PAGE : undefined),
    refetchInterval: ({ state }) => (state.data?.pages.some(({ files }) => files.some(isBusy)) ? BUSY_MS : false),
  });
}

export const passagesKey = (agentId: string) => ["agent", agentId, "knowledge"];

export function usePassages(agentId: string, query: string) {
  return useQuery({
    queryKey: [...passagesKey(agentId), query],
    queryFn: () => api.get<{ results: Passage[] }>(path`/api/agents/${agentId}/knowledge`, { query }),
    enabled: query.trim() !== "",
    placeholderData: (before) => before,
  });
}

/** Hides a file from the list; returns the function that shows it again. */
export function useHiddenFile(agentId: string) {
  const client = useQueryClient();
  const queryKey = filesKey(agentId);
  return (id: string): (() => void) => {
    const before = client.getQueryData<InfiniteData<FilePage>>(queryKey);
    client.setQueryData<InfiniteData<FilePage>>(
      queryKey,
      (data) =>
        data && {
          ...data,
          pages: data.pages.map((page) => ({ ...page, files: page.files.filter((file) => file.id !== id) })),
        },
    );
    return () => {
      client.setQueryData(queryKey, before);
      void client.invalidateQueries({ queryKey });
    };
  };
}

export const REFRESHES: readonly { value: NonNullable<Refresh> | ""; label: Text }[] = [
  { value: "", label: text("Once") },
  { value: "hour", label: text("Every hour") },
  { value: "day", label: text("Every day") },
  { value: "week", label: text("Every week") },
];

export const toRefresh = (value: string): Refresh =>
  value === "hour" || value === "day" || value === "week" ? value : null;

/** Why a file could not be read, and what to do; for other codes the API's own words are shown. */
export const PROBLEMS: Readonly<Record<string, Text>> = {
  DOCUMENT_EMPTY: text("It has no text. If it is a scan, run text recognition (OCR) over it first."),
  DOCUMENT_ENCRYPTED: text("It is protected by a password. Save it without one and send it again."),
  DOCUMENT_BROKEN: text("It is damaged. Save it again and send it once more."),
  DOCUMENT_TOO_LARGE: text("It is too large. Split it, or send only the part that matters."),
  DOCUMENT_TOO_COMPLEX: text(
    "Reading it takes too much time or memory. Save it in a simpler form, such as plain text.",
  ),
  DOCUMENT_UNSUPPORTED: text("This kind of file can't be read. Text, Markdown, HTML, PDF, DOCX and CSV can."),
  TOO_MANY_PASSAGES: text("It has more passages than your plan has room for. Delete files, or send a part of it."),
  FILE_QUOTA_EXCEEDED: text("Your plan has no room for a file of this size. Delete files, or choose a larger plan."),
  ADDRESS_REFUSED: text("The address refuses to give it. It must lead to the file without a sign-in."),
  ADDRESS_EMPTY: text("There is nothing at this address."),
  ADDRESS_NOT_ALLOWED: text("The address leads into a private network, which agents may not read."),
  UPSTREAM_UNREACHABLE: text("The address could not be reached. Check it, then read it again."),
  UPSTREAM_TIMEOUT: text("The address took too long to answer. Read it again later."),
  UPSTREAM_TOO_LARGE: text("What is at the address is larger than 20 MB."),
  UPSTREAM_FAILED: text("The address failed several times. Read it again later."),
  FILE_NOT_READ: text("It could not be read. Send it again."),
  FILE_GONE: text("It was not read in time and is gone. Send it again."),
};
