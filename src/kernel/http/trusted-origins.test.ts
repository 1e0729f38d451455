// Tests that the log names origins whose pages are refused, each once, and not more than a number of them.
import { expect, test } from "bun:test";
import { createLog } from "../telemetry/log.ts";
import { createRefusedOrigins } from "./trusted-origins.ts";

test("the first refusal of an origin is a line in the log, also among very many", () => {
  const lines: string[] = [];
  const noteRefused = createRefusedOrigins(
    createLog({ level: "info", format: "json", write: (line) => lines.push(line) }),
  );
  noteRefused("https://shop.example");
  noteRefused("https://shop.example");
  expect(lines).toHaveLength(1);
  expect(JSON.parse(lines[0] ?? "")).toMatchObject({
    level: "info",
    message: expect.stringContaining("CORS_ORIGINS"),
    origin: "https://shop.example",
  });
  for (let n = 0; n < 500; n++) noteRefused(`https://${n}.example/${"x".repeat(5_000)}`);
  expect(lines).toHaveLength(100);
  expect(Math.max(...lines.map(({ length }) => length))).toBeLessThan(600);
});
