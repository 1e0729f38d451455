// Calls a cell wherever it is: in this process, in another one of this machine, or on the node that owns it.
import { errorBody } from "../../kernel/error-body.ts";
import { AppError } from "../../kernel/errors.ts";
import { brokenRelay, cellAway, isAway, isOfLostCell } from "../away.ts";
import { watchDepartures } from "../relay/departures.ts";
import type { RelayGrants } from "../relay/grants.ts";
import { isMoved, prepareRelay } from "../relay/relay.ts";
import { WAIT_MS } from "../relay/router.ts";
import { type Calls, toError } from "./calls.ts";

export interface CellCallsDeps {
  /** How a cell of this machine is called; undefined for one that is not served here. */
  local(cell: number): Calls["call"] | undefined;
  /** The address of another node that owns the cell. */
  node(cell: number): string | undefined;
  grants: RelayGrants;
  /** Resolves when a cell may have moved, or after `ms`. */
  changed(ms: number): Promise<void>;
}

export interface CellCalls {
  /**
   * Throws what the cell threw, and 503 `CELL_AWAY` if it is served nowhere within `waitMs` (default: 8 s). A call of
   * the directory or for a load may be repeated that a cell did not end. A question is repeated only if the cell was away
   * or was lost while it wrote, and a command never. Arguments and results are JSON.
   */
  call<Result>(cell: number, name: string, args?: unknown, waitMs?: number): Promise<Result>;
  /** Answers a call of another node; undefined if the cell is not on this machine. */
  answer(cell: number, body: string): Promise<Response | undefined>;
}

const PATH = "/cluster/call";
const LOOK_MS = 250;
/** A call that is not even made again if the cell has said that it is away: a part of it may have been done. */
const COMMAND = "command";
interface Answer {
  ok: boolean;
  status: number;
  body: Record<string, unknown>;
}

/** Calls that have the same effect when they are made twice: they are made again if the cell ended in the middle. */
const REPEATABLE = new Set(["find", "reserve", "confirm", "knows", "leastLoaded", "load", "moveAccount", "isClosing"]);
const mayHaveEnded = (error: unknown) => error instanceof AppError && error.code === "RELAY_BROKEN";

export function createCellCalls({ local, node, grants, changed }: CellCallsDeps): CellCalls {
  const departures = watchDepartures({
    placeOf(cell) {
      if (local(cell)) return { kind: "here" };
      const address = node(cell);
      return address === undefined ? undefined : { kind: "node", address };
    },
    changed,
  });

  /** What the call resolves to, in an object; undefined if nothing was done. */
  async function attempt(cell: number, name: string, args: unknown): Promise<{ result: unknown } | undefined> {
    const call = local(cell);
    if (call) {
      try {
        return { result: await call(name, args) };
      } catch (error) {
        if ((isAway(error) || isOfLostCell(error)) && name !== COMMAND) return undefined;
        if (mayHaveEnded(error) && REPEATABLE.has(name)) return undefined;
        throw error;
      }
    }
    const address = node(cell);
    if (address === undefined) return undefined;
    const outcome = await send(cell, address, JSON.stringify({ name, args }));
    if (outcome === "again") return undefined;
    if (outcome === "broken") {
      if (REPEATABLE.has(name)) return undefined;
      throw brokenRelay();
    }
    const { ok, status, body } = outcome;
    if (!ok) throw toError({ status, body });
    return { result: body.result };
  }

  /** A machine that has lost its power does not answer: its call breaks off once another one has the cell. */
  async function send(cell: number, address: string, body: string): Promise<"again" | "broken" | Answer> {
    const departure = departures.watch(cell, address);
    try {
      const grant = { surface: "call", cell, clientAddress: "" } as const;
      const request = new Request(`${address}${PATH}`, { method: "POST", body });
      const outcome = await prepareRelay(request, grants, body).send(address, grant, departure.gone);
      if (!(outcome instanceof Response)) return outcome;
      if (isMoved(outcome)) return "again";
      const { ok, status } = outcome;
      return await outcome.json().then(
        (answer) => ({ ok, status, body: answer as Record<string, unknown> }),
        () => "broken" as const,
      );
    } finally {
      departure.end();
    }
  }

  return {
    async call<Result>(cell: number, name: string, args: unknown, waitMs = WAIT_MS): Promise<Result> {
      const deadline = performance.now() + waitMs;
      for (;;) {
        const done = await attempt(cell, name, args);
        // The handler's own type is that of the caller.
        if (done) return done.result as Result;
        if (performance.now() >= deadline) throw cellAway();
        await changed(LOOK_MS);
      }
    },
    async answer(cell, body) {
      const call = local(cell);
      if (!call) return undefined;
      const { name, args } = JSON.parse(body) as { name: string; args: unknown };
      try {
        return Response.json({ result: await call(name, args) });
      } catch (error) {
        if ((isAway(error) || isOfLostCell(error)) && name !== COMMAND) return undefined;
        const { status, body: thrown } = errorBody(error);
        return Response.json(thrown, { status });
      }
    },
  };
}
