// Loaded before the service's own code, from its source: writes down which statements run while a request is answered. Each request
// with the header `x-operation` is one line of JSON in the file BERTH_STATEMENT_LOG, a `LoggedRequest`.
import { AsyncLocalStorage } from "node:async_hooks";
import { appendFileSync } from "node:fs";
import { watchStatements } from "./watched-statements.ts";

export interface LoggedRequest {
  operation: string;
  /** 101 for a WebSocket. */
  status: number;
  statements: string[];
  /** On a thread of their own. */
  elsewhere: string[];
}

const { BERTH_STATEMENT_LOG: file } = process.env;
if (file) {
  /** The statements of the request that is being answered. */
  const ran = new AsyncLocalStorage<Pick<LoggedRequest, "statements" | "elsewhere">>();
  watchStatements((sql, where) => ran.getStore()?.[where === "main" ? "statements" : "elsewhere"].push(sql));

  const { serve } = Bun;
  type Options = Parameters<typeof serve>[0] & {
    fetch(request: Request, server: unknown): Promise<Response | undefined>;
  };
  Bun.serve = ((options: Options) =>
    serve({
      ...options,
      fetch(request: Request, server: unknown) {
        const operation = request.headers.get("x-operation");
        if (!operation) return options.fetch(request, server);
        const found: Pick<LoggedRequest, "statements" | "elsewhere"> = { statements: [], elsewhere: [] };
        return ran.run(found, async () => {
          const response = await options.fetch(request, server);
          const line: LoggedRequest = { operation, status: response?.status ?? 101, ...found };
          appendFileSync(file, `${JSON.stringify(line)}\n`);
          return response;
        });
      },
    } as Options)) as typeof serve;
}
