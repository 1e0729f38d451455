// Tests the type under which an uploaded file is stored.
import { describe, expect, test } from "bun:test";
import { storedType } from "./file-type.ts";

const text = Buffer.from("at,metres\n6:30,4.1\n");
const pdf = Buffer.from("%PDF-1.7\n\xe2\xe3", "latin1");
const binary = Buffer.from([0, 159, 146, 150, 0]);

test("a claimed type is kept, except for an image, which shows itself", () => {
  expect(storedType("text/csv; charset=utf-8", text, "tides.txt")).toBe("text/csv");
  expect(storedType("image/png", binary, "tides.png")).toBe("application/octet-stream");
  expect(storedType("text/plain", Buffer.from("GIF89a…"), "x")).toBe("image/gif");
});

describe("without a type of its own, as curl sends a body", () => {
  const claims = [null, "", "application/octet-stream", "application/x-www-form-urlencoded"];

  test.each(claims)("%p: the name decides, then the bytes", (claimed) => {
    expect(storedType(claimed, text, "tides.csv")).toBe("text/csv");
    expect(storedType(claimed, binary, "tides.mp3")).toBe("audio/mpeg");
    expect(storedType(claimed, pdf, "file")).toBe("application/pdf");
    expect(storedType(claimed, text, "file")).toBe("text/plain");
    expect(storedType(claimed, binary, "file")).toBe("application/octet-stream");
    expect(storedType(claimed, binary, "tides.png")).toBe("application/octet-stream");
  });

  test("a page or a script is plain text, which a browser runs nowhere", () => {
    for (const name of ["page.html", "page.svg", "page.js", "page.xhtml"])
      expect(storedType(null, text, name)).toBe("text/plain");
  });
});
