// Draws a QR code as one path, always dark on white, as cameras want it.

import encodeQr from "qr";

export function QrCode({ value, label, size = 160 }: { value: string; label: string; size?: number }) {
  const matrix = encodeQr(value, "raw", { border: 2 });
  const path = matrix.flatMap((row, y) => row.map((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : ""))).join("");
  return (
    <svg
      viewBox={`0 0 ${matrix.length} ${matrix.length}`}
      width={size}
      height={size}
      role="img"
      aria-label={label}
      className="rounded-round bg-white"
      shapeRendering="crispEdges"
    >
      <path d={path} fill="#000" />
    </svg>
  );
}
