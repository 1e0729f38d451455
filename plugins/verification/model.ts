// The request and response schemas of verification, and the API documentation of its routes.
import { type Static, t } from "elysia";
import type { Agent } from "../agents/index.ts";
import type { Challenge } from "./challenges.ts";
import { VERIFICATION_TYPES } from "./schema.ts";

const nullable = <Schema extends Parameters<typeof t.Union>[0][number]>(schema: Schema) => t.Union([schema, t.Null()]);
const time = t.String({ description: "ISO 8601" });
const yes = t.Literal(true);

const verificationType = t.Union(
  VERIFICATION_TYPES.map((type) => t.Literal(type)),
  { error: `The type is one of: ${VERIFICATION_TYPES.join(", ")}.` },
);

/** May be left out or null for types that do not use it. */
const optionalText = (description: string, rule: { pattern?: string; maxLength?: number; error: string }) =>
  t.Optional(nullable(t.String({ description, ...rule })));

export const challengeBody = t.Object({
  verificationType,
  register: t.Optional(
    t.Boolean({
      description: "`webauthn`: register another authenticator in addition to those that the caller has",
      error: "`register` is true or false.",
    }),
  ),
});

export const claimBody = t.Object({
  verificationType,
  attestationUid: optionalText("For `attestation`: its UID", {
    pattern: "^0x[0-9a-fA-F]{64}$",
    error: "An attestation's UID is 0x and 64 hex digits.",
  }),
  signature: optionalText(
    "For `exchange`, `name_service`, and an `attestation` of a wallet that the caller has not signed in with: the signature of the challenge's message, by a key (EIP-191) or a smart wallet (ERC-1271, ERC-6492), as 0x and hex digits. For `webauthn`: the JSON of the authenticator's response",
    { maxLength: 100_000, error: "The signature is text of at most 100,000 characters." },
  ),
  walletAddress: optionalText("For `name_service`, and for smart wallets: the wallet that signed", {
    pattern: "^0x[0-9a-fA-F]{40}$",
    error: "A wallet's address is 0x and 40 hex digits.",
  }),
});

export const challengeResponse = t.Object({
  message: t.String({ description: "The text that the wallet signs, unchanged" }),
  nonce: t.String(),
  expiresAt: time,
  options: t.Optional(
    t.Any({ description: "`webauthn`: for `navigator.credentials.create` or `.get`, in their JSON form" }),
  ),
});

export const verificationRecord = t.Object({
  verified: t.Boolean(),
  verificationType: nullable(t.String()),
  attestationUid: nullable(t.String()),
  verifierAddress: nullable(t.String({ description: "The wallet whose control was proven" })),
  verifiedAt: nullable(time),
  metadata: nullable(t.Record(t.String(), t.Any(), { description: "Further details of the proof" })),
});

export const verifyResponse = t.Object({
  success: yes,
  verified: yes,
  verificationType,
  attestationUid: nullable(t.String()),
  verifiedAt: time,
});

export const removedResponse = t.Object({ success: yes, verified: t.Literal(false) });

export const toChallenge = ({ message, nonce, expiresAt }: Challenge, options: object | undefined) => ({
  message,
  nonce,
  expiresAt: new Date(expiresAt).toISOString(),
  ...(options && { options }),
});

export const toRecord = (agent: Agent): Static<typeof verificationRecord> => ({
  verified: agent.verified,
  verificationType: agent.verificationType,
  attestationUid: agent.attestationUid,
  verifierAddress: agent.verifierAddress,
  verifiedAt: agent.verifiedAt === null ? null : new Date(agent.verifiedAt).toISOString(),
  metadata: agent.verificationMetadata === null ? null : JSON.parse(agent.verificationMetadata),
});

const tags = ["Verification"];
/** Route documentation, shared by the web and the backend surface. */
export const DOCS = {
  read: {
    tags,
    summary: "Get the verification record of an agent",
    description: "Who stands behind the agent, by which kind of proof, and since when.",
  },
  challenge: {
    tags,
    summary: "Request a challenge to sign for a verification",
    operationId: "createVerificationChallenge",
    description:
      "The challenge is valid for this agent, its owner and this type, for ten minutes and for one verification; a new one replaces it. For `webauthn`, `options` are for a registration while the caller has no authenticator yet, else for an assertion.",
  },
  verify: {
    tags,
    summary: "Verify who stands behind an agent",
    description: `Checks a claim; claims about a wallet are checked on chain 8453. An \`attestation\` must exist, be neither revoked nor expired, have an allowed schema and attester, and be of a wallet that the caller has signed in with or proves by a signature in this request. \`exchange\` requires such an attestation by the exchange for the wallet that signed, \`name_service\` a name of that wallet that resolves back to it, and \`webauthn\` an authenticator of the caller. A claim that fails a check is 400 \`VERIFICATION_FAILED\` with the reason. If the chain can't be read, the answer is 500 and nothing changes. A verification states what was true at \`verifiedAt\`; it ends when it is removed, or when the agent gets another owner.`,
  },
  remove: {
    tags,
    summary: "Remove an agent's verification; the agent's status does not change",
    description: "The record is deleted; an attestation on a chain stays there.",
    operationId: "deleteVerification",
  },
};

export const VERIFY_ERRORS = { 400: "VERIFICATION_FAILED", 500: "CHAIN_UNAVAILABLE" };
