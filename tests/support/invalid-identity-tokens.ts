// Invalid identity tokens, each made from a valid one with a single defect.

import { exportSPKI } from "jose";
import { type Issuer, makeKey, type TokenOptions } from "./jwks.ts";

const encoded = (part: object | string) =>
  Buffer.from(typeof part === "string" ? part : JSON.stringify(part)).toString("base64url");
const now = () => Math.floor(Date.now() / 1000);

/** Makes an invalid token; the key names its only defect. */
export const INVALID_TOKENS: Record<string, (issuer: Issuer) => string | Promise<string>> = {
  "no token": () => "x",
  "three empty parts": () => "..",
  "three parts that are not base64url JSON": () => "an.identity.token",
  "a megabyte": () => "a".repeat(1_000_000),
  "a valid token of a megabyte": (issuer) => issuer.token({ claims: { note: "x".repeat(700_000) } }),
  "five parts": async (issuer) => `${await issuer.token()}.a.b`,
  "a leading space": async (issuer) => ` ${await issuer.token()}`,
  "another issuer": withClaims({ iss: "https://evil.example" }),
  "the issuer with a trailing slash": async (issuer) => issuer.token({ claims: { iss: `${issuer.url}/` } }),
  "a list of issuers": async (issuer) => issuer.token({ claims: { iss: [issuer.url] } }),
  "no issuer": withClaims({ iss: undefined }),
  "another audience": withClaims({ aud: "evil.example" }),
  "an audience with the right prefix": withClaims({ aud: "berth.example.evil.example" }),
  "other audiences": withClaims({ aud: ["a.example", "b.example"] }),
  "no audience": withClaims({ aud: undefined }),
  "an expiry in the past": (issuer) => issuer.token({ claims: { exp: now() - 1 } }),
  "no expiry": withClaims({ exp: undefined }),
  "an expiry that is a string": withClaims({ exp: "9999999999" }),
  "a not-before time in the future": (issuer) => issuer.token({ claims: { nbf: now() + 60 } }),
  "an issue time in the future": (issuer) => issuer.token({ claims: { iat: now() + 600 } }),
  "no issue time": withClaims({ iat: undefined }),
  "no subject": withClaims({ sub: undefined }),
  "an empty subject": withClaims({ sub: "" }),
  "a subject that is a word": withClaims({ sub: "alice" }),
  "a subject of 0": withClaims({ sub: 0 }),
  "a negative subject": withClaims({ sub: -1 }),
  "a subject with a fraction": withClaims({ sub: 1.5 }),
  "a subject too large to be exact": withClaims({ sub: 2 ** 53 }),
  "a subject in hex": withClaims({ sub: "0x3039" }),
  "a subject with a sign": withClaims({ sub: "+12345" }),
  "a subject with a leading zero": withClaims({ sub: "012345" }),
  "a subject with a line break": withClaims({ sub: "12345\n" }),
  "a subject that is a list": withClaims({ sub: ["12345"] }),
  "another key with the same id": async (issuer) => issuer.token({ key: (await makeKey()).privateKey }),
  "an unknown key": async (issuer) => {
    const { kid, privateKey } = await makeKey();
    return issuer.token({ header: { kid }, key: privateKey });
  },
  "a key embedded in the header": async (issuer) => {
    const { privateKey, publicKey } = await makeKey();
    const jwk = await crypto.subtle.exportKey("jwk", publicKey);
    return issuer.token({ header: { kid: undefined, jwk }, key: privateKey });
  },
  "a key of another type with the same id": async (issuer) => {
    const { privateKey } = await makeKey("ES256");
    return issuer.token({ header: { alg: "ES256" }, key: privateKey });
  },
  "an unknown critical extension": async (issuer) => {
    const { kid, alg, privateKey } = issuer.key;
    const [, claims] = (await issuer.token()).split(".");
    const text = `${encoded({ alg, kid, crit: ["urn:x"], "urn:x": 1 })}.${claims}`;
    const signature = await crypto.subtle.sign("RSASSA-PKCS1-v1_5", privateKey, new TextEncoder().encode(text));
    return `${text}.${Buffer.from(signature).toString("base64url")}`;
  },
  "the public key as a shared secret": async (issuer) => {
    const secret = new TextEncoder().encode(await exportSPKI(issuer.key.publicKey));
    return issuer.token({ header: { alg: "HS256" }, key: secret });
  },
  "algorithm none": async (issuer) => {
    const [, claims] = (await issuer.token()).split(".");
    return `${encoded({ alg: "none" })}.${claims}.`;
  },
  "no signature": async (issuer) => (await issuer.token()).replace(/[^.]+$/, ""),
  "a changed signature": async (issuer) => (await issuer.token()).replace(/.{8}$/, "AAAAAAAA"),
  "changed claims": async (issuer) => {
    const [header, claims = "", signature] = (await issuer.token()).split(".");
    const payload = JSON.parse(Buffer.from(claims, "base64url").toString());
    return `${header}.${encoded({ ...payload, sub: "1" })}.${signature}`;
  },
  "claims that are not an object": async (issuer) => {
    const [header, , signature] = (await issuer.token()).split(".");
    return `${header}.${encoded("[]")}.${signature}`;
  },
};

function withClaims(claims: TokenOptions["claims"] & object) {
  return (issuer: Issuer) => issuer.token({ claims });
}
