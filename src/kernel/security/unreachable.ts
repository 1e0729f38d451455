// Says why an address can't be reached, as far as its owner can do something about it.
import { AppError } from "../errors.ts";

const UNKNOWN_AUTHORITY = "The address can't be reached: its certificate is signed by no authority that is known here.";

/** By the codes of failed TLS handshakes. Other failures say too much about the network of this machine. */
const REASONS: Record<string, string> = {
  CERT_HAS_EXPIRED: "The address can't be reached: its certificate has expired.",
  CERT_NOT_YET_VALID: "The address can't be reached: its certificate is not valid yet.",
  ERR_TLS_CERT_ALTNAME_INVALID: "The address can't be reached: its certificate is for another name.",
  DEPTH_ZERO_SELF_SIGNED_CERT: UNKNOWN_AUTHORITY,
  SELF_SIGNED_CERT_IN_CHAIN: UNKNOWN_AUTHORITY,
  UNABLE_TO_GET_ISSUER_CERT: UNKNOWN_AUTHORITY,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNKNOWN_AUTHORITY,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    "The address can't be reached: its certificate comes without those of its authority, or the authority is not known here.",
};

export function throwUnreachable(cause: unknown): never {
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : "";
  const message = REASONS[code] ?? "The address can't be reached.";
  throw new AppError(502, "UPSTREAM_UNREACHABLE", message, {}, { cause });
}
