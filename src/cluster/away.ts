// What callers are told while a cell is served nowhere, or has ended in the middle.
import { AppError } from "../kernel/errors.ts";

/** Its process starts. */
export const cellAway = () =>
  new AppError(503, "CELL_AWAY", "A part of this service is starting. Try again in a few seconds.", { retryAfter: 3 });

/** Another node takes it over. What throws it has done nothing. */
export const cellMoved = (cause?: unknown) =>
  new AppError(
    503,
    "CELL_MOVED",
    "This is moving to another machine. Try again in a few seconds.",
    { retryAfter: 3 },
    { cause },
  );

/** It ended in the middle: whether the request was done is not known. */
export const brokenRelay = (cause?: unknown) =>
  new AppError(
    502,
    "RELAY_BROKEN",
    "The part of this service that handles this ended in the middle of the request. Whether it was done is not known; look, then try again.",
    {},
    { cause },
  );

/** Whether it, or a cause of it, is the error of a write of a cell that this process has lost. */
export function isOfLostCell(error: unknown): boolean {
  for (let at = error; at instanceof Error; at = at.cause)
    if (at instanceof AppError && (at.code === "CELL_MOVED" || (at.code === "RELAY_BROKEN" && at.cause !== undefined)))
      return true;
  return false;
}

/** Whether the cell is served nowhere. */
export const isAway = (error: unknown) =>
  error instanceof AppError && (error.code === "CELL_MOVED" || error.code === "CELL_AWAY");
