// Identity tokens that are each wrong in one way alone, made from a good one.

import { exportSPKI } from "jose";
import { type Issuer, makeKey, type TokenOptions } from "./jwks.ts";

const encoded = (part: object | string) =>
  Buffer.from(typeof part === "string" ? part : JSON.stringify(part)).toString("base64url");
const now = () => Math.floor(Date.now() / 1000);

/** By what is wrong with them. Each is good but for that: see the good ones of the same test. */
export const FORGED: Record<string, (issuer: Issuer) => string | Promise<string>> = {
  "no token": () => "x",
  "three parts of nothing": () => "..",
  "a token in words": () => "an.identity.token",
  "a megabyte": () => "a".repeat(1_000_000),
  "a good token of a megabyte": (issuer) => issuer.token({ claims: { note: "x".repeat(700_000) } }),
  "five parts": async (issuer) => `${await issuer.token()}.a.b`,
  "a space in front": async (issuer) => ` ${await issuer.token()}`,
  "another issuer": withClaims({ iss: "https://evil.example" }),
  "the issuer with a slash": async (issuer) => issuer.token({ claims: { iss: `${issuer.url}/` } }),
  "a list of issuers": async (issuer) => issuer.token({ claims: { iss: [issuer.url] } }),
  "no issuer": withClaims({ iss: undefined }),
  "another audience": withClaims({ aud: "evil.example" }),
  "an audience that only begins alike": withClaims({ aud: "berth.example.evil.example" }),
  "other audiences": withClaims({ aud: ["a.example", "b.example"] }),
  "no audience": withClaims({ aud: undefined }),
  "an end that is over": (issuer) => issuer.token({ claims: { exp: now() - 1 } }),
  "no end": withClaims({ exp: undefined }),
  "an end in words": withClaims({ exp: "9999999999" }),
  "a beginning still to come": (issuer) => issuer.token({ claims: { nbf: now() + 60 } }),
  "a signing still to come": (issuer) => issuer.token({ claims: { iat: now() + 600 } }),
  "no time of signing": withClaims({ iat: undefined }),
  "no subject": withClaims({ sub: undefined }),
  "an empty subject": withClaims({ sub: "" }),
  "a subject in words": withClaims({ sub: "alice" }),
  "a subject of 0": withClaims({ sub: 0 }),
  "a subject below 0": withClaims({ sub: -1 }),
  "a subject with a fraction": withClaims({ sub: 1.5 }),
  "a subject too large to be exact": withClaims({ sub: 2 ** 53 }),
  "a subject in hex": withClaims({ sub: "0x3039" }),
  "a subject with a sign": withClaims({ sub: "+12345" }),
  "a subject with a zero in front": withClaims({ sub: "012345" }),
  "a subject with a line break": withClaims({ sub: "12345\n" }),
  "a subject that is a list": withClaims({ sub: ["12345"] }),
  "another key of the same name": async (issuer) => issuer.token({ key: (await makeKey()).privateKey }),
  "a key that nobody knows": async (issuer) => {
    const { kid, privateKey } = await makeKey();
    return issuer.token({ header: { kid }, key: privateKey });
  },
  "a key that it brings along": async (issuer) => {
    const { privateKey, publicKey } = await makeKey();
    const jwk = await crypto.subtle.exportKey("jwk", publicKey);
    return issuer.token({ header: { kid: undefined, jwk }, key: privateKey });
  },
  "another kind of key of the same name": async (issuer) => {
    const { privateKey } = await makeKey("ES256");
    return issuer.token({ header: { alg: "ES256" }, key: privateKey });
  },
  "an extension that nobody understands": async (issuer) => {
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
  "no signature, and it says so": async (issuer) => {
    const [, claims] = (await issuer.token()).split(".");
    return `${encoded({ alg: "none" })}.${claims}.`;
  },
  "no signature": async (issuer) => (await issuer.token()).replace(/[^.]+$/, ""),
  "a changed signature": async (issuer) => (await issuer.token()).replace(/.{8}$/, "AAAAAAAA"),
  "changed claims": async (issuer) => {
    const [header, claims = "", signature] = (await issuer.token()).split(".");
    const said = JSON.parse(Buffer.from(claims, "base64url").toString());
    return `${header}.${encoded({ ...said, sub: "1" })}.${signature}`;
  },
  "claims that are a list": async (issuer) => {
    const [header, , signature] = (await issuer.token()).split(".");
    return `${header}.${encoded("[]")}.${signature}`;
  },
};

function withClaims(claims: TokenOptions["claims"] & object) {
  return (issuer: Issuer) => issuer.token({ claims });
}
