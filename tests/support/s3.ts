// A real S3-compatible server (s3rver) behind a proxy that checks each request's Signature Version 4, which the server itself does not.
// https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html

import { createHash, createHmac } from "node:crypto";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import S3rver from "s3rver";
import { temporaryDir } from "./process.ts";

export const S3_KEY = { accessKeyId: "S3RVER", secretAccessKey: "S3RVER" };
export const BUCKET = "backups";

export interface S3Server extends AsyncDisposable {
  readonly endpoint: string;
  /** The settings of Berth for this server. */
  readonly env: Record<string, string>;
  /** The folder in which the server keeps the objects of the bucket. */
  readonly folder: string;
  /** Decides before each request; a response is sent in place of the server's. */
  onRequest: (request: Request) => Response | undefined | Promise<Response | undefined>;
}

export async function startS3(): Promise<S3Server> {
  const dir = temporaryDir();
  const directory = join(dir.path, "objects");
  mkdirSync(directory);
  const server = new S3rver({
    port: 0,
    address: "127.0.0.1",
    directory,
    silent: true,
    configureBuckets: [{ name: BUCKET, configs: [] }],
  });
  const { port } = await server.run();
  let onRequest: S3Server["onRequest"] = () => undefined;
  const proxy = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    maxRequestBodySize: 1024 ** 3,
    async fetch(request) {
      if (!isSigned(request)) return refusal(403, "SignatureDoesNotMatch");
      const answer = await onRequest(request);
      if (answer) return answer;
      const { pathname, search } = new URL(request.url);
      const body = ["GET", "HEAD"].includes(request.method) ? null : await request.arrayBuffer();
      const headers = new Headers(request.headers);
      const init = { method: request.method, headers, body };
      const response = await fetch(`http://127.0.0.1:${port}${pathname}${search}`, init);
      const isEmpty = request.method === "HEAD" || response.status === 204;
      return new Response(isEmpty ? null : response.body, response);
    },
  });
  const endpoint = `http://127.0.0.1:${proxy.port}`;
  return {
    endpoint,
    env: {
      BACKUP_TO: `s3://${BUCKET}/berth`,
      BACKUP_S3_ENDPOINT: endpoint,
      BACKUP_S3_ACCESS_KEY_ID: S3_KEY.accessKeyId,
      BACKUP_S3_SECRET_ACCESS_KEY: S3_KEY.secretAccessKey,
    },
    folder: join(directory, BUCKET),
    get onRequest() {
      return onRequest;
    },
    set onRequest(handler) {
      onRequest = handler;
    },
    async [Symbol.asyncDispose]() {
      await proxy.stop(true);
      await server.close();
      dir.remove();
    },
  };
}

export const refusal = (status: number, code: string) =>
  new Response(`<?xml version="1.0" encoding="UTF-8"?><Error><Code>${code}</Code><Message>no</Message></Error>`, {
    status,
    headers: { "content-type": "application/xml" },
  });

const hmac = (key: string | Buffer, text: string) => createHmac("sha256", key).update(text).digest();
const encode = (text: string) =>
  encodeURIComponent(text).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);

function isSigned(request: Request): boolean {
  const url = new URL(request.url);
  const pattern =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, ?SignedHeaders=([^,]+), ?Signature=([\da-f]{64})$/;
  const [, id, day = "", region = "", signed = "", signature] =
    pattern.exec(request.headers.get("authorization") ?? "") ?? [];
  if (id !== S3_KEY.accessKeyId) return false;
  const query = [...url.searchParams]
    .map(([name, value]) => `${encode(name)}=${encode(value)}`)
    .sort()
    .join("&");
  const headers = signed.split(";").map((name) => `${name}:${(request.headers.get(name) ?? "").trim()}\n`);
  const payload = request.headers.get("x-amz-content-sha256") ?? "";
  const canonical = [request.method, url.pathname, query, headers.join(""), signed, payload].join("\n");
  const scope = `${day}/${region}/s3/aws4_request`;
  const digest = createHash("sha256").update(canonical).digest("hex");
  const text = ["AWS4-HMAC-SHA256", request.headers.get("x-amz-date") ?? "", scope, digest].join("\n");
  const key = hmac(hmac(hmac(hmac(`AWS4${S3_KEY.secretAccessKey}`, day), region), "s3"), "aws4_request");
  return hmac(key, text).toString("hex") === signature;
}
