// The MCP servers whose tools an agent uses: their state, sign-ins and tools.

import { Plus } from "lucide-react";
import { useEffect, useState } from "react";
import { Button } from "../../../../parts/button.tsx";
import { ErrorNote } from "../../../../parts/error-note.tsx";
import { lazyDialog } from "../../../../parts/lazy.tsx";
import { EmptyState } from "../../../../parts/page/empty-state.tsx";
import { Section } from "../../../../parts/page/page.tsx";
import { Skeleton } from "../../../../parts/skeleton.tsx";
import { showError, showToast, withUndo } from "../../../../parts/toast.tsx";
import { Notice } from "../../../../parts/values/status.tsx";
import { useParameter } from "../../../../viewer/address.ts";
import { t } from "../../../../viewer/language.ts";
import { useServers } from "./data.ts";
import { ServerCard } from "./server-card.tsx";

const AddServer = lazyDialog(async () => ({ default: (await import("./add-server.tsx")).AddServer }));

export function McpServers({ agentId, agentName }: { agentId: string; agentName: string }) {
  const servers = useServers(agentId);
  const { isLocked } = servers;
  const [adding, setAdding] = useParameter("add");
  const [hidden, setHidden] = useState<readonly string[]>([]);
  useReturnFromSignIn();

  const remove = (name: string) =>
    withUndo(
      t("{name} is removed", { name }),
      () => {
        setHidden((before) => [...before, name]);
        return () => setHidden((before) => before.filter((one) => one !== name));
      },
      async () => {
        await servers.remove(name);
        setHidden((before) => before.filter((one) => one !== name));
      },
    );

  const shown = servers.servers?.filter(({ name }) => !hidden.includes(name));
  const add = (
    <Button onClick={() => setAdding("server")}>
      <Plus aria-hidden="true" />
      {t("Add a server")}
    </Button>
  );
  return (
    <Section
      title={t("MCP servers")}
      hint={t(
        "Tools of other services, over the Model Context Protocol. What they say is marked as untrusted, and what they do asks you first.",
      )}
      actions={shown && shown.length > 0 && !isLocked && add}
    >
      {servers.error && !shown && <ErrorNote error={servers.error} onRetry={servers.refetch} />}
      {!shown && !servers.error && <Skeleton className="h-24" />}
      {isLocked && (
        <Notice tone="warn">
          <p>
            {t(
              "This agent came from a file, so all its tools that act ask you first. Read its instructions and save its set-up; then choose here.",
            )}
          </p>
        </Notice>
      )}
      {shown?.length === 0 && !isLocked && (
        <EmptyState title={t("No server yet")} action={add}>
          {t("Give {name} the tools of a service: a calendar, an issue tracker, your documents.", { name: agentName })}
        </EmptyState>
      )}
      {shown && shown.length > 0 && !isLocked && (
        <ul aria-label={t("MCP servers")} className="-m-4 flex flex-col">
          {shown.map((server) => (
            <ServerCard key={server.name} server={server} servers={servers} onRemove={() => remove(server.name)} />
          ))}
        </ul>
      )}
      {adding === "server" && !isLocked && <AddServer servers={servers} onClose={() => setAdding("")} />}
    </Section>
  );
}

/** Says how a sign-in has ended, when the browser comes back from it. */
function useReturnFromSignIn(): void {
  const [signedIn, setSignedIn] = useParameter("signed-in");
  const [failed, setFailed] = useParameter("sign-in-failed");
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each return
  useEffect(() => {
    if (signedIn !== "") {
      showToast(t("You are signed in to {name}", { name: signedIn }));
      setSignedIn("");
    } else if (failed !== "") {
      showError(t("The sign-in to {name} did not work. Try it again.", { name: failed }));
      setFailed("");
    }
  }, [signedIn, failed]);
}
