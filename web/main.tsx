// Starts the console: language and theme, the queries' cache, the events, then the page of the address.

import { loaders } from "berth:texts";
import { CSPProvider } from "@base-ui/react/csp-provider";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { setErrorTexts } from "./app/api.ts";
import { App } from "./app/app.tsx";
import { ApiError } from "./app/errors.ts";
import { catchUpAfterLoss, startEvents } from "./app/events.ts";
import { language, loadTexts, setTextLoaders } from "./app/language.ts";
import { applyTheme } from "./app/theme.ts";

applyTheme();
const ownLoaders = language === "en" ? undefined : loaders[language];
setTextLoaders(ownLoaders);

const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 10_000,
      networkMode: "always",
      // A refusal stays one; an unreachable server and a busy one are tried again.
      retry: (failures, error) => failures < 2 && !(error instanceof ApiError && error.status < 500),
    },
    mutations: { networkMode: "always" },
  },
});

async function start(): Promise<void> {
  await Promise.all([loadTexts("shell"), ownLoaders?.errors?.().then(({ texts }) => setErrorTexts(texts))]);
  const root = document.getElementById("root");
  if (!root) throw new Error("The page has no root element.");
  createRoot(root).render(
    <StrictMode>
      <CSPProvider disableStyleElements>
        <QueryClientProvider client={queries}>
          <App />
        </QueryClientProvider>
      </CSPProvider>
    </StrictMode>,
  );
  catchUpAfterLoss(queries);
  startEvents();
}

void start();
