// A real IMAP server (Dovecot, from Debian's dovecot-imapd) on loopback, over folders in the Maildir format that tests write.

import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { connect, createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import type { Certificate } from "./certificates.ts";
import { eventually } from "./eventually.ts";
import { launch, temporaryDir } from "./process.ts";

/** Dovecot starts as root alone, and serves as this user. */
const NOBODY = 65_534;
const NOGROUP = 65_534;

/** Why there is no IMAP server here; undefined if there is one. `npm test` installs it on Debian as root. */
export const dovecotIsMissing = (): string | undefined => {
  if (!Bun.which("dovecot", { PATH: "/usr/sbin:/usr/bin:/sbin:/bin" })) return "dovecot-imapd is not installed";
  return process.getuid?.() === 0 ? undefined : "Dovecot starts as root alone";
};

export interface Dovecot extends AsyncDisposable {
  readonly port: number;
  /** What the server wrote about connections and logins. */
  log(): string;
  /** Adds a mailbox without mails. */
  addMailbox(user: string, password: string): TestMailbox;
}

export interface TestMailbox {
  readonly user: string;
  /** Delivers a mail; programs see it in the order of these calls. `arrivedAt` is epoch ms. */
  deliver(raw: string, arrivedAt?: number): void;
  /** The mails that nobody has marked as read. */
  unreadCount(): number;
  /** Removes the newest mail. */
  removeNewest(): void;
  /** Makes the server number the mails anew under another UIDVALIDITY. */
  renumber(): void;
  changePassword(password: string): void;
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === "object" && address ? address.port : 0;
}

/** `starttls`: the port offers it, and takes no password without; `always`: TLS from the start. */
export interface DovecotTls extends Certificate {
  kind: "starttls" | "always";
}

/** `address` is one of this machine; `port` 0 is a free one. */
export interface DovecotOptions {
  address?: string;
  port?: number;
  tls?: DovecotTls;
}

export async function startDovecot({
  address = "127.0.0.1",
  port: wanted = 0,
  tls,
}: DovecotOptions = {}): Promise<Dovecot> {
  const folder = temporaryDir("berth-imap-");
  const port = wanted || (await freePort());
  chmodSync(folder.path, 0o755);
  mkdirSync(join(folder.path, "mail"));
  chownSync(join(folder.path, "mail"), NOBODY, NOGROUP);
  mkdirSync(join(folder.path, "users"));
  let writes = 0;
  /** A file for each user, since the server looks at a file once a second at most. */
  const setPassword = (user: string, password: string) => {
    const place = join(folder.path, "users", user);
    writeFileSync(`${place}.new`, `${user}:{PLAIN}${password}\n`);
    const time = 1_700_000_000 + ++writes;
    utimesSync(`${place}.new`, time, time);
    renameSync(`${place}.new`, place);
  };
  if (tls) {
    writeFileSync(join(folder.path, "cert.pem"), tls.cert);
    writeFileSync(join(folder.path, "key.pem"), tls.key, { mode: 0o600 });
  }
  writeFileSync(join(folder.path, "dovecot.conf"), configurationOf(folder.path, { address, port, tls: tls?.kind }));
  const child = launch({
    command: ["/usr/sbin/dovecot", "-F", "-c", join(folder.path, "dovecot.conf")],
    env: { PATH: "/usr/sbin:/usr/bin:/sbin:/bin" },
    dir: folder.path,
  });
  const answers = () =>
    new Promise<boolean>((resolve) => {
      const socket = connect(port, address);
      // With TLS from the start the client speaks first.
      socket.once(tls?.kind === "always" ? "connect" : "data", () => {
        resolve(true);
        socket.destroy();
      });
      socket.once("error", () => resolve(false));
    });
  await eventually(answers, { what: "Dovecot's greeting" });

  let delivered = 0;
  return {
    port,
    log: () => readFileSync(join(folder.path, "log"), "utf8"),
    addMailbox(user, password) {
      setPassword(user, password);
      const dir = join(folder.path, "mail", user);
      for (const part of ["", "new", "cur", "tmp"]) {
        mkdirSync(join(dir, part), { recursive: true });
        chownSync(join(dir, part), NOBODY, NOGROUP);
      }
      const names = () =>
        ["new", "cur"].flatMap((part) => readdirSync(join(dir, part)).map((name) => join(dir, part, name)));
      return {
        user,
        deliver(raw, arrivedAt = Date.now()) {
          // The server numbers new mails in the order of their names.
          const name = `${1_700_000_000 + ++delivered}.M${delivered}P1.test`;
          const place = join(dir, "tmp", name);
          writeFileSync(place, raw);
          chownSync(place, NOBODY, NOGROUP);
          utimesSync(place, arrivedAt / 1000, arrivedAt / 1000);
          renameSync(place, join(dir, "new", name));
        },
        unreadCount: () => names().filter((name) => !/:2,[A-Z]*S/.test(name)).length,
        removeNewest() {
          const newest = names()
            .sort((a, b) => (a.split("/").at(-1) ?? "").localeCompare(b.split("/").at(-1) ?? ""))
            .at(-1);
          if (newest) rmSync(newest);
        },
        renumber() {
          for (const file of readdirSync(dir))
            if (file.startsWith("dovecot")) rmSync(join(dir, file), { recursive: true });
        },
        changePassword(next) {
          // Until the second in which the server may have looked at the file is over.
          Bun.sleepSync(1_001 - (Date.now() % 1_000));
          setPassword(user, next);
        },
      };
    },
    async [Symbol.asyncDispose]() {
      child.signal("SIGTERM");
      await child.exited;
      if (existsSync(folder.path)) folder.remove();
    },
  };
}

interface Listening {
  address: string;
  port: number;
  tls: DovecotTls["kind"] | undefined;
}

const configurationOf = (dir: string, { address, port, tls }: Listening) => `
base_dir = ${dir}/run
state_dir = ${dir}/state
log_path = ${dir}/log
protocols = imap
listen = ${address}
${tls === undefined ? "ssl = no" : `ssl = required\nssl_cert = <${dir}/cert.pem\nssl_key = <${dir}/key.pem`}
disable_plaintext_auth = no
auth_failure_delay = 0
default_login_user = nobody
default_internal_user = nobody
default_internal_group = nogroup
mail_location = maildir:${dir}/mail/%u
mailbox_idle_check_interval = 1 secs
service imap-login {
  inet_listener imap {
    port = ${tls === "always" ? 0 : port}
  }
  inet_listener imaps {
    port = ${tls === "always" ? port : 0}
    ssl = yes
  }
  chroot =
}
service anvil {
  chroot =
  # Others are not made to wait for a wrong password.
  unix_listener anvil-auth-penalty {
    mode = 0
  }
}
passdb {
  driver = passwd-file
  args = scheme=PLAIN username_format=%u ${dir}/users/%u
}
userdb {
  driver = static
  args = uid=nobody gid=nogroup home=${dir}/mail/%u allow_all_users=yes
}
`;

/** A way to a server that fails on demand. */
export interface FaultyProxy extends AsyncDisposable {
  readonly port: number;
  /** How the next connection fails: with an answer in no protocol, or cut when mails are asked for. */
  failNext(fault: "broken" | "cut"): void;
}

export async function startFaultyProxy(target: number): Promise<FaultyProxy> {
  let fault: "broken" | "cut" | undefined;
  const sockets = new Set<Socket>();
  const server: Server = createServer((client) => {
    const failing = fault;
    fault = undefined;
    sockets.add(client);
    client.on("error", () => client.destroy());
    client.on("close", () => sockets.delete(client));
    if (failing === "broken") return void client.end("HTTP/1.1 500 Internal Server Error\r\n\r\n");
    const upstream = connect(target, "127.0.0.1");
    sockets.add(upstream);
    upstream.on("error", () => client.destroy());
    upstream.on("close", () => {
      sockets.delete(upstream);
      client.destroy();
    });
    client.on("close", () => upstream.destroy());
    client.on("data", (chunk: Buffer) => {
      if (failing === "cut" && /FETCH/i.test(chunk.toString("latin1"))) return void client.destroy();
      upstream.write(chunk);
    });
    upstream.on("data", (chunk: Buffer) => client.write(chunk));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  return {
    port: typeof address === "object" && address ? address.port : 0,
    failNext(next) {
      fault = next;
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
