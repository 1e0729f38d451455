// Reads the addresses of NATS servers from one setting.

export interface NatsAddress {
  /** With their scheme. */
  servers: string[];
  user?: string;
  pass?: string;
}

/** `nats://user:password@host:4222,host:4222`; undefined for what is none. */
export function parseNatsAddress(text: string): NatsAddress | undefined {
  const match = /^(?<scheme>nats|tls):\/\/(?:(?<user>[^:@]*)(?::(?<pass>[^@]*))?@)?(?<hosts>[^/@]+)\/?$/.exec(text);
  const { scheme = "", user, pass, hosts = "" } = match?.groups ?? {};
  const names = hosts.split(",").map((host) => host.trim().replace(/^(?:nats|tls):\/\//, ""));
  if (!match || names.some((host) => !/^(?:[\w.-]+|\[[\da-f:]+\])(?::\d{1,5})?$/i.test(host))) return undefined;
  return {
    servers: names.map((host) => `${scheme}://${host}`),
    ...(user !== undefined && { user: decodeText(user), pass: decodeText(pass ?? "") }),
  };
}

function decodeText(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
