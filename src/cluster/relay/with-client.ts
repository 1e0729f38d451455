// Shows a surface the address of the client that a request came from, where another process has taken the request.
import type { WebServer } from "../../kernel/http/web-sockets.ts";

/**
 * The server as a surface sees it that serves a request for another process.
 * @param of the request that the server knows, if it is another object
 */
export function withClient(server: WebServer, address: string, of?: Request): WebServer {
  return new Proxy(server, {
    get(target, name) {
      if (name === "requestIP") return () => ({ address, port: 0, family: address.includes(":") ? "IPv6" : "IPv4" });
      // A request that was read to be sent on is another object than the one that the server knows.
      if (name === "timeout" && of) return (_: Request, seconds: number) => target.timeout(of, seconds);
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}
