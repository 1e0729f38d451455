// Starts the console: language and theme, the queries' cache, the events, then the page of the address.

import "./api/load-code.ts";
import { loaders } from "berth:texts";
import { CSPProvider } from "@base-ui/react/csp-provider";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { setErrorTexts } from "./api/api.ts";
import { watchConnection } from "./api/connection.ts";
import { ApiError } from "./api/errors.ts";
import { catchUpAfterLoss, startEvents } from "./api/events.ts";
import { App } from "./app/app.tsx";
import { ErrorPage } from "./parts/error-note.tsx";
import { language, loadTexts, setTextLoaders } from "./viewer/language.ts";
import { applyTheme } from "./viewer/theme.ts";

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

const root = createRoot(document.getElementById("root") ?? document.body);

async function start(): Promise<void> {
  try {
    await Promise.all([loadTexts("shell"), ownLoaders?.errors?.().then(({ texts }) => setErrorTexts(texts))]);
  } catch (error) {
    root.render(<ErrorPage error={error} onRetry={() => void start()} />);
    return;
  }
  root.render(
    <StrictMode>
      <CSPProvider disableStyleElements>
        <QueryClientProvider client={queries}>
          <App />
        </QueryClientProvider>
      </CSPProvider>
    </StrictMode>,
  );
  catchUpAfterLoss(queries);
  watchConnection();
  startEvents();
}

void start();
