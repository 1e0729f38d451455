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

/** Issues certificates as an authority that programs can be told to trust, into a folder. */
export interface Authority {
  /** The authority's own certificate, in PEM. */
  readonly file: string;
  /** A certificate for 127.0.0.1, valid for `days` days from the time that `env` gives openssl, by default from now. */
  issue(days: number, env?: Record<string, string>): Promise<Certificate>;
}

export async function createAuthority(folder: string): Promise<Authority> {
  const openssl = async (args: string[], env: Record<string, string> = {}) => {
    const ran = await run(["openssl", ...args], { PATH: process.env.PATH ?? "", ...env }, folder);
    if (ran.exitCode !== 0) throw new Error(`openssl ${args[0]}: ${ran.stderr}`);
    return ran.stdout;
  };
  const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
  const files = ["-keyout", "authority.key", "-out", "authority.pem"];
  await openssl(["req", "-x509", ...key, "-subj", "/CN=Tests", "-days", "3650", ...files]);
  await Bun.write(`${folder}/names`, "subjectAltName=IP:127.0.0.1\n");
  return {
    file: `${folder}/authority.pem`,
    async issue(days, env) {
      await openssl(["req", ...key, "-subj", "/CN=127.0.0.1", "-keyout", "leaf.key", "-out", "leaf.csr"]);
      const by = ["-CA", "authority.pem", "-CAkey", "authority.key", "-CAcreateserial"];
      const cert = await openssl(
        ["x509", "-req", "-in", "leaf.csr", ...by, "-days", String(days), "-extfile", "names"],
        env,
      );
      return { key: await Bun.file(`${folder}/leaf.key`).text(), cert };
    },
  };
}
