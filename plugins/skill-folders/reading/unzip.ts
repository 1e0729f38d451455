// Unpacks the zip of a skill within its limits.
import { type UnpackedFile, UnusableZip, unzip as unzipWithin } from "../../../src/kernel/util/zip/unzip.ts";
import { LIMITS, problem, UnusableFolder } from "./problems.ts";

export type { UnpackedFile };

/** @throws UnusableFolder */
export function unzip(zip: Uint8Array): UnpackedFile[] {
  try {
    return unzipWithin(zip, LIMITS);
  } catch (error) {
    if (error instanceof UnusableZip) throw new UnusableFolder([problem(error.fault, error.path)]);
    throw error;
  }
}
