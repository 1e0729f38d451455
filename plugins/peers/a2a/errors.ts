// Turns errors into those of the A2A protocol: refusals in words, and of faults of our own nothing but that there was one.
import { A2AError, JsonRpcTransportError } from "@a2a-js/sdk/errors";
import { AppError } from "../../../src/kernel/errors.ts";
import type { Log } from "../../../src/kernel/telemetry/log.ts";

/** The first of the codes that JSON-RPC leaves to servers. */
const REFUSED = -32_000;
const INTERNAL = -32_603;

export function toA2AError(error: unknown, log: Log): Error {
  if (error instanceof A2AError) return error;
  if (error instanceof AppError && error.status < 500) return transportError(REFUSED, error.message);
  log.warn("a request of another agent failed", { error });
  return transportError(INTERNAL, error instanceof AppError ? error.message : "Something went wrong on our side.");
}

const transportError = (code: number, message: string) =>
  new JsonRpcTransportError({ jsonrpc: "2.0", id: null, error: { code, message } });
