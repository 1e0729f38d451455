// Draws SVGs of programs as PNGs, on a thread that ends with the drawing: chat apps show no SVG, and one can take any time.
import { AppError } from "../../../src/kernel/errors.ts";
import { runOnThread } from "../../../src/kernel/util/one-shot-thread.ts";
import { createSemaphore } from "../../../src/kernel/util/semaphore.ts";
import { SECOND } from "../../../src/kernel/util/time.ts";
import { workerPath } from "../../../src/kernel/worker-path.ts";

export interface DrawRequest {
  svg: string;
  /** Pixels. */
  maxSide: number;
  minWidth: number;
}

export type Drawing = { png: Uint8Array<ArrayBuffer> } | { problem: string };

const WORKER = workerPath("plugins/sandbox/sending/svg-worker.ts");
const MAX_SIDE = 2_400;
const MIN_WIDTH = 1_200;
const TIMEOUT_MS = 10 * SECOND;
/** One at a time: a picture takes up to 50 MB. */
const thread = createSemaphore(1);

/** The SVG as a PNG. Rejects with an AppError 422 `DRAWING_FAILED` that says why, or with the signal's reason. */
export const drawSvg = (svg: string, signal: AbortSignal, timeoutMs = TIMEOUT_MS): Promise<Uint8Array<ArrayBuffer>> =>
  thread.run(() => drawNow(svg, signal, timeoutMs), { signal });

async function drawNow(svg: string, signal: AbortSignal, timeoutMs: number): Promise<Uint8Array<ArrayBuffer>> {
  const request: DrawRequest = { svg, maxSide: MAX_SIDE, minWidth: MIN_WIDTH };
  const drawing = await runOnThread<DrawRequest, Drawing>(WORKER, request, {
    signal,
    timeoutMs,
    tooLong: { problem: "Drawing the SVG takes too long. Make it simpler." },
    failed: { problem: "The SVG can't be drawn." },
  });
  if ("problem" in drawing) throw new AppError(422, "DRAWING_FAILED", drawing.problem);
  return drawing.png;
}
