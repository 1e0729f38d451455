// What callers are told while a cell is served nowhere, or has ended in the middle.
import { AppError } from "../kernel/errors.ts";

/** Its process starts. */
export const cellAway = () =>
  new AppError(503, "CELL_AWAY", "A part of this service is starting. Try again in a few seconds.", { retryAfter: 3 });

/** Another node takes it over. */
export const cellMoved = (cause?: unknown) =>
  new AppError(
    503,
    "CELL_MOVED",
    "This is moving to another machine. Try again in a few seconds.",
    { retryAfter: 3 },
    { cause },
  );

/** It ended in the middle: whether the request was done is not known. */
export const brokenRelay = () =>
  new AppError(
    502,
    "RELAY_BROKEN",
    "The part of this service that handles this ended in the middle of the request. Whether it was done is not known; look, then try again.",
  );

/** Whether the cell is served nowhere. */
export const isAway = (error: unknown) =>
  error instanceof AppError && (error.code === "CELL_MOVED" || error.code === "CELL_AWAY");
