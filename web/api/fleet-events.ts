// Follows the events of all accounts while a page of admins is open. They are many, so no other page gets them.

import { type QueryKey, useQueryClient } from "@tanstack/react-query";
import { useEffect, useEffectEvent } from "react";
import type { EventType } from "../../plugins/webhooks/event-types.ts";
import { soon } from "./soon.ts";
import { keepStream } from "./stream.ts";

/** Reads these queries again when an event of any account comes, at most once a second; not those that show several pages. */
export function useFleetLive(queryKey: QueryKey, types: readonly EventType[]): void {
  const client = useQueryClient();
  const refresh = useEffectEvent(() => {
    void client.invalidateQueries({ queryKey, predicate: ({ state: { data } }) => !hasSeveralPages(data) });
  });
  const wanted = types.join(",");
  useEffect(() => {
    const { close } = keepStream({
      url: `/api/events?all=1&types=${wanted}`,
      types: wanted.split(","),
      receive: () => soon(refresh),
    });
    return close;
  }, [wanted]);
}

/** Reading all pages of a long list again would cost more than it tells. */
const hasSeveralPages = (data: unknown): boolean =>
  typeof data === "object" && data !== null && "pages" in data && Array.isArray(data.pages) && data.pages.length > 1;
