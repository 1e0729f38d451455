// One MCP server: its state, the sign-in, its switch, and its tools.

import { useMutation } from "@tanstack/react-query";
import { LogIn, RefreshCw, Trash2 } from "lucide-react";
import { visibleText } from "../../../../../src/kernel/util/text/visible-text.ts";
import { Button } from "../../../../parts/button.tsx";
import { messageOf } from "../../../../parts/error-note.tsx";
import { Choice } from "../../../../parts/forms/choice.tsx";
import { CheckField, Switch } from "../../../../parts/forms/field.tsx";
import { IconButton } from "../../../../parts/icon-button.tsx";
import { safeHref } from "../../../../parts/outside-link.tsx";
import { showError, showToast } from "../../../../parts/toast.tsx";
import { Status } from "../../../../parts/values/status.tsx";
import { said, t, tn } from "../../../../viewer/language.ts";
import type { Server, Servers } from "./data.ts";
import { ServerTools } from "./server-tools.tsx";

interface Props {
  server: Server;
  servers: Servers;
  onRemove: () => void;
}

export function ServerCard({ server: { name, config, isOn, item }, servers, onRemove }: Props) {
  const onError = (refused: unknown) => showError(messageOf(refused));
  const test = useMutation({
    mutationFn: () => servers.test(name),
    onSuccess: ({ state }) => {
      if (state === "connected") showToast(t("{name} works", { name }));
    },
    onError,
  });
  const signIn = useMutation({
    // An address works once and for some minutes. Without one, a test makes one.
    mutationFn: async () => (item?.authorizeUrl ? item : servers.test(name)),
    onSuccess({ authorizeUrl }) {
      const href = authorizeUrl === null ? undefined : safeHref(authorizeUrl);
      if (href) location.assign(href);
    },
    onError,
  });
  const signOut = useMutation({
    mutationFn: () => servers.forgetSignIn(name),
    onSuccess: () => showToast(t("The sign-in to {name} is forgotten", { name })),
    onError,
  });
  return (
    <li className="flex flex-col gap-3 border-edge border-b p-4 last:border-b-0">
      <article aria-label={name} className="flex flex-col gap-3">
        <header className="flex flex-wrap items-center gap-x-3 gap-y-2">
          <div className="min-w-40 flex-1">
            <h3 className="font-semibold">{name}</h3>
            <p className="break-all text-soft text-sm">
              {visibleText(config.url ?? [config.command, ...(config.args ?? [])].join(" "))}
            </p>
          </div>
          <State isOn={isOn} item={item} />
          <Switch
            label={isOn ? t("{name} is on", { name }) : t("{name} is off", { name })}
            isLabelHidden
            isOn={isOn}
            onChange={(enabled) => void servers.switchTo(name, enabled).catch(onError)}
          />
        </header>
        {isOn && item?.state === "failed" && item.lastError && (
          <p className="break-words text-bad">{visibleText(said(item.lastError))}</p>
        )}
        {isOn && item?.state === "unauthorized" && (
          <p className="text-soft">{t("It wants to know you: sign in there, and come back here by itself.")}</p>
        )}
        <div className="flex flex-wrap items-center gap-2">
          {isOn && item?.state === "unauthorized" && (
            <Button look="primary" isBusy={signIn.isPending} onClick={() => signIn.mutate()}>
              <LogIn aria-hidden="true" />
              {t("Sign in")}
            </Button>
          )}
          {isOn && item && item.state !== "connecting" && item.state !== "unauthorized" && (
            <Button isBusy={test.isPending} onClick={() => test.mutate()}>
              <RefreshCw aria-hidden="true" />
              {t("Test")}
            </Button>
          )}
          {item?.signedIn && (
            <Button isBusy={signOut.isPending} onClick={() => signOut.mutate()}>
              {t("Forget the sign-in")}
            </Button>
          )}
          <span className="ml-auto">
            <IconButton label={t("Remove {name}", { name })} onClick={onRemove}>
              <Trash2 />
            </IconButton>
          </span>
        </div>
        {isOn && item && item.tools.length > 0 && (
          <details>
            <summary className="text-soft hover:text-ink">
              {tn("{n} tool", "{n} tools", item.tools.length)},{" "}
              {t("{n} offered", { n: item.tools.filter(({ offered }) => offered).length })}
            </summary>
            <div className="mt-3 flex flex-col gap-4">
              <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
                <span className="text-sm">{t("Who may use them:")}</span>
                <Choice
                  label={t("Who may use the tools of {name}", { name })}
                  value={config.access ?? "owner"}
                  options={[
                    { value: "owner", label: t("Only you") },
                    { value: "everyone", label: t("Everybody who talks to the agent") },
                  ]}
                  onChange={(access) => servers.change(name, { access })}
                />
              </div>
              <CheckField
                label={t("I trust what this server says about its tools")}
                hint={t(
                  "Its tools alone then make the agent ask no more often. After it has used one, it asks as usual. What the server changes later is not trusted.",
                )}
                checked={config.trusted ?? false}
                onChange={({ target }) => servers.change(name, { trusted: target.checked })}
              />
              <ServerTools name={name} config={config} item={item} servers={servers} />
            </div>
          </details>
        )}
      </article>
    </li>
  );
}

function State({ isOn, item }: { isOn: boolean; item: Server["item"] }) {
  if (!isOn) return <Status tone="idle">{t("Off")}</Status>;
  if (item?.state === "connected") return <Status tone="good">{t("Works")}</Status>;
  if (item?.state === "unauthorized") return <Status tone="warn">{t("Wants a sign-in")}</Status>;
  if (item?.state === "failed") return <Status tone="bad">{t("Does not work")}</Status>;
  return <Status tone="busy">{t("Is looked at")}</Status>;
}
