// Reads a QR code from the picture of a page, as the camera of a phone would.

import type { Locator } from "playwright-core";
import decodeQr from "qr/decode.js";

/** What the code says. Throws if there is no readable one in the element's picture. */
export async function scanQr(element: Locator): Promise<string> {
  const png = (await element.screenshot()).toString("base64");
  // Another page decodes the picture: the console's policy allows no pictures from elsewhere.
  const camera = await element.page().context().newPage();
  try {
    const { width, height, pixels } = await camera.evaluate<{
      width: number;
      height: number;
      pixels: number[];
    }>(`(async () => {
      const bytes = Uint8Array.from(atob("${png}"), (char) => char.charCodeAt(0));
      const picture = await createImageBitmap(new Blob([bytes], { type: "image/png" }));
      const canvas = new OffscreenCanvas(picture.width, picture.height).getContext("2d");
      canvas.drawImage(picture, 0, 0);
      const { data } = canvas.getImageData(0, 0, picture.width, picture.height);
      return { width: picture.width, height: picture.height, pixels: [...data] };
    })()`);
    return decodeQr({ width, height, data: Uint8Array.from(pixels) });
  } finally {
    await camera.close();
  }
}
