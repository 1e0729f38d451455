// Reads an agent's log: the newest lines, older ones as they are asked for, and new ones as they are written.

import { useInfiniteQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { api, path, withQuery } from "../../../api/api.ts";
import type { LogLine } from "./log-line.tsx";

const PAGE = 100;
/** New lines that are kept while the page is open; all are in the log itself. */
const MAX_NEW = 5_000;
const FIRST_LINE_ID = "00000000-0000-0000-0000-000000000000";
const RETRY_MS = 15_000;

export interface Log {
  /** Newest first. */
  lines: readonly LogLine[];
  /** All of this level. */
  total: number | undefined;
  error: Error | null;
  isPending: boolean;
  isLive: boolean;
  hasOlder: boolean;
  isLoadingOlder: boolean;
  loadOlder: () => void;
  retry: () => void;
}

/** `level`: "" for all. */
export function useLog(agentId: string, level: string): Log {
  const url = path`/api/agents/${agentId}/logs`;
  const filter = level === "" ? {} : { level };
  const query = useInfiniteQuery({
    queryKey: ["logs", agentId, level],
    queryFn: ({ pageParam }) =>
      api.get<{ logs: LogLine[]; total: number }>(url, {
        ...filter,
        limit: PAGE,
        ...(pageParam && { before: pageParam }),
      }),
    initialPageParam: "",
    getNextPageParam: ({ logs }) => (logs.length === PAGE ? logs.at(-1)?.id : undefined),
    // The stream brings what is new.
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  });
  const first = query.data?.pages[0];
  const { added, isLive } = useNewLines(first && withQuery(url, { follow: 1, ...filter }), first?.logs[0]?.id);
  const { hasNextPage, isFetchingNextPage } = query;
  return {
    lines: [...added, ...(query.data?.pages.flatMap(({ logs }) => logs) ?? [])],
    total: first && first.total + added.length,
    error: query.error,
    isPending: query.isPending,
    isLive,
    hasOlder: hasNextPage,
    isLoadingOlder: isFetchingNextPage,
    loadOlder: () => {
      if (hasNextPage && !isFetchingNextPage) void query.fetchNextPage();
    },
    retry: () => void query.refetch(),
  };
}

/** The lines that are written after the line `after`, newest first. The browser resumes a lost connection by itself. */
function useNewLines(url: string | undefined, after: string | undefined): { added: LogLine[]; isLive: boolean } {
  const [added, setAdded] = useState<LogLine[]>([]);
  const [isLive, setLive] = useState(false);
  useEffect(() => {
    if (url === undefined) return;
    let last = after ?? FIRST_LINE_ID;
    let source: EventSource | undefined;
    let retry: ReturnType<typeof setTimeout> | undefined;
    const open = () => {
      const opened = new EventSource(`${url}&lastEventId=${last}`);
      source = opened;
      opened.onopen = () => setLive(true);
      opened.onerror = () => {
        setLive(false);
        // Refused for good, such as too many windows: tried again later.
        if (opened.readyState === EventSource.CLOSED) retry = setTimeout(open, RETRY_MS);
      };
      opened.addEventListener("log", ({ data }: MessageEvent<string>) => {
        const line = JSON.parse(data) as LogLine;
        last = line.id;
        setAdded((before) => [line, ...before].slice(0, MAX_NEW));
      });
    };
    open();
    return () => {
      clearTimeout(retry);
      source?.close();
      setAdded([]);
      setLive(false);
    };
  }, [url, after]);
  return { added, isLive };
}
