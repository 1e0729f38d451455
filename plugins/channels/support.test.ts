// The set-up of the tests of channels: the whole application on a real port, a strict fake Telegram, an owner with
// agents.

import { loadConfig } from "../../src/kernel/config/config.ts";
import type { SocketSession } from "../../src/kernel/http/web-sockets.ts";
import { openKernel } from "../../src/kernel/kernel.ts";
import { plugin, type ServiceOf } from "../../src/kernel/plugin.ts";
import { createApp } from "../../src/server/app.ts";
import { becomeFirstAdmin } from "../../tests/support/account-setup.ts";
import { createClient } from "../../tests/support/client.ts";
import { eventually } from "../../tests/support/eventually.ts";
import { placeMigratedDatabase } from "../../tests/support/migrated.ts";
import { temporaryDir } from "../../tests/support/process.ts";
import { startTelegram, type TelegramOptions } from "../../tests/support/telegram.ts";
import { agents } from "../agents/index.ts";

export interface ChannelItem {
  channel: string;
  label: string;
  link: string | null;
  ownerId: string | null;
  problem: string | null;
  bot: { id: string; username: string };
  state: string;
  since: string;
  lastError: string | null;
  nextTryAt: string | null;
  mode: string;
}

export type ChannelsFixture = Awaited<ReturnType<typeof openChannelsFixture>>;

interface Options {
  env?: Record<string, string>;
  telegram?: TelegramOptions;
}

/** `CHANNEL_A_MODE` is `polling` unless `env` says otherwise; webhooks come to `https://berth.example`. */
export async function openChannelsFixture({ env = {}, telegram: options = {} }: Options = {}) {
  const dir = temporaryDir();
  let origin = "";
  const webhookAddress = (url: string) => url.replace("https://berth.example", origin);
  const telegram = await startTelegram({ webhookAddress, ...options });
  let running = await start(env);
  const owner = createClient({
    get web() {
      return origin;
    },
  });
  // An admin may have many agents.
  await becomeFirstAdmin(running, owner);

  async function start(more: Record<string, string>) {
    const settings = {
      DATA_DIR: dir.path,
      RATE_LIMITS: "off",
      LOG_LEVEL: "error",
      CHANNEL_A_API_ROOT: telegram.url,
      CHANNEL_A_MODE: "polling",
      BASE_URL: "https://berth.example",
      ...more,
    };
    await placeMigratedDatabase(dir.path);
    const kernel = await openKernel(loadConfig(settings, { cwd: dir.path }));
    let agentService: ServiceOf<typeof agents> | undefined;
    const window = plugin("window", (host) => {
      agentService = host.use(agents);
      agentService.refuseChangesWhile((agentId) => agentId === fixture.updating);
      return { service: undefined };
    });
    const app = createApp(kernel, [window]);
    await kernel.jobs.start();
    await app.start();
    const server = Bun.serve<SocketSession>({
      port: 0,
      hostname: "127.0.0.1",
      idleTimeout: 0,
      fetch: (request, own) => app.web.fetch(request, own),
      websocket: { message: () => undefined },
    });
    origin = `http://127.0.0.1:${server.port}`;
    return {
      kernel,
      app,
      agentService,
      async stop() {
        await app.stop();
        await kernel.jobs.stop();
        await server.stop(true);
        await kernel.close();
      },
    };
  }

  const fixture = {
    telegram,
    owner,
    dir: dir.path,
    /** The id of the agent that counts as being updated. */
    updating: "",
    get origin() {
      return origin;
    },
    get kernel() {
      return running.kernel;
    },
    get app() {
      return running.app;
    },
    setStatus: (agentId: string, status: "active" | "stopped") => running.agentService?.setStatus(agentId, status),
    /** Reads rows of the database. */
    async rows(sql: string, ...args: string[]) {
      return (await running.kernel.database.read(sql, args)).rows.map((row): Record<string, unknown> => ({ ...row }));
    },
    async provision(config: object = {}): Promise<string> {
      const { status, body, text } = await owner.post<{ agent: { id: string } }>("/api/agents/provision", {
        name: "Harbour",
        config,
      });
      if (status !== 201) throw new Error(`provision: ${status} ${text}`);
      return body.agent.id;
    },
    configure: (agentId: string, config: object) => owner.put(`/api/agents/${agentId}/config`, config),
    connect: (agentId: string, token: string, more: object = {}, channel = "channel_a") =>
      owner.put<{ state: string; code: string; error: string }>(`/api/agents/${agentId}/channels/${channel}`, {
        token,
        ...more,
      }),
    /** The first channel of an agent, as shown to its owner. */
    async channel(agentId: string): Promise<ChannelItem | undefined> {
      const { body } = await owner.get<{ channels: ChannelItem[] }>(`/api/agents/${agentId}/channels`);
      return body.channels[0];
    },
    inState: (agentId: string, state: string) =>
      eventually(async () => {
        const channel = await fixture.channel(agentId);
        return channel?.state === state ? channel : undefined;
      }),
    async logs(agentId: string): Promise<string[]> {
      const { body } = await owner.get<{ logs: { message: string }[] }>(`/api/agents/${agentId}/logs`);
      return body.logs.map(({ message }) => message);
    },
    /** Stops the application and starts it again over the same data. */
    async restart(more: Record<string, string> = {}) {
      await running.stop();
      running = await start({ ...env, ...more });
    },
    async [Symbol.asyncDispose]() {
      await running.stop();
      await telegram.stop();
      dir.remove();
    },
  };
  return fixture;
}
