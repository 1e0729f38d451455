// Calls functions of the system's C library for what Bun has no API for. Loading takes a millisecond.
import type { FFIFunction, Library } from "bun:ffi";

const NAMES = [
  "libc.so.6",
  "libc.so",
  `libc.musl-${process.arch === "arm64" ? "aarch64" : "x86_64"}.so.1`,
  "libSystem.B.dylib",
];

/** Returns the functions with these signatures; undefined if no C library is found by name. */
export async function openCLibrary<Functions extends Record<string, FFIFunction>>(
  functions: Functions,
): Promise<Library<Functions>["symbols"] | undefined> {
  const { dlopen } = await import("bun:ffi");
  for (const name of NAMES) {
    try {
      return dlopen(name, functions).symbols;
    } catch {
      // The name is that of another system.
    }
  }
  return undefined;
}
