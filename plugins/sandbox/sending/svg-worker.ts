// The thread that draws one SVG as a PNG. Neither text nor pictures are fetched: the library reads no addresses and no files.
import { initWasm, Resvg } from "@resvg/resvg-wasm";
import library from "../../../node_modules/@resvg/resvg-wasm/index_bg.wasm" with { type: "file" };
import regular from "../../../node_modules/dejavu-fonts-ttf/ttf/DejaVuSans.ttf" with { type: "file" };
import bold from "../../../node_modules/dejavu-fonts-ttf/ttf/DejaVuSans-Bold.ttf" with { type: "file" };
import type { Drawing, DrawRequest } from "./svg-picture.ts";

declare const self: Worker;

const FONT = "DejaVu Sans";

self.onmessage = async ({ data }: MessageEvent<DrawRequest>) => {
  const drawing = await draw(data);
  self.postMessage(drawing, "png" in drawing ? [drawing.png.buffer] : []);
};

async function draw({ svg, maxSide, minWidth }: DrawRequest): Promise<Drawing> {
  try {
    const [wasm, ...fontBuffers] = await Promise.all([library, regular, bold].map((path) => Bun.file(path).bytes()));
    await initWasm(wasm ?? new Uint8Array());
    const font = {
      fontBuffers,
      defaultFontFamily: FONT,
      sansSerifFamily: FONT,
      serifFamily: FONT,
      monospaceFamily: FONT,
    };
    const { width, height } = new Resvg(svg, { font });
    if (!(width > 0 && height > 0)) return { problem: "The SVG has no size: give it width and height." };
    // Small charts are drawn larger, so that they are sharp on a phone.
    const scale = Math.min(Math.max(1, minWidth / width), maxSide / Math.max(width, height));
    const resvg = new Resvg(svg, {
      font,
      background: "white",
      fitTo: { mode: "width", value: Math.max(1, Math.round(width * scale)) },
    });
    return { png: new Uint8Array(resvg.render().asPng()) };
  } catch (error) {
    return {
      problem: `The SVG can't be drawn: ${String(error instanceof Error ? error.message : error).slice(0, 200)}`,
    };
  }
}
