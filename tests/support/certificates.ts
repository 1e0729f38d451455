// Makes self-signed certificates with openssl, as small operators have them.

import { run } from "./process.ts";

export interface Certificate {
  /** Both in PEM. `key` may be followed by the certificate, which programs pass over. */
  key: string;
  cert: string;
}

/** A certificate for an address or a name, valid for two days. */
export async function selfSigned(host = "127.0.0.1"): Promise<Certificate> {
  const command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
  const names = ["-subj", `/CN=${host}`, "-addext", `subjectAltName=${/^[\d.]+$/.test(host) ? "IP" : "DNS"}:${host}`];
  const output = ["-days", "2", "-keyout", "-", "-out", "-"];
  const { exitCode, stdout, stderr } = await run(
    [...command, ...names, ...output],
    { PATH: process.env.PATH ?? "" },
    "/",
  );
  if (exitCode !== 0) throw new Error(`openssl made no certificate: ${stderr}`);
  return { key: stdout, cert: stdout.slice(stdout.indexOf("-----BEGIN CERTIFICATE")) };
}
