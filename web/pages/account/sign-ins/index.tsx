// The ways into the account beside its password: linked providers and wallets, and the social identity.

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { api, path } from "../../../api/api.ts";
import { type BrowserWallet, useBrowserWallets } from "../../../data/browser-wallets.ts";
import { Button } from "../../../parts/button.tsx";
import { ErrorNote } from "../../../parts/error-note.tsx";
import { EmptyState } from "../../../parts/page/empty-state.tsx";
import { Section } from "../../../parts/page/page.tsx";
import { Skeleton } from "../../../parts/skeleton.tsx";
import { showToast } from "../../../parts/toast.tsx";
import { Notice } from "../../../parts/values/status.tsx";
import { When } from "../../../parts/values/when.tsx";
import { t } from "../../../viewer/language.ts";
import { useConfirmation } from "../confirmation.tsx";
import { useOffers } from "../offers.ts";
import { linkFailure } from "./link-failure.ts";
import { SocialSection } from "./social-section.tsx";
import { type SignedMessage, signWith } from "./wallet.ts";

interface SignIn {
  id: string;
  provider: string;
  name: string;
  label: string | null;
  canRemove: boolean;
  createdAt: string;
}

interface SignInList {
  hasPassword: boolean;
  signIns: SignIn[];
}

const KEY = ["sign-ins"] as const;

export default function SignInsPage() {
  const { data, error, refetch } = useQuery({
    queryKey: KEY,
    queryFn: () => api.get<SignInList>("/api/settings/sign-ins"),
  });
  const offers = useOffers();
  return (
    <>
      <ReturnNotice />
      <Section
        title={t("Linked sign-ins")}
        hint={t("Each of them signs you in, in place of your password. With two-factor on, they ask for a code too.")}
      >
        {error && <ErrorNote error={error} onRetry={() => void refetch()} />}
        {!data && !error && <Skeleton className="h-24" />}
        {data?.signIns.length === 0 && (
          <EmptyState title={t("None is linked")}>
            {t("Link one, and a click is enough to sign in. It is also a way back in if you forget your password.")}
          </EmptyState>
        )}
        {data && data.signIns.length > 0 && (
          <ul className="-my-2">
            {data.signIns.map((signIn) => (
              <SignInRow key={signIn.id} signIn={signIn} />
            ))}
          </ul>
        )}
        {data && offers.data && <LinkButtons signIns={data.signIns} providers={offers.data.providers} />}
      </Section>
      <SocialSection />
    </>
  );
}

/** What came of a link, after the provider sent the browser back. */
function ReturnNotice() {
  const [failure, setFailure] = useState<string>();
  useEffect(() => {
    const url = new URL(location.href);
    const { searchParams: params } = url;
    const error = params.get("error");
    if (error) setFailure(linkFailure(error));
    if (params.has("linked")) showToast(t("The sign-in is linked"));
    if (!error && !params.has("linked")) return;
    params.delete("error");
    params.delete("linked");
    history.replaceState(history.state, "", url);
  }, []);
  return (
    failure && (
      <div className="mb-4" role="alert">
        <Notice tone="bad">
          <p>{failure}</p>
        </Notice>
      </div>
    )
  );
}

function SignInRow({ signIn: { id, name, label, canRemove, createdAt } }: { signIn: SignIn }) {
  const queries = useQueryClient();
  const { run, dialog } = useConfirmation();
  const remove = useMutation({
    mutationFn: () =>
      run(async (currentPassword) => {
        await api.delete(path`/api/settings/sign-ins/${id}`, currentPassword ? { currentPassword } : {});
        showToast(t("{name} no longer signs you in. All other devices are signed out.", { name }));
        await queries.invalidateQueries({ queryKey: KEY });
      }),
  });
  return (
    <li className="flex items-center gap-3 border-edge border-b py-2.5 last:border-b-0">
      <div className="min-w-0 flex-1">
        <p className="font-medium">{name}</p>
        <p className="text-soft text-sm">
          {label && <span className="break-all">{label} · </span>}
          {t("linked")} <When at={createdAt} />
          {!canRemove && <> · {t("the only way in, or the name of your account")}</>}
        </p>
      </div>
      {canRemove && (
        <Button isBusy={remove.isPending} onClick={() => remove.mutate()} aria-label={t("Remove {name}", { name })}>
          {t("Remove")}
        </Button>
      )}
      {dialog}
    </li>
  );
}

function LinkButtons({
  signIns,
  providers,
}: {
  signIns: SignIn[];
  providers: readonly { id: string; name: string }[];
}) {
  const queries = useQueryClient();
  const { run, dialog } = useConfirmation();
  const wallets = useBrowserWallets();
  const linkProvider = (provider: string) =>
    run(async (currentPassword) => {
      const body = { provider, ...(currentPassword && { currentPassword }) };
      const { url } = await api.post<{ url: string }>("/api/settings/sign-ins", body);
      location.assign(url);
    });
  const linkWallet = useMutation({
    mutationFn: (from: BrowserWallet) => {
      // Kept for the second try, with the password, so that it is signed once.
      let proof: SignedMessage | undefined;
      return run(async (currentPassword) => {
        proof ??= await signWith(from);
        if (!proof) return;
        await api.post("/api/settings/sign-ins/wallet", { ...proof, ...(currentPassword && { currentPassword }) });
        showToast(t("The wallet is linked"));
        await queries.invalidateQueries({ queryKey: KEY });
      });
    },
  });
  const missing = providers.filter(({ id }) => !signIns.some(({ provider }) => provider === id));
  if (missing.length === 0 && wallets.length === 0)
    return (
      <p className="mt-4 text-soft text-sm">
        {t("To link a wallet, open this page in a browser that has one. Other providers are set up by the operator.")}
      </p>
    );
  return (
    <div className="mt-4 flex flex-wrap gap-2">
      {missing.map(({ id, name }) => (
        <Button key={id} onClick={() => void linkProvider(id)}>
          {t("Link {name}", { name })}
        </Button>
      ))}
      {wallets.map((wallet, index) => (
        <Button
          // biome-ignore lint/suspicious/noArrayIndexKey: wallets only join at the end, and two may have one name
          key={index}
          isBusy={linkWallet.isPending && linkWallet.variables === wallet}
          onClick={() => linkWallet.mutate(wallet)}
        >
          {wallet.name === undefined ? t("Link a wallet") : t("Link {name}", { name: wallet.name })}
        </Button>
      ))}
      {dialog}
    </div>
  );
}
