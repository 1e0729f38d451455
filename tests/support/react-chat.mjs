// Runs the AI SDK's React chat in tests. In JavaScript, since React's types would declare a browser for the whole project.
import { Chat, useChat } from "@ai-sdk/react";
import { Chat as Chat6 } from "@ai-sdk/react-3";
import { DefaultChatTransport } from "ai";
import { DefaultChatTransport as Transport6 } from "ai-6";
import { parseHTML } from "linkedom";
import { createElement } from "react";

/** The chats of the AI SDK's versions, which the same page could have. */
export const SDKS = { 6: { Chat: Chat6, Transport: Transport6 }, 7: { Chat, Transport: DefaultChatTransport } };

/** Renders a component that calls `useChat` with these options; returns the hook's latest result, and its unmount. */
export const renderUseChat = (options) => renderHook(() => useChat(options));

/** Renders a component that calls a hook which returns what `useChat` does. */
export async function renderHook(useHook) {
  const { document, window } = parseHTML("<!doctype html><html><body><div id=root></div></body></html>");
  Object.assign(globalThis, { document, window });
  const { createRoot } = await import("react-dom/client");
  const root = createRoot(document.getElementById("root"));
  let current;
  function Page() {
    current = useHook();
    return createElement("main", null, current.status);
  }
  root.render(createElement(Page));
  return {
    current: () => current,
    shown: () => document.body.textContent,
    /** Other tests of the process must not take it for a browser; React still looks for the window in its last tasks. */
    async unmount() {
      root.unmount();
      for (let task = 0; task < 20; task++) await new Promise((resolve) => setImmediate(resolve));
      delete globalThis.document;
      delete globalThis.window;
    },
  };
}
