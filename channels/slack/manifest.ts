// The manifest from which people create the app: what an agent needs, and nothing else.
// https://docs.slack.dev/reference/app-manifest

/** Without these the agent could not hear, answer, know who writes, or pass files. */
export const NEEDED_SCOPES = ["chat:write", "im:history", "users:read", "files:read", "files:write"];

/** For messages in channels, private channels and group conversations that the bot was invited to. */
const GROUP_SCOPES = ["channels:history", "groups:history", "mpim:history"];

const manifest = {
  display_information: { name: "Berth agent" },
  features: {
    app_home: { home_tab_enabled: false, messages_tab_enabled: true, messages_tab_read_only_enabled: false },
    bot_user: { display_name: "berth-agent", always_online: true },
  },
  oauth_config: { scopes: { bot: [...NEEDED_SCOPES, ...GROUP_SCOPES].sort() } },
  settings: {
    event_subscriptions: {
      bot_events: [
        ...["app_uninstalled", "message.channels", "message.groups", "message.im", "message.mpim", "tokens_revoked"],
      ],
    },
    interactivity: { is_enabled: true },
    org_deploy_enabled: false,
    socket_mode_enabled: true,
    token_rotation_enabled: false,
  },
};

export const MANIFEST = JSON.stringify(manifest, undefined, 2);
