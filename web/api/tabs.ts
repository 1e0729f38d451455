// Tells the other tabs of this browser what happened in this one: a change, a sign-in, a sign-out.

import { useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { soon } from "./soon.ts";

/** `user` is the id of the account that signed in. */
export type TabMessage = { type: "changed" | "signed-out" } | { type: "signed-in"; user: string };

const channel = new BroadcastChannel("berth-tabs");

export const tellTabs = (message: TabMessage): void => channel.postMessage(message);

/** Calls `handle`, which must stay the same function, for messages of other tabs. */
export function onTabMessage(handle: (message: TabMessage) => void): () => void {
  const receive = ({ data }: MessageEvent<TabMessage>) => handle(data);
  channel.addEventListener("message", receive);
  return () => channel.removeEventListener("message", receive);
}

/** Reads what this tab shows again after another tab has changed something; a hidden tab when it is looked at. */
export function useChangesOfOtherTabs(): void {
  const queries = useQueryClient();
  useEffect(() => {
    const refresh = () =>
      void queries.invalidateQueries({
        refetchType: document.visibilityState === "visible" ? "active" : "none",
        predicate: ({ state, observers }) =>
          // What never changes stays, and so do long lists: they are kept up to date by events.
          !observers.some(({ options }) => options.staleTime === Number.POSITIVE_INFINITY) && !isLong(state.data),
      });
    return onTabMessage(({ type }) => {
      if (type === "changed") soon(refresh);
    });
  }, [queries]);
}

/** Whether more than the first page of a list was loaded. */
const isLong = (data: unknown): boolean =>
  typeof data === "object" && data !== null && "pages" in data && Array.isArray(data.pages) && data.pages.length > 1;
